package state

import (
	"cmp"
	"math"
	"slices"

	"beckon/event"
)

// Observe returns what ev shows and neither a hook nor s reports, to be folded into s.
func Observe(s Session, ev Evidence, now event.Millis) []Observed {
	if s.End.At != 0 {
		return nil
	}
	var out []Observed
	add := func(src Source, what Seeing, at event.Millis, detail string) {
		if s.Saw(src, what) < at {
			out = append(out, Observed{Source: src, What: what, At: at, Detail: detail})
		}
	}
	switch {
	case ev.Process == Gone:
		if s.Lost.At == 0 && !s.outlived() {
			add(FromProcess, SawGone, now, "process is gone")
		}
		return out // other evidence of a dead process proves nothing
	case ev.Process == Alive && (s.Lost.At != 0 || s.outlived()):
		add(FromProcess, SawAlive, now, "")
	}
	r, halted := ev.Registry, ev.Halted
	dialog := view{s: &s, ev: &ev, now: now}.asks() != ""
	switch {
	case r.Status == "failed":
		if now >= r.At+dwell && s.mainRunsBefore(r.At) || s.BrokenOff(r.At) {
			add(FromTranscript, SawFailed, r.At, r.WaitingFor)
		}
	case !r.settled(now):
	case r.Status == "busy" && s.anyCall(func(c *Call) bool { return c.waiting() && c.Asked < r.At }):
		add(FromRegistry, SawApproved, r.At, r.Status)
	// Of several calls that ask at once, each may run before the next dialog is shown.
	case r.Status == "waiting" && dialog && !s.anyCall((*Call).waiting) &&
		s.anyCall(func(c *Call) bool { return c.reopens(r.At) }):
		add(FromRegistry, SawWaiting, r.At, r.WaitingFor)
	case r.atRest() && s.runsBefore(r.At):
		add(FromRegistry, SawHalt, r.At, r.Status)
	}
	// While an agent runs, the registry says busy whether the client's own turn runs or not.
	if halted != 0 && (r.At == 0 || r.Menu() || s.OwnTurn()) && (s.mainRunsBefore(halted) || s.BrokenOff(halted)) {
		add(FromTranscript, SawHalt, halted, "interrupt")
	}
	switch id, _ := s.Asking(); {
	case ev.Answer == AnswerAwaited && s.anyCall(func(c *Call) bool { return c.UseID == id && c.reopens(now) }):
		add(FromTranscript, SawWaiting, now, id)
	case ev.Answer == AnswerGiven && s.anyCall(func(c *Call) bool { return c.UseID == id && c.waiting() }):
		add(FromTranscript, SawApproved, now, id)
	}
	return out
}

// observed returns the newest observation of that source and kind; the zero value if there is none.
func (s *Session) observed(src Source, what Seeing) Observed {
	i := slices.IndexFunc(s.Seeing, func(o Observed) bool { return o.Source == src && o.What == what })
	if i < 0 {
		return Observed{}
	}
	return s.Seeing[i]
}

// Saw returns the time of the newest observation of that source and kind, or zero.
func (s *Session) Saw(src Source, what Seeing) event.Millis { return s.observed(src, what).At }

// Mod returns the version of the mod that runs in the session's client, or "" if none has
// reported since the session's newest start.
func (s *Session) Mod() string {
	if o := s.observed(FromMod, SawLoaded); o.At >= s.Start.At {
		return o.Detail
	}
	return ""
}

// outlived reports whether hooks ran after the process was seen to be gone, and none named a
// new process: then that process is not the session's.
func (s *Session) outlived() bool {
	gone := s.Saw(FromProcess, SawGone)
	return gone != 0 && s.Activity > gone && s.OriginAt <= gone && s.Saw(FromProcess, SawAlive) <= gone
}

// runsBefore reports whether something still seems to run that has shown no activity since t.
func (s *Session) runsBefore(t event.Millis) bool {
	for i := range s.Actors {
		if a := &s.Actors[i]; a.running() && a.Active <= t {
			return true
		}
	}
	agents, _ := s.Background()
	return s.compacts(t) || s.Stop.Snapshot < t && agents > 0
}

// breakOff is the largest difference, in milliseconds, between the end of a turn and the
// agent's note that the user interrupted it.
const breakOff = 2000

// BrokenOff reports whether an agent's note at t that the user interrupted a turn is about the
// newest turn, which its hook reported as an ordinary end.
func (s *Session) BrokenOff(t event.Millis) bool {
	main := s.Main()
	return !s.Native() && main.How == EndStop && main.Ended == s.Stop.At && t >= main.Ended-breakOff &&
		t <= main.Ended+breakOff
}

// mainRunsBefore is runsBefore for the main conversation alone.
func (s *Session) mainRunsBefore(t event.Millis) bool {
	main := s.Main()
	return (main.running() && main.Active <= t) || s.compacts(t)
}

// compacts reports whether a compaction that began before t still seems to run.
func (s *Session) compacts(t event.Millis) bool {
	return s.Compact.At > s.Compact.Done && s.Compact.At < t && s.Compact.At > s.Main().Ended
}

// observe folds what a reader saw. The newest observation of each source and kind is kept.
func (f *fold) observe(o *Observed) {
	s := &f.s
	i := slices.IndexFunc(s.Seeing, func(x Observed) bool { return x.Source == o.Source && x.What == o.What })
	switch {
	case i < 0:
		s.Seeing = append(s.Seeing, *o)
	case s.Seeing[i].At >= o.At:
		return
	default:
		s.Seeing[i] = *o
	}
	switch o.What {
	case SawHalt:
		f.halt(o)
	case SawFailed: // which no hook reported
		if main := f.main(); main.running() && main.Active <= o.At || f.s.BrokenOff(o.At) {
			f.endActor(main, o.At, EndFailure)
			f.s.Failure = Mark{At: o.At, Reason: o.Detail}
			f.endCompaction(o.At)
		}
	case SawGoesOn:
		if main := f.main(); main.Ended <= o.At && f.s.Prompt.At <= o.At {
			main.work(o.At)
		}
	case SawApproved:
		for i := range s.Actors {
			f.release(&s.Actors[i], o.At)
		}
	case SawWaiting: // the transcript shows one call, the registry any
		for _, c := range f.s.Calls() {
			if c.reopens(o.At) && (o.Source != FromTranscript || c.UseID == o.Detail) {
				c.Answered = 0
			}
		}
	case SawGone:
		if s.End.At == 0 {
			s.Lost = Mark{At: o.At, Reason: o.Detail}
		}
	case SawAlive:
		if s.Lost.At < o.At {
			s.Lost = Mark{}
		}
	}
	f.settle(false)
}

// halt ends every turn without newer activity. The registry speaks of every actor; the transcript and
// the mod of the main conversation and the subagents that it waits for.
func (f *fold) halt(o *Observed) {
	past := func(a *Actor) bool { return a.running() && a.Active <= o.At }
	if o.Source == FromRegistry {
		f.end(o.At, EndHalt, past)
		if f.s.Stop.Snapshot < o.At {
			f.s.Stop.Background = slices.DeleteFunc(slices.Clone(f.s.Stop.Background), agentTask)
		}
	}
	f.endWaited(o.At, EndHalt, past)
	if o.Source == FromTranscript && f.s.BrokenOff(o.At) {
		f.main().How = EndHalt
	}
}

// endWaited ends the main conversation's turn at t, its compaction, and the subagents that one of its
// open calls waits for, as far as ends allows.
func (f *fold) endWaited(t event.Millis, how string, ends func(*Actor) bool) {
	since := event.Millis(math.MaxInt64)
	for _, c := range f.main().Calls {
		if c.Name == "Agent" || c.Name == "Task" {
			since = min(since, c.At)
		}
	}
	f.end(t, how, func(a *Actor) bool { return (a.ID == "" || a.Started >= since) && ends(a) })
	f.endCompaction(t)
}

// reopens reports whether a dialog seen at t may be that of c, which counted as answered.
func (c *Call) reopens(t event.Millis) bool {
	return c.Asked != 0 && c.Answered != 0 && c.Answered < t
}

// decided folds the answer that a policy, or the user from elsewhere, gave to an event: no
// hook reports its effect.
func (f *fold) decided(d *Decided) {
	a := f.known(d.AgentID)
	if a == nil {
		return
	}
	main := f.main()
	switch d.Word {
	case WordRefused: // what the event began did not happen
		switch d.Event {
		case event.PreToolUse, event.PermissionRequest, event.Elicitation:
			f.dropCall(a, d)
		case event.UserPromptSubmit: // a turn that ran before goes on
			if main.running() && main.Started >= d.Of && main.Active <= d.Of {
				f.endActor(main, f.at, EndHalt)
			}
		case event.PreCompact:
			f.endCompaction(f.at)
		}
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

// dropCall closes a call that neither waits nor runs any more.
func (f *fold) dropCall(a *Actor, d *Decided) {
	gone := Call{UseID: d.UseID, Hash: d.Hash} // if the event was spooled, and is folded later
	if c := a.meant(d); c != nil {
		gone = a.take(c)
	}
	f.noteClosed(a.ID, gone, f.at)
}

// meant returns the open call of d, or nil: the one with its id, or the newest of that tool and input.
func (a *Actor) meant(d *Decided) *Call {
	return cmp.Or(a.call(d.UseID), a.newest(func(c *Call) bool {
		form := d.Event == event.Elicitation && c.Kind == WaitForm
		return c.Name == d.Tool && (c.Hash == d.Hash || form)
	}))
}

// rewritten sets the new input of a call, so that a PermissionRequest with that input finds
// it. If the request came first, the call takes over its wait.
func (a *Actor) rewritten(d *Decided) {
	c := a.meant(d)
	if c == nil || d.NewHash == "" {
		return
	}
	c.Hash, c.Summary = d.NewHash, d.Summary
	w := a.first(func(w *Call) bool {
		return w.UseID == "" && w.Requested && w.Name == d.Tool && w.Hash == d.NewHash
	})
	if w != nil && !c.Requested {
		c.Requested, c.Kind, c.Asked, c.Answered, c.Ask = true, w.Kind, w.Asked, w.Answered, w.Ask
		a.take(w)
	}
}
