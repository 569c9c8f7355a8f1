package policy

import (
	"cmp"
	"errors"
	"sync"

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
	for i := range r.Results {
		switch res := &r.Results[i]; {
		case res.Hook.Spec.Rule != nil || res.Skipped != "":
		case res.Hook.Observe || !r.contract.Rewrite && !refused:
			wait.Go(func() { *res = r.one(res.Hook, in) })
		case refused:
			res.Skipped = "a rule refuses already"
		default:
			turns = append(turns, i)
		}
	}
	for _, i := range turns {
		r.Results[i] = r.one(r.Results[i].Hook, r.call)
		r.rewrite(&r.Results[i])
	}
	wait.Wait()
}

// one runs a hook to its end, or to the event's.
func (r *run) one(h *config.Hook, c wire.Call) HookResult {
	return hear(h, r.seen(c), func(res *HookResult) {
		if res.Err = cmp.Or(h.Fault, r.ev.Fault); res.Err == nil {
			res.Outcome = r.start(r.ctx, h, c)
		}
	})
}

// rewrite shows the following hooks the input that res produced, if any.
func (r *run) rewrite(res *HookResult) {
	if !res.Success() || res.UpdatedInput == nil || res.Decision == wire.Deny {
		return
	}
	input := wire.Compact(res.UpdatedInput)
	payload, err := wire.WithInput(r.call.Payload, input)
	switch dialog := r.ev.Kind == event.PermissionRequest; {
	case dialog && res.Decision == wire.Ask: // it is about the call as it is
		return
	case dialog && res.Decision != wire.Allow:
		res.Err = errors.New("it rewrites the input and does not approve, which PermissionRequest cannot")
	case input == nil || err != nil:
		res.Err = errors.New("its updated input is no JSON object")
	case twice(gjson.ParseBytes(input)):
		res.Err = errors.New("its updated input has a member twice")
	}
	if res.Err == nil {
		res.Rewrote = input
		r.call.ToolInput, r.call.Payload = input, payload
		r.call.ID += "." // not the same question as before under that name
	}
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
