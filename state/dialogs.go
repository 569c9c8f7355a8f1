package state

import (
	"slices"

	"beckon/event"
)

// promptShown handles a permission_prompt when no wait is known: it counts as a wait of the
// newest call, since an old client has no PermissionRequest event.
func (f *fold) promptShown(e *event.Event) {
	if f.s.anyCall(func(c *Call) bool { return c.Asked != 0 }) {
		return
	}
	a := f.actor(e)
	if n := len(a.Calls); n > 0 && a.Calls[n-1].At < e.At {
		a.Calls[n-1].Kind, a.Calls[n-1].Asked = WaitPermission, e.At
	}
}

// callShown handles a notification raised when a dialog opens. It belongs to the newest call
// that has not asked; it may not name that call's actor.
func (f *fold) callShown(e *event.Event) {
	var asked *Call
	for a, c := range f.s.Calls() {
		if (e.AgentID == "" || e.AgentID == a.ID) && (asked == nil || c.At >= asked.At) {
			asked = c
		}
	}
	switch {
	case asked == nil:
		f.dialogShown(e, WaitPermission)
	case asked.Asked == 0:
		f.s.Counts.Permissions++
		f.wait(asked, WaitPermission, e.At)
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
	if kind == WaitPermission {
		f.s.Counts.Permissions++
	} else {
		f.s.Counts.Questions++
	}
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
	f.s.Counts.Questions++
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
	i := slices.IndexFunc(a.Calls, func(c Call) bool {
		return c.Hash == formHash && c.Name == e.Tool.Name && (e.Tool.UseID == "" || c.UseID == e.Tool.UseID)
	})
	c := Call{UseID: e.Tool.UseID, Hash: formHash}
	if i >= 0 {
		c = a.Calls[i]
		a.Calls = slices.Delete(a.Calls, i, i+1)
		f.answered(&c, e)
	}
	f.noteClosed(a.ID, c, e.At)
}

// closeForms closes the MCP forms that opened before t.
func (f *fold) closeForms(a *Actor, t event.Millis) {
	a.Calls = slices.DeleteFunc(a.Calls, func(c Call) bool { return c.Kind == WaitForm && c.Asked < t })
}
