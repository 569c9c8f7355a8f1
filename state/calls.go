package state

import (
	"cmp"
	"slices"

	"beckon/event"
	"beckon/event/agents"
)

// release ends the waits of a that were asked before t. It removes a call that is known only
// from its PermissionRequest.
func (f *fold) release(a *Actor, t event.Millis) {
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool {
		return c.unpaired() && c.Asked < t
	})
	f.s.Closed = slices.DeleteFunc(f.s.Closed, func(c Closed) bool {
		return c.Actor == a.ID && c.dropped() && c.At < t
	})
	for i := range a.Calls {
		if c := &a.Calls[i]; c.waiting() && c.Asked < t {
			c.Answered = t
		}
	}
}

// preTool opens a call, unless its end has already been folded.
func (f *fold) preTool(e *event.Event) {
	a := f.actor(e)
	kind := asksByItself(e.Tool.Name, e.Ask)
	f.s.Counts.Tools++
	a.work(e.At)
	if f.wasClosed(e.Tool.UseID) || a.over(e.At) {
		return
	}
	c := a.call(e.Tool.UseID)
	if c == nil && e.Says == agents.Approved {
		c = a.approved(e)
	}
	if c == nil { // its PermissionRequest was folded first; an older wait belongs to another call
		c = a.first(func(c *Call) bool { return c.UseID == "" && c.Requested && e.At <= c.Asked && c.is(e) })
	}
	if c == nil {
		c = a.open()
	}
	c.UseID, c.Name, c.Hash, c.Summary = e.Tool.UseID, e.Tool.Name, e.Tool.Hash, e.Tool.Summary
	c.At = e.At
	if e.Ask != nil {
		c.Ask = e.Ask
	}
	if !c.Requested {
		if t := f.droppedWait(a.ID, e); t != 0 {
			c.Asked, c.Requested = t, true
			f.wait(c, waitKind(e.Tool.Name, e.Ask), t)
		}
	}
	if kind != "" && (c.Asked == 0 || e.At < c.Asked) {
		f.wait(c, kind, e.At)
	}
}

// wait notes that c asks the user at t. Under `claude -p` there is nobody to ask, so the wait
// is over at once, unless a reader finds out that a hook or program answers (Evidence.Answer).
func (f *fold) wait(c *Call, kind WaitKind, t event.Millis) {
	first := c.Asked == 0
	c.Kind, c.Asked = kind, t
	if f.s.Headless() {
		c.Answered = max(c.Answered, t)
	}
	if first {
		f.asks(c)
	}
}

// approved ends the wait of the call that e reports as approved, and returns the call; nil if
// no such call waits.
func (a *Actor) approved(e *event.Event) *Call {
	waits := func(c *Call) bool {
		return c.UseID == "" && c.Requested && c.waiting() && c.Asked <= e.At && c.Name == e.Tool.Name
	}
	c := cmp.Or(a.first(func(c *Call) bool { return waits(c) && c.is(e) }), a.first(waits))
	if c != nil {
		c.Answered = e.At
	}
	return c
}

// asksByItself returns the wait that a call of the tool always brings: Claude Code's question
// and plan tools, and another agent's call that has a question.
func asksByItself(tool string, ask *event.Ask) WaitKind {
	switch {
	case tool == "AskUserQuestion" || ask != nil && len(ask.Questions) > 0:
		return WaitQuestion
	case tool == "ExitPlanMode":
		return WaitPlan
	}
	return ""
}

// waitKind returns the kind of wait that a PermissionRequest for the tool opens.
func waitKind(tool string, ask *event.Ask) WaitKind {
	if k := asksByItself(tool, ask); k != "" {
		return k
	}
	if tool == "EnterPlanMode" {
		return WaitPlan
	}
	return WaitPermission
}

// permission opens a wait for the call of a PermissionRequest. If that call has just been
// closed, it counts as answered.
func (f *fold) permission(e *event.Event) {
	a := f.actor(e)
	kind := waitKind(e.Tool.Name, e.Ask)
	a.work(e.At)
	if a.over(e.At) {
		return
	}
	c := a.requested(e)
	if c == nil && f.answeredAlready(a.ID, e) {
		return
	}
	if c == nil {
		c = a.open()
		*c = Call{UseID: e.Tool.UseID, Name: e.Tool.Name, Hash: e.Tool.Hash, Summary: e.Tool.Summary, At: e.At}
	}
	c.Requested = true
	if e.Ask != nil {
		c.Ask = e.Ask
	}
	if c.Asked == 0 {
		f.wait(c, kind, e.At)
	}
	c.Kind = kind
}

// requested returns the open call that a PermissionRequest belongs to, or nil. A request without
// an id belongs to the newest open call with the same actor, tool and input that has no request
// yet. The input of Codex's request has the reason, too: its call is found by the summary.
func (a *Actor) requested(e *event.Event) *Call {
	described := func(c *Call) bool {
		return e.Says == agents.Described && c.Name == e.Tool.Name && c.Summary == e.Tool.Summary
	}
	return cmp.Or(a.call(e.Tool.UseID),
		a.newest(func(c *Call) bool { return !c.Requested && c.is(e) }),
		a.newest(func(c *Call) bool { return !c.Requested && described(c) }))
}

// answeredAlready reports whether the call of the PermissionRequest e was closed after e.
func (f *fold) answeredAlready(actor string, e *event.Event) bool {
	i := slices.IndexFunc(f.s.Closed, func(c Closed) bool {
		return c.is(actor, e) && c.Hash != "" && !c.Requested && c.At >= e.At
	})
	if i >= 0 {
		f.s.Closed[i].Requested = true
	}
	return i >= 0 || f.wasClosed(e.Tool.UseID)
}

// postTool closes a call: PostToolUse, PostToolUseFailure, PermissionDenied.
//
// It proves that its actor worked when the call was opened, not now: it may come after the
// Stop of its own turn. An unknown subagent stopped long ago.
func (f *fold) postTool(e *event.Event) {
	a := f.known(e.AgentID)
	if a == nil {
		return
	}
	if open := a.finished(e); open != nil {
		c := a.take(open)
		c.UseID = cmp.Or(c.UseID, e.Tool.UseID)
		a.work(c.At)
		c = a.passOn(c, e.At)
		f.answered(&c, e)
		f.noteClosed(a.ID, c, e.At)
		f.dropUnpaired(a, c, e.At)
		return
	}
	if f.wasClosed(e.Tool.UseID) {
		return
	}
	c := Call{UseID: e.Tool.UseID, Hash: e.Tool.Hash, At: e.At - event.Millis(e.Tool.Ms)}
	if e.Tool.Ms > 0 || a.Ended == 0 {
		a.work(c.At) // otherwise the call may have been opened after the turn ended
	}
	f.noteClosed(a.ID, c, e.At)
}

// denied handles PermissionDenied. Claude Code raises it for a call that it refused by itself;
// other agents, for one that the user refused.
func (f *fold) denied(e *event.Event) {
	if d := &f.s.Denied; f.s.Native() && e.At >= f.s.Prompt.First {
		d.Count, d.New = d.Count+1, d.New+1
		call := Denial{e.At, e.AgentID, e.Tool.Name, e.Tool.Summary, e.Reason, e.Code}
		d.Calls = keepLast(append(d.Calls, call), maxDenials)
	}
	f.postTool(e)
}

// finished returns the open call that e closes, or nil: the call with e's id, or, if one of the two has
// no id, the call of the same tool and input, or the oldest wait that may be e's.
func (a *Actor) finished(e *event.Event) *Call {
	noID := func(c *Call) bool { return c.UseID == "" || e.Tool.UseID == "" }
	mayBe := func(c *Call) bool { return c.waiting() && c.Name == e.Tool.Name && c.mayChange(e) }
	return cmp.Or(a.call(e.Tool.UseID),
		a.first(func(c *Call) bool { return noID(c) && c.is(e) }),
		a.first(func(c *Call) bool { return noID(c) && mayBe(c) }))
}

// mayChange reports whether e may close c although their inputs differ: the client adds the
// answers to a question and the text to a plan, some senders leave the input out, and users and
// hooks edit it. An edited call must have had a PreToolUse: else e may be another call's.
func (c *Call) mayChange(e *event.Event) bool {
	return asksByItself(c.Name, c.Ask) != "" || c.Hash == "" || e.Tool.Hash == "" || c.At < c.Asked
}

// dropUnpaired drops the wait that belongs to the call c, which ended at t, but was not paired
// with it: when a hook rewrites a call's input, its PermissionRequest has another hash.
func (f *fold) dropUnpaired(a *Actor, c Call, t event.Millis) {
	if c.Requested {
		return
	}
	wait := a.first(func(w *Call) bool {
		return w.unpaired() && w.Name == c.Name && w.Asked >= c.At && w.Asked <= t
	})
	if wait != nil {
		gone := a.take(wait)
		f.noteClosed(a.ID, gone, gone.Asked)
	}
}

// passOn returns the call c, which ended at t, without a wait that was asked later: that wait
// is of another call with the same input, which gets it.
func (a *Actor) passOn(c Call, t event.Millis) Call {
	if !c.Requested || !c.waiting() || c.Asked <= t || c.Hash == formHash || c.Hash == leaderHash {
		return c
	}
	other := a.newest(func(o *Call) bool { return o.Name == c.Name && o.Hash == c.Hash && !o.waiting() })
	if other == nil {
		other = a.open()
		*other = Call{Name: c.Name, Hash: c.Hash, Summary: c.Summary, At: c.Asked}
	}
	other.Kind, other.Asked, other.Answered, other.Requested, other.Ask = c.Kind, c.Asked, 0, true, c.Ask
	c.Asked, c.Requested = 0, false
	return c
}

// droppedWait handles a late PreToolUse e whose wait dropUnpaired took for another call's. It
// removes the tombstone and returns when the wait was asked, or 0 if there is none.
func (f *fold) droppedWait(actor string, e *event.Event) event.Millis {
	for i := range f.s.Closed {
		if c := f.s.Closed[i]; c.is(actor, e) && c.dropped() && c.At >= e.At && e.Tool.UseID != "" {
			f.s.Closed = slices.Delete(f.s.Closed, i, i+1)
			return c.At
		}
	}
	return 0
}

// batch handles PostToolBatch: all calls of a message are done, including those that end
// without an event of their own. If it comes after the end of its turn, the turn stays over.
// Events of other agents that are mapped to it only show the actor at work.
func (f *fold) batch(e *event.Event) {
	a := f.actor(e)
	if e.Name != string(event.PostToolBatch) || a.Ended == 0 || a.running() {
		a.work(e.At)
	}
	if c := a.call(e.Tool.UseID); c != nil { // the answer to one call
		if c.waiting() {
			c.Answered = e.At
		}
		return
	}
	f.release(a, e.At)
	if e.Name == string(event.PostToolBatch) {
		f.closeCalls(a, e.At)
	}
}

// closeCalls closes the calls of a that were opened up to t.
func (f *fold) closeCalls(a *Actor, t event.Millis) {
	var closed []Call
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool {
		gone := c.At < t || c.At == t && a.over(t)
		if gone {
			closed = append(closed, c)
		}
		return gone
	})
	for _, c := range closed {
		f.noteClosed(a.ID, a.passOn(c, t), t)
	}
}

func (a *Actor) open() *Call {
	a.Calls = append(a.Calls, Call{})
	return &a.Calls[len(a.Calls)-1]
}

// take removes c from the open calls of a, and returns it.
func (a *Actor) take(c *Call) (gone Call) {
	gone, *c = *c, Call{}
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool { return c == Call{} })
	return gone
}

// call returns the open call of a with that id, or nil.
func (a *Actor) call(useID string) *Call {
	return a.first(func(c *Call) bool { return useID != "" && c.UseID == useID })
}

// first returns the first open call of a that fits, or nil.
func (a *Actor) first(fits func(*Call) bool) *Call {
	for i := range a.Calls {
		if fits(&a.Calls[i]) {
			return &a.Calls[i]
		}
	}
	return nil
}

// newest returns the open call of a that was made last among those that fit, or nil.
func (a *Actor) newest(fits func(*Call) bool) (newest *Call) {
	for i := range a.Calls {
		if c := &a.Calls[i]; fits(c) && (newest == nil || c.At >= newest.At) {
			newest = c
		}
	}
	return newest
}

// unpaired reports whether c is known only from its PermissionRequest.
func (c *Call) unpaired() bool { return c.UseID == "" && c.Requested && c.At >= c.Asked }

// is reports whether e has c's tool and input.
func (c *Call) is(e *event.Event) bool {
	return c.Name == e.Tool.Name && c.Hash == e.Tool.Hash
}

// noteClosed adds a tombstone of a closed call, and drops those too old for a late event.
func (f *fold) noteClosed(actor string, c Call, at event.Millis) {
	f.s.Closed = slices.DeleteFunc(f.s.Closed, func(c Closed) bool { return c.At < at-late })
	closed := Closed{UseID: c.UseID, Actor: actor, Hash: c.Hash, At: at, Requested: c.Requested}
	f.s.Closed = keepLast(append(f.s.Closed, closed), maxClosed)
}

// is reports whether e has the call's actor and input; those of two tools differ.
func (c *Closed) is(actor string, e *event.Event) bool {
	return c.Actor == actor && c.Hash == e.Tool.Hash
}

// dropped reports whether c is a wait that dropUnpaired closed.
func (c *Closed) dropped() bool {
	return c.UseID == "" && c.Requested && c.Hash != formHash && c.Hash != leaderHash
}

func (f *fold) wasClosed(useID string) bool {
	return useID != "" && slices.ContainsFunc(f.s.Closed, func(c Closed) bool { return c.UseID == useID })
}

// callShown handles a notification raised when a dialog opens. It belongs to the newest call that
// has not asked; it may not name that call's actor. Claude Code's counts only if no call has asked:
// an old client has no PermissionRequest event.
func (f *fold) callShown(e *event.Event) {
	others := e.Notification == agents.Shown
	if !others && f.s.anyCall(func(c *Call) bool { return c.Asked != 0 }) {
		return
	}
	var newest *Call
	for a, c := range f.s.Calls() {
		if (e.AgentID == a.ID || others && e.AgentID == "") && (newest == nil || c.At >= newest.At) {
			newest = c
		}
	}
	switch {
	case newest == nil && others:
		f.dialogShown(e, WaitPermission)
	case newest != nil && newest.Asked == 0 && (others || newest.At < e.At):
		f.wait(newest, WaitPermission, e.At)
	}
}

// dialogShown opens a wait that has no event of its own: an MCP form where the client or the
// settings file has no Elicitation event, and a teammate's request to its leader. The wait
// ends with the call during which it opened, or with the user's next prompt.
func (f *fold) dialogShown(e *event.Event, kind WaitKind) {
	a := f.actor(e)
	hash := formHash
	if kind == WaitPermission {
		hash = leaderHash
	}
	answered := slices.ContainsFunc(f.s.Closed, func(c Closed) bool { return c.Hash == hash && c.At >= e.At })
	if answered ||
		slices.ContainsFunc(a.Calls, func(c Call) bool { return isPermission(c.Kind) == isPermission(kind) && c.waiting() }) {
		return
	}
	name := newestCall(*a).Name
	c := a.open()
	*c = Call{Name: name, Hash: hash, Summary: e.Message, At: e.At, Kind: kind, Asked: e.At, Requested: true}
	f.asks(c)
}

// leaderHash stands in for the input of a teammate's call.
const leaderHash = "teammate"

// formHash stands in for the input that an MCP form does not have.
const formHash = "form"

// elicitation opens an MCP form. Tool.Name is the server; Tool.UseID is the id of the
// elicitation, which only some forms have.
func (f *fold) elicitation(e *event.Event) {
	a := f.actor(e)
	a.work(e.At)
	if a.over(e.At) || f.wasClosed(e.Tool.UseID) || a.call(e.Tool.UseID) != nil {
		return
	}
	c := a.open()
	*c = Call{UseID: e.Tool.UseID, Name: e.Tool.Name, Hash: formHash, Summary: e.Message,
		At: e.At, Kind: WaitForm, Asked: e.At, Requested: true, Ask: e.Ask}
	if e.Ask != nil && len(e.Ask.Questions) > 0 {
		c.Kind, c.Summary = WaitQuestion, e.Ask.Questions[0].Text
	}
	f.asks(c)
}

func (f *fold) elicitationResult(e *event.Event) {
	a := f.actor(e)
	form := a.first(func(c *Call) bool {
		return c.Hash == formHash && c.Name == e.Tool.Name && (e.Tool.UseID == "" || c.UseID == e.Tool.UseID)
	})
	c := Call{UseID: e.Tool.UseID, Hash: formHash}
	if form != nil {
		c = a.take(form)
		f.answered(&c, e)
	}
	f.noteClosed(a.ID, c, e.At)
}
