package state

import (
	"slices"

	"beckon/event"
)

// decided folds the answer that a policy, or the user from elsewhere, gave to an event: no
// hook reports its effect.
func (f *fold) decided(d *Decided) {
	a := f.known(d.AgentID)
	if a == nil {
		return
	}
	switch d.Word {
	case WordRefused:
		f.refused(a, d)
	case WordAllowed:
		if d.Event == event.Elicitation { // a form that was answered is closed
			f.dropCall(a, d)
		} else if c := a.meant(d); c != nil && c.waiting() {
			c.Answered = f.at
		}
	case WordRewritten:
		a.rewritten(d)
	case WordHalted:
		f.endActor(a, f.at, EndHalt)
	case WordGoesOn:
		a.work(f.at)
	case WordReplied: // what the client raises at its delivery counts as the client's own prompt
		f.prompt(&event.Event{Kind: event.UserPromptSubmit, At: f.at, Prompt: d.Text})
	}
}

// refused undoes what the refused event began.
func (f *fold) refused(a *Actor, d *Decided) {
	switch d.Event {
	case event.PreToolUse, event.PermissionRequest, event.Elicitation:
		f.dropCall(a, d)
	case event.UserPromptSubmit:
		f.promptRefused(d)
	case event.PreCompact:
		f.endCompaction(f.at)
	}
}

// dropCall closes a call that neither waits nor runs any more.
func (f *fold) dropCall(a *Actor, d *Decided) {
	if c := a.meant(d); c != nil {
		gone := *c
		a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool {
			return c.At == gone.At && c.UseID == gone.UseID && c.Hash == gone.Hash
		})
		f.noteClosed(a.ID, gone, f.at)
		return
	}
	// The event was spooled and is folded later.
	f.noteClosed(a.ID, Call{UseID: d.UseID, Hash: d.Hash}, f.at)
}

// promptRefused ends the turn that a blocked prompt opened. A prompt typed while a turn ran
// leaves that turn running.
func (f *fold) promptRefused(d *Decided) {
	main := f.main()
	if main.running() && main.Started >= d.Of && main.Active <= d.Of {
		f.endActor(main, f.at, EndHalt)
	}
}

// meant returns the open call of d, or nil: the one with its id, or the newest of that tool
// and input.
func (a *Actor) meant(d *Decided) *Call {
	if c := a.call(d.UseID); c != nil {
		return c
	}
	return a.newest(func(c *Call) bool {
		form := d.Event == event.Elicitation && c.Kind == WaitForm
		return c.Name == d.Tool && (c.Hash == d.Hash || form)
	})
}

// rewritten sets the new input of a call, so that a PermissionRequest with that input finds
// it. If the request came first, the call takes over its wait.
func (a *Actor) rewritten(d *Decided) {
	c := a.meant(d)
	if c == nil || d.NewHash == "" {
		return
	}
	c.Hash, c.Summary = d.NewHash, d.Summary
	i := slices.IndexFunc(a.Calls, func(w Call) bool {
		return w.UseID == "" && w.Requested && w.Name == d.Tool && w.Hash == d.NewHash
	})
	if i >= 0 && !c.Requested {
		w := a.Calls[i]
		c.Requested, c.Kind, c.Asked, c.Answered, c.Ask = true, w.Kind, w.Asked, w.Answered, w.Ask
		a.Calls = slices.Delete(a.Calls, i, i+1)
	}
}
