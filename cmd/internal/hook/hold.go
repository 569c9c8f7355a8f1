package hook

import (
	"cmp"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/home"
	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/store"
)

// Holds reports whether the event is held for an answer, if somebody may give one. The
// offer is made where the whole payload is read. An MCP server's form is not held: while its
// hook waits the client shows no dialog for it.
func (a Args) Holds() bool {
	if a.foreign() {
		row := a.heeded()
		return a.Answers && row != nil && row.Held
	}
	return a.Reply || a.Answers && a.Event == string(event.PermissionRequest)
}

const (
	// waitFlag, before a request's id and sum, makes beckon-hook wait for its answer.
	waitFlag = "--wait"
	// AnsweredFlag, before a request's id and sum, has the client given the answer. Processes of
	// earlier versions give no sum.
	AnsweredFlag = "--answered"
)

// BecomeWaiter turns this process into the one that waits at a request. It returns only if that
// fails, or on a system where the waiter runs as a child.
func BecomeWaiter(id, sum string) (code int, ok bool) {
	return Become(home.Beside("beckon-hook"), []string{waitFlag, id, sum})
}

// wait waits at a request and has the answer given to the client. Without an answer it is
// silent, and the session's own dialog decides. of is the request's id and sum, which stay on the
// command line: files may be changed while it waits.
func wait(of []string, getenv func(string) string, judge Judge) (code int) {
	var fault error // not printed: the client would take a trace for an answer
	defer Guard(&fault)
	dir, err := store.Dir(getenv)
	if err != nil {
		return 0
	}
	st, id := store.Open(dir), of[0]
	given := make(chan os.Signal, 1)
	signal.Notify(given, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	var ending sync.Mutex // whoever ends the wait writes everything before the process exits
	go func() {
		<-given
		ending.Lock()
		request.In(st.Dir).Close(id, request.WhyStopped)
		os.Exit(0)
	}()
	answered, why := request.Wait(st, id, getenv, func() {
		if err := StartBeckon(st.Dir, []string{"notify", "ask", id}); err != nil {
			st.Log(errors.New("notifying of a request: " + err.Error()))
		}
	})
	ending.Lock()
	if answered {
		return judge(append([]string{AnsweredFlag}, of...), nil, BecomeHook)
	}
	request.In(st.Dir).Close(id, why)
	return 0
}

// Halt looks for the user's request to stop the session and each of its subagents at their
// next call, folds it, and returns the answer for the client; nil if there is no request. A
// call that has not begun is refused as well.
func Halt(st *store.Store, res *store.Result, e *event.Event) []byte {
	if e.Kind != event.PreToolUse && e.Kind != event.PostToolUse {
		return nil
	}
	by, ok := request.In(st.Dir).StopOf(store.KeyOf(res.After.Record()), began(&res.After, e.AgentID))
	if !ok {
		return nil
	}
	d := &state.Decided{
		Event:   e.Kind,
		Of:      e.At,
		AgentID: e.AgentID,
		Tool:    e.Tool.Name,
		UseID:   e.Tool.UseID,
		Hash:    e.Tool.Hash,
		Word:    state.WordHalted,
		By:      by.By,
		From:    by.From,
	}
	now, err := FoldDecided(st, res.After.Record(), d)
	if err != nil {
		st.Log(err)
	} else {
		res.After = now.After
	}
	reason := "stopped by " + cmp.Or(by.By, "the user") + ", through beckon"
	out := append([]byte{'{'}, `"continue":false`...)
	out = jsonenc.Str(out, "stopReason", reason)
	if e.Kind == event.PreToolUse {
		out = append(out, `,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`...)
		out = append(jsonenc.Str(out, "permissionDecisionReason", reason), '}')
	}
	return append(out, '}', '\n')
}

// FoldDecided folds a decision about a call into the record of its session.
func FoldDecided(st *store.Store, record string, d *state.Decided) (store.Result, error) {
	action := &state.Action{Kind: state.ActDecided, Decided: d}
	change := state.Change{At: event.MillisOf(time.Now()), Action: action}
	return st.Fold(store.KeyOf(record), store.Update{Change: change})
}

// began returns when an actor began its present work: for the session itself also its newest
// prompt.
func began(s *state.Session, actor string) (at event.Millis) {
	if actor == "" {
		at = s.Prompt.At
	}
	for i := range s.Actors {
		if s.Actors[i].ID == actor {
			at = max(at, s.Actors[i].Started)
		}
	}
	return at
}
