//go:build unix

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// SessionID is the client's id of a session.
type SessionID string

// State is what the observer says about one session.
type State struct {
	State  string // permission, question, working, ...
	Reason string
	Source string // for the report only
}

// Observe returns what beckon says now, by session id.
type Observe func() (map[SessionID]State, error)

// Sample is one look at everything, at most sampleEvery after the one before.
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
	Screen  string // state that the screen shows; empty when it does not say
	Dead    bool
}

const (
	sampleEvery = 100 * time.Millisecond
	patience    = 20 * time.Second // of screen, registry and gone
)

// Check is the verdict on one expect or rows step.
type Check struct {
	Step string
	Want string
	Got  string        // what was seen last
	Took time.Duration // from the step before to the first sample that fits
	OK   bool
}

// Result is what a run gave.
type Result struct {
	Scenario string
	Version  string
	Start    time.Time // of the first input
	Checks   []Check
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

// Run starts a lab, calls install with it (hooks and what else the observer
// needs; may be nil) and plays the scenario while it samples observe (may be
// nil: then expect and rows pass unchecked). It does not fail t for a wrong
// verdict: that is for the caller, who has the Result.
func Run(t testing.TB, sc Scenario, version string, install func(*Lab) error, observe func(*Lab) Observe) Result {
	t.Helper()
	l := Start(t, version)
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
	return res, errors.Join(res.Err, r.Write(w, res.Start, sc.inputs(l.Client.Version)))
}

// inputs are the scenario's inputs for the first line of a recording: verb and
// arguments, then "@2" and so on for what concerns another pane than the first.
func (sc Scenario) inputs(version string) [][]string {
	var all [][]string
	for _, s := range sc.Steps {
		if !s.Input() || !s.fits(version) || s.Line == "start" {
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

// player plays one scenario. The sampler's goroutine and the steps share it.
type player struct {
	lab     *Lab
	install func() error
	observe Observe
	origin  time.Time // end of the last step that was no check
	result  Result

	mu      sync.Mutex
	panes   []*Pane
	ids     []SessionID // by pane, the last one known
	samples []Sample
}

// Play plays the scenario in this lab and returns everything seen; install
// does what the step of that name asks for (nil: nothing). Clients still run when it returns; Close ends them.
func (l *Lab) Play(sc Scenario, install func() error, observe Observe) Result {
	p := &player{lab: l, install: install, observe: observe, result: Result{Scenario: sc.Name, Version: l.Client.Version}}
	ctx, cancel := context.WithCancel(context.Background())
	var sampler sync.WaitGroup
	sampler.Go(func() { p.sampleUntil(ctx) })
	for _, s := range sc.Steps {
		if !s.fits(l.Client.Version) {
			continue
		}
		if err := p.step(s); err != nil {
			p.result.Err = fmt.Errorf("step %q: %w", s.Line, err)
			break
		}
	}
	cancel()
	sampler.Wait()
	p.result.Samples = p.samples
	return p.result
}

func (p *player) step(s Step) error {
	if p.result.Start.IsZero() && s.Input() && s.Verb != "start" && s.Verb != "env" {
		p.result.Start = time.Now()
	}
	switch s.Verb {
	case "expect", "rows":
		if p.observe == nil { // keep the pace all the same
			time.Sleep(s.For)
			return nil
		}
		p.result.Checks = append(p.result.Checks, p.check(s))
		return nil
	case "env":
		name, value, _ := strings.Cut(s.Args[0], "=")
		p.lab.Home.Extra[name] = value
		return nil
	case "install":
		var err error
		if p.install != nil {
			err = p.install()
		}
		p.origin = time.Now()
		return err
	case "start":
		err := p.start(s)
		p.origin = time.Now()
		return err
	}
	if s.Pane > len(p.panes) {
		return fmt.Errorf("pane %d was not started", s.Pane)
	}
	err := p.act(s, p.panes[s.Pane-1])
	p.origin = time.Now()
	return err
}

// start opens the pane's client and waits for its prompt. A pane that had a
// client gets a new one; $ID in the arguments is the old one's session.
func (p *player) start(s Step) error {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = strings.ReplaceAll(a, "$ID", string(p.id(s.Pane)))
	}
	pane, err := p.lab.Tmux.StartClient(fmt.Sprintf("lab%d-%d", s.Pane, time.Now().UnixNano()), args...)
	if err != nil {
		return err
	}
	p.mu.Lock()
	for len(p.panes) < s.Pane {
		p.panes, p.ids = append(p.panes, nil), append(p.ids, "")
	}
	p.panes[s.Pane-1] = pane
	p.mu.Unlock()
	if err := pane.Ready(); err != nil {
		return err
	}
	time.Sleep(time.Second) // start hooks and first status line
	return nil
}

func (p *player) act(s Step, pane *Pane) error {
	switch s.Verb {
	case "say":
		return pane.Say(s.Args[0])
	case "type":
		return pane.Type(s.Args[0])
	case "key":
		return pressAll(pane, s.Args)
	case "wait":
		d, err := time.ParseDuration(s.Args[0])
		time.Sleep(d)
		return err
	case "signal":
		return signal(pane, s.Args[0])
	case "exec":
		return p.lab.Home.exec(s.Args[0])
	case "screen":
		return pane.WaitFor(s.Args[0], cmp.Or(s.Within, patience))
	case "registry":
		return p.waitRegistry(s, pane)
	case "gone":
		return pane.WaitDead(cmp.Or(s.Within, patience))
	}
	return fmt.Errorf("no verb %q", s.Verb)
}

func pressAll(p *Pane, keys []string) error {
	for i, k := range keys {
		if i > 0 {
			time.Sleep(enterDelay)
		}
		if err := p.Key(k); err != nil {
			return err
		}
	}
	return nil
}

func signal(p *Pane, name string) error {
	sig, ok := map[string]syscall.Signal{
		"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
	}[name]
	if !ok {
		return fmt.Errorf("no signal %q", name)
	}
	return p.Signal(sig)
}

// exec runs a shell command as the home's user, in the project.
func (h *Home) exec(command string) error {
	if out, err := h.Command("/bin/sh", "-c", command).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (p *player) waitRegistry(s Step, pane *Pane) error {
	want, got := s.Args[0], "none"
	for end := time.Now().Add(cmp.Or(s.Within, patience)); time.Now().Before(end); time.Sleep(pollEvery) {
		got = "none"
		for _, r := range p.lab.Home.Registry() {
			if r.PID == pane.Pid {
				got = r.Status
			}
		}
		if got == want {
			return nil
		}
	}
	return fmt.Errorf("the registry says %s, not %s; the screen:\n%s", got, want, pane.Capture())
}

func (p *player) id(pane int) SessionID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pane > len(p.ids) {
		return ""
	}
	return p.ids[pane-1]
}

// check waits until a sample begun after the origin fits, at most Within, and
// then that all samples fit during For.
func (p *player) check(s Step) Check {
	c := Check{Step: s.Line, Want: strings.TrimSpace(s.Args[0] + " " + s.Reason)}
	origin := p.origin
	deadline := origin.Add(cmp.Or(s.Within, time.Second))
	for next := origin; ; {
		sm, ok := p.sampleAfter(next, deadline)
		if !ok {
			c.Got = cmp.Or(c.Got, "no sample in time")
			return c
		}
		c.Took, next = sm.At.Sub(origin), sm.At
		if c.OK, c.Got = s.fitsSample(sm, p.id(s.Pane)); c.OK {
			break
		}
	}
	end := time.Now().Add(s.For)
	for next := origin.Add(c.Took); c.OK && time.Now().Before(end); {
		sm, ok := p.sampleAfter(next, end)
		if !ok {
			break
		}
		next = sm.At
		c.OK, c.Got = s.fitsSample(sm, p.id(s.Pane))
	}
	return c
}

// fitsSample judges one sample and says what it showed.
func (s Step) fitsSample(sm Sample, id SessionID) (ok bool, got string) {
	if s.Verb == "rows" {
		n := 0
		for _, st := range sm.Observed {
			if st.State != "ended" && st.State != "lost" {
				n++
			}
		}
		got = strconv.Itoa(n)
		return got == s.Args[0], got
	}
	st, seen := sm.Observed[id]
	if !seen {
		got = "no such session"
		if sm.Err != "" {
			got = sm.Err
		}
		return s.Args[0] == "absent", got
	}
	return st.State == s.Args[0] && (s.Reason == "" || s.Reason == st.Reason), strings.TrimSpace(st.State + " " + st.Reason)
}

// sampleAfter waits for the first sample begun after t and before the deadline.
func (p *player) sampleAfter(t, deadline time.Time) (Sample, bool) {
	for {
		p.mu.Lock()
		samples := p.samples
		p.mu.Unlock()
		for _, sm := range samples {
			if sm.At.After(t) {
				return sm, !sm.At.After(deadline)
			}
		}
		if time.Now().After(deadline.Add(5 * time.Second)) {
			return Sample{}, false
		}
		time.Sleep(sampleEvery / 5)
	}
}

func (p *player) sampleUntil(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.sample()
		}
	}
}

func (p *player) sample() {
	sm := Sample{At: time.Now(), Registry: p.lab.Home.Registry()}
	if p.observe != nil {
		var err error
		if sm.Observed, err = p.observe(); err != nil {
			sm.Err = err.Error()
		}
		sm.Took = time.Since(sm.At)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, pane := range p.panes {
		ps := PaneSample{}
		for _, r := range sm.Registry {
			if pane != nil && r.PID == pane.Pid && r.SessionID != "" {
				p.ids[i] = SessionID(r.SessionID)
			}
		}
		if pane != nil {
			ps.Pid, ps.Screen, ps.Dead = pane.Pid, ScreenState(pane.Capture()), pane.Dead()
		}
		ps.Session = p.ids[i]
		sm.Panes = append(sm.Panes, ps)
	}
	p.samples = append(p.samples, sm)
}
