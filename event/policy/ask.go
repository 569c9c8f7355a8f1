package policy

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// ask runs the hooks that are not rules: those that may rewrite the input in turn, the others concurrently.
func (r *run) ask() {
	var wait sync.WaitGroup
	var turns []int
	refused, in := r.refused() && !r.allowedOnce(), r.call
	for i := range r.results {
		switch res := &r.results[i]; {
		case res.Hook.Spec.Rule != nil || res.Skipped != "":
		case res.Hook.Observe || !r.contract.Rewrite && !refused:
			wait.Go(func() { *res = r.one(res.Hook, in) })
		case refused:
			res.Skipped = "a rule refuses already"
		default:
			turns = append(turns, i)
		}
	}
	for len(turns) > 0 {
		turns = turns[r.together(turns):]
	}
	wait.Wait()
}

// together asks the next hook, and servers and models at once with those that follow. When one rewrites the
// input, those after it are asked again. It returns how many have been heard.
func (r *run) together(turns []int) int {
	n := 1
	for n < len(turns) && r.results[turns[n-1]].Hook.Asks() && r.results[turns[n]].Hook.Asks() {
		n++
	}
	var wait sync.WaitGroup
	for _, i := range turns[:n] {
		wait.Go(func() { r.results[i] = r.one(r.results[i].Hook, r.call) })
	}
	wait.Wait()
	for heard, i := range turns[:n] {
		if r.rewrite(&r.results[i]) {
			return heard + 1
		}
	}
	return n
}

// errLate is the failure of a handler whose event had no time left, or that did not return.
var errLate = errors.New("no answer within the event's deadline")

// one runs a hook to its end, or to the event's: once for each name that the tool may have.
func (r *run) one(h *config.Hook, c wire.Call) HookResult {
	named := c.Readings()
	all := make([]HookResult, len(named))
	var wait sync.WaitGroup
	for i, c := range named {
		if all[i] = (HookResult{Hook: h, Skipped: "another name of the tool"}); h.Takes(c.Payload) {
			wait.Go(func() { all[i] = hear(h, r.seen(c), func(res *HookResult) { r.start(res, c) }) })
		}
	}
	wait.Wait()
	return strictest(all)
}

// start has a hook's handler run.
func (r *run) start(res *HookResult, c wire.Call) {
	h := res.Hook
	if res.Failed = cmp.Or(h.Fault, r.ev.Fault); res.Failed != nil {
		return
	}
	if r.ctx.Err() != nil {
		res.Outcome.TimedOut, res.Failed = true, errLate
		return
	}
	done := make(chan HookResult, 1)
	go func() {
		res := *res
		defer func() { done <- res }()
		defer caught(&res)
		res.Outcome = h.Handler.Run(r.ctx, c)
		res.Failed = res.Outcome.Err
	}()
	late := time.NewTimer(time.Until(r.hard))
	defer late.Stop()
	select {
	case *res = <-done:
		if res.Failed == nil && res.Outcome.TimedOut {
			res.Failed = errLate
		}
	case <-late.C:
		res.Outcome.TimedOut, res.Failed = true, errLate
	}
}

// rewrite shows the following hooks the input that res produced, if any.
func (r *run) rewrite(res *HookResult) bool {
	if !res.Success() || res.Outcome.UpdatedInput == nil || res.Outcome.Decision.Refuses() {
		return false
	}
	input := wire.Compact(res.Outcome.UpdatedInput)
	payload, err := wire.WithInput(r.call.Payload, input)
	switch dialog := r.ev.Kind == event.PermissionRequest; {
	case dialog && res.Outcome.Decision == wire.Ask: // it is about the call as it is
		return false
	case dialog && res.Outcome.Decision != wire.Allow:
		res.Failed = errors.New("it rewrites the input and does not approve, which PermissionRequest cannot")
	case input == nil || err != nil:
		res.Failed = errors.New("its updated input is no JSON object")
	case twice(gjson.ParseBytes(input)):
		res.Failed = errors.New("its updated input has a member twice")
	}
	if res.Failed != nil {
		return false
	}
	res.Rewrote = input
	r.call.ToolInput, r.call.Payload = input, payload
	r.call.ID += "." // not the same question as before under that name
	return true
}

// twice reports whether an object in v has a repeated member: the client reads the last, rules the first.
func twice(v gjson.Result) (found bool) {
	names := map[string]bool{}
	v.ForEach(func(name, value gjson.Result) bool {
		found = v.IsObject() && names[name.Str] || value.Type == gjson.JSON && twice(value)
		names[name.Str] = true
		return !found
	})
	return found
}
