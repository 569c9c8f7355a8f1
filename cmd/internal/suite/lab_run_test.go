//go:build unix

package suite

import (
	"errors"
	"io"
	"strconv"
	"testing"
	"time"
)

// SessionID is the client's id of a session.
type SessionID string

// State is the observer's view of one session.
type State struct {
	State  string // permission, question, working, ...
	Reason string
	Source string // for the report only

	Dir   string    // where the session works, for agents without a registry
	Since time.Time // when it began
}

// Observe returns what beckon shows now, by session id.
type Observe func() (map[SessionID]State, error)

// Sample is a look at everything, at most sampleEvery after the previous one.
type Sample struct {
	At       time.Time // before the look
	Observed map[SessionID]State
	Took     time.Duration // of the observer
	Err      string        // of the observer
	Registry []Registered
	Panes    []PaneSample
}

// PaneSample is what one pane showed at a sample.
type PaneSample struct {
	Session SessionID // of the client in it, once known
	Pid     int
	Screen  string // state that the screen shows; empty if it shows none
	Title   string // of another agent's terminal
	Dead    bool
}

const (
	sampleEvery = 100 * time.Millisecond
)

// Check is the result of an expect or rows step.
type Check struct {
	Step  string
	Want  string
	Pane  int
	After string        // the last other step
	Since time.Time     // its end
	Got   string        // what was seen last
	Took  time.Duration // from the previous step to the first matching sample
	OK    bool
}

// Look is a moment for which the scenario gives an agent's state.
type Look struct {
	At    time.Time
	Step  string // the last thing that was done or awaited
	Title string // of the terminal
	State string
}

// Result is the result of a run.
type Result struct {
	Scenario string
	Version  string
	Start    time.Time // of the first input
	Checks   []Check
	Looks    []Look // without an observer: what the checks would have expected
	Samples  []Sample
	Err      error // a step that could not be done; later steps did not run
}

// OK reports whether every step was done and every check holds.
func (r Result) OK() bool {
	for _, c := range r.Checks {
		if !c.OK {
			return false
		}
	}
	return r.Err == nil
}

// Run starts a lab, calls install with it (for hooks and what else the observer needs; may be
// nil) and plays the scenario while it samples observe (may be nil: then expect and rows pass
// unchecked). It does not fail t for a wrong verdict: the caller does, from the Result.
func Run(t testing.TB, sc Scenario, version string, install func(*Lab) error, observe func(*Lab) Observe) Result {
	t.Helper()
	return RunIn(t, sc, Start(t, version), install, observe)
}

// RunIn is Run in an existing lab.
func RunIn(t testing.TB, sc Scenario, l *Lab, install func(*Lab) error, observe func(*Lab) Observe) Result {
	t.Helper()
	var do func() error
	if install != nil {
		do = func() error { return install(l) }
	}
	if do != nil && !sc.Installs() {
		if err := do(); err != nil {
			t.Fatalf("installing into the lab: %v", err)
		}
	}
	var look Observe
	if observe != nil {
		look = observe(l)
	}
	return l.Play(sc, do, look)
}

// Record plays the scenario with a recorder and writes the recording. observe
// may be nil, as for Run.
func (l *Lab) Record(sc Scenario, observe Observe, w io.Writer) (Result, error) {
	r, err := NewRecorder(l.Home, true)
	if err != nil {
		return Result{}, err
	}
	defer r.Close()
	res := l.Play(sc, nil, observe)
	time.Sleep(time.Second) // late hooks, last registry rows
	if l.Client.Agent != nil {
		return res, errors.Join(res.Err, r.writeAgent(w, res))
	}
	return res, errors.Join(res.Err, r.Write(w, res.Start, sc.inputs(l.Client)))
}

// inputs returns the scenario's inputs for the first line of a recording: verb and arguments,
// then "@2" and so on for a pane other than the first.
func (sc Scenario) inputs(c Client) [][]string {
	var all [][]string
	for _, s := range sc.Steps {
		if !s.Input() || !s.fits(c) || s.Line == "start" {
			continue
		}
		in := append([]string{s.Verb}, s.Args...)
		if d, err := time.ParseDuration(in[len(in)-1]); err == nil && s.Verb == "wait" { // recordings count in seconds
			in[1] = strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
		}
		if s.Pane > 1 {
			in = append(in, "@"+strconv.Itoa(s.Pane))
		}
		all = append(all, in)
	}
	return all
}
