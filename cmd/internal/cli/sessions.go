package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/redact"
	"beckon/event/transcript"
	"beckon/render"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/store"
)

// Reader returns the reader of this machine's sessions.
func (a *App) Reader() *live.Reader {
	return live.NewReader(a.Store, filepath.Join(a.ClaudeDir(), "sessions"))
}

// Now returns the time to resolve and act at; a recording has its own.
func (a *App) Now() event.Millis { return a.Reader().Now() }

// uncollected defers garbage collection until the heap has 128 MiB, and returns what undoes
// that. A look at the sessions keeps nearly all that it allocates, so a collection in the
// middle finds nothing and costs a third of the time. A process that is about to exit does not
// undo it, because that would start a collection at once.
func (a *App) uncollected() (undo func()) {
	old := debug.SetGCPercent(3200)
	if a.Brief {
		return func() {}
	}
	return func() { debug.SetGCPercent(old) }
}

// Look reads all sessions with their evidence and verdicts.
func (a *App) Look(all bool) ([]state.Seen, event.Millis, error) {
	defer a.uncollected()()
	request.In(a.Store.Dir).Sweep(time.Now())
	snap, err := a.Reader().Look(all)
	a.Unread = snap.Problems
	a.report(snap.Problems, true)
	return snap.Seen, snap.Now, err
}

// Rows reads the live sessions' rows without the parts that only a list shows. Problems go to
// the log only: they do not belong in a prompt.
func (a *App) Rows() ([]render.Row, []state.Seen, time.Time, error) {
	defer a.uncollected()()
	r := a.Reader()
	r.SkipMeters = true
	snap, err := r.Look(false)
	a.report(snap.Problems, false)
	return a.Queue("").Rows(snap.Seen, false), snap.Seen, snap.Now.Time(), err
}

// Queue returns the order of rows in every view: of the mode that a flag asks for, else of the
// configured one.
func (a *App) Queue(mode string) render.Queue {
	cfg := a.Configured()
	return render.Queue{
		Mode: render.Mode(cmp.Or(mode, cfg.Queue)), PermissionFirst: cfg.PermissionFirst == "true",
	}
}

// maxSaid is larger than any final message, in bytes.
const maxSaid = 256 << 10

// Said returns the session's final message without secrets: whole from its transcript, else
// the part that is stored.
func (a *App) Said(s *state.Session) string {
	kept := s.Stop.Message
	if a.Store.NoTexts {
		return kept
	}
	text, at := evidence.LastWords(&s.Origin, s.Transcript, maxSaid)
	if text == "" || at+staleWords < s.Stop.At {
		return kept
	}
	return redact.Text(text)
}

// Plan returns the plan that a session wants approved, whole from its transcript, if it begins
// with head; else "".
func (a *App) Plan(s *state.Session, head string) string {
	if head == "" || a.Store.NoTexts || !evidence.Local(&s.Origin) {
		return ""
	}
	plan, _ := transcript.Plan(s.Transcript) // an unreadable transcript has none
	plan = redact.Text(plan)
	const enough = 80
	begin := func(s string) string { return event.Cut(render.OneLine(s), enough) }
	if begin(plan) != begin(head) {
		return ""
	}
	return plan
}

// staleWords is how much older than the end of its turn a final message may be, in
// milliseconds: the transcript may be written before or some time after the hook runs.
const staleWords = 60_000

// report logs what could not be read, in the log of the hooks, and says it on stderr if it is to.
func (a *App) report(problems []store.Problem, say bool) {
	newer := false
	for _, p := range problems {
		err := fmt.Errorf("reading session %q: %w", string(p.Key), p.Err)
		if a.Store.Log(err); say {
			fmt.Fprintf(a.Stderr, "beckon: %v\n", err)
		}
		newer = newer || errors.Is(err, state.ErrNewerSchema)
	}
	if newer && say {
		fmt.Fprintf(a.Stderr, "  hint: %s\n", UpdateAdvice)
	}
}

// Act folds an action of the user on sessions, at one time, by which it can be undone for all of
// them. A session that only the client's registry knows has no history of it.
func (a *App) Act(action state.Action, seen ...state.Seen) (err error) {
	at := a.Now()
	for _, v := range seen {
		if v.Session.Seq == 0 {
			err = cmp.Or(err,
				Hint("it can be marked once one of its hooks has run", "session %q: no hook of it has run yet", v.Session.ID))
			continue
		}
		change := state.Change{At: at, Action: &action}
		_, e := a.Store.Fold(store.KeyOf(v.Session.Record()), store.Update{Change: change})
		err = cmp.Or(err, e)
		if action.Kind != state.ActBackburner {
			continue
		}
		if e := a.Configured().Alert.Return(a.Store.Dir, v.Session.Record(), action.Until, a.Start); e != nil {
			a.Store.Log(fmt.Errorf("the return of session %q will not be notified: %w", v.Session.ID, e))
		}
	}
	return err
}

// Start starts beckon and does not wait for it.
func (a *App) Start(args []string) error { return hook.StartBeckon(a.Store.Dir, args) }

// MarkSeen records that the user looked at sessions, unless that is known. A session whose hooks
// have not run yet has no record for it.
func (a *App) MarkSeen(seen ...state.Seen) error {
	known := func(v state.Seen) bool {
		return v.Session.Seq == 0 || !v.Status.Unseen && v.Session.Seen >= v.Status.Since
	}
	return a.Act(state.Action{Kind: state.ActSeen}, slices.DeleteFunc(seen, known)...)
}

// Find returns the session that arg names: by its id, its name, a beginning of its id, its seat, or
// the project or branch that only one live session works in. For a name, project or branch, a
// beginning or a part that no other live session shares is enough.
func (a *App) Find(arg string) (state.Seen, error) {
	seen, _, err := a.Look(true)
	if err != nil {
		return state.Seen{}, err
	}
	return a.find(seen, arg)
}

// find tries one way to name a session after the other; the first that fits any decides.
func (a *App) find(seen []state.Seen, arg string) (state.Seen, error) {
	rows := map[string]*render.Row{} // of the live sessions, by record
	for _, r := range render.Rows(seen, false) {
		rows[r.Record()] = &r
	}
	named := func(like func(s, arg string) bool) func(*state.Seen) bool {
		is := func(s string) bool { return like(strings.ToLower(s), strings.ToLower(arg)) }
		return func(v *state.Seen) bool {
			r := rows[v.Session.Record()]
			return r != nil && (is(r.Name) || is(v.Evidence.Registry.Name) || is(r.Project) ||
				r.Git != nil && is(r.Git.Branch))
		}
	}
	same := func(x, y string) bool { return x == y }
	for _, fits := range []func(*state.Seen) bool{
		func(v *state.Seen) bool { return v.Session.ID == arg || v.Session.Record() == arg },
		func(v *state.Seen) bool {
			r := rows[v.Session.Record()]
			return r != nil && strings.EqualFold(r.Name, arg)
		},
		func(v *state.Seen) bool { return strings.HasPrefix(v.Session.Record(), arg) || v.Session.Seat == arg },
		named(same), named(strings.HasPrefix), named(strings.Contains),
	} {
		var found []state.Seen
		for i := range seen {
			if arg != "" && fits(&seen[i]) {
				found = append(found, seen[i])
			}
		}
		if len(found) == 0 {
			continue
		}
		if !slices.ContainsFunc(found, func(v state.Seen) bool { return v.Session.ID != found[0].Session.ID }) {
			return a.oneProcess(found), nil
		}
		if fronts := state.Fronts(found); len(fronts) == 1 {
			return found[fronts[found[0].Session.Seat]], nil
		}
		return state.Seen{}, ambiguity(arg, found)
	}
	for _, p := range a.Unread { // why was said already
		if arg != "" && strings.HasPrefix(string(p.Key), string(store.KeyOf(arg))) {
			return state.Seen{}, fmt.Errorf("session %q cannot be read", arg)
		}
	}
	return state.Seen{}, Hint("beckon list --all shows every session", "session %q: %w", arg, ErrNotFound)
}

// oneProcess picks among the processes that ran one session the one that needs the user most.
// If several still run it, it says on stderr how to name the others.
func (a *App) oneProcess(seen []state.Seen) state.Seen {
	rows := render.Rows(seen, true)
	for _, r := range rows[1:] {
		if r.State.Live() {
			fmt.Fprintf(a.Stderr, "beckon: %s runs in several processes; this is %s (%s), another is %s (%s)\n",
				ShortID(r.SessionID), rows[0].Record(), rows[0].State, r.Record(), r.State)
		}
	}
	return seen[slices.IndexFunc(seen, func(v state.Seen) bool { return v.Session.Record() == rows[0].Record() })]
}

// maxCandidates is how many sessions an ambiguity lists.
const maxCandidates = 5

// ambiguity returns the error for an argument that matches several sessions.
func ambiguity(arg string, fits []state.Seen) error {
	rows := render.Rows(fits, true)
	var list []string
	for i := range rows[:min(len(rows), maxCandidates)] {
		list = append(list, strings.TrimSpace(rows[i].ShownName()+" "+ShortID(rows[i].Record())))
	}
	if len(rows) > maxCandidates {
		list = append(list, "...")
	}
	return NotFound("give more of the name or of the id; beckon list shows them",
		"session %q fits %d sessions (%s)", arg, len(fits), strings.Join(list, ", "))
}
