package hook

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"beckon/event"
	"beckon/event/home"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Served answers what is posted to `beckon serve` from the policies of this machine, read anew
// each time: the client's own payloads, and questions of protocol 1.0. Only the client starts
// hooks, but anyone whom the server admits may post. So commands run in the directory that a post
// names only if one of the user's processes on this machine sent it and nobody else can write
// there; otherwise in the home directory. A project that no such process named counts only if the
// user trusts its policy.
type Served struct {
	Store   *store.Store
	Starter Starter
	Getenv  func(string) string
}

// maxHops is how many policies may pass a question on.
const maxHops = 2

// Ask implements web.Policy.
func (s *Served) Ask(ctx context.Context, q wire.Posted) ([]byte, error) {
	id, payload, err := wire.ParseQuestion(q.Body)
	if err != nil {
		return nil, err
	}
	f, err := s.invocation(q, payload)
	if err != nil {
		return nil, err
	}
	f.ev.ID = cmp.Or(id, "question")
	f.load()
	ev, r := f.ask(ctx)
	f.after(ev, r)
	return wire.Reply(r.Verdict), nil
}

// Answer implements web.Policy. If ctx ends nobody waits any more, and no decision counts.
func (s *Served) Answer(ctx context.Context, q wire.Posted) (answer []byte, note func()) {
	note = func() {}
	if q.Agent != "" && q.Agent != string(event.ClaudeCode) {
		return nil, note
	}
	f, err := s.invocation(q, q.Body)
	if err != nil || !Policied(f.getenv) {
		return nil, note
	}
	f.args.Event, f.args.Via = string(f.e.Kind), "http"
	f.ev.HTTP, f.ev.At = true, q.At.Time()
	f.load()
	ev, r := f.ask(ctx)
	f.after(ev, r)
	if q.Hops > 0 { // the session is followed where the question came from
		return r.Answer.Stdout, note
	}
	return r.Answer.Stdout, func() {
		if d := f.decided(r); d != nil {
			_, err := FoldDecided(f.st, f.e.SessionID, d, 0)
			f.st.Log(err)
		}
	}
}

// invocation creates an invocation for a posted payload; its policy is not loaded yet.
func (s *Served) invocation(q wire.Posted, payload []byte) (*invocation, error) {
	if q.Hops > maxHops {
		return nil, errors.New("policies ask each other in a circle")
	}
	f := &invocation{args: Args{Agent: q.Agent, Event: q.Event}, getenv: s.Getenv,
		starter: s.Starter, st: s.Store, ev: policy.Event{At: time.Now(), Payload: payload, Hops: q.Hops}}
	if q.Busy {
		f.ev.Fault = errors.New("too much runs already") // only rules answer
	}
	var err error
	if f.e, err = event.Parse(q.Agent, q.Event, payload); err != nil {
		return nil, err
	}
	kept := trust.In(s.Store.Dir)
	project := ProjectAt(f.e.Cwd, kept)
	if q.Foreign && !trusted(kept, trust.ProjectFile(project)) {
		project = ""
	}
	if q.Foreign || !private(f.e.Cwd) || project != "" && !private(project) {
		if f.ev.Dir = home.Dir(s.Getenv); !filepath.IsAbs(f.ev.Dir) {
			f.ev.Dir = string(filepath.Separator) // an empty one would mean the event's own
		}
	}
	f.getenv = home.WithVar(f.getenv, "CLAUDE_PROJECT_DIR", project)
	return f, nil
}

// private reports whether a directory exists and nobody but the user and root can write there.
func private(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && filepath.IsAbs(dir) && info.IsDir() && !Shared(dir)
}

// ProjectAt returns the project of a directory: by a policy at or above it, else by git.
func ProjectAt(dir string, kept trust.Dir) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	at := trust.ProjectAround(dir, kept, evidence.Worktree)
	file := trust.ProjectFile(at)
	if _, err := os.Stat(file); err == nil || trusted(kept, file) {
		return at
	}
	return evidence.Project(dir, evidence.Git(dir))
}
