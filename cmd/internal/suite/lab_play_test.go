//go:build unix

package suite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// player plays one scenario. The sampler's goroutine and the steps share it.
type player struct {
	lab     *Lab
	install func() error
	observe Observe
	origin  time.Time // end of the last step that was not a check
	last    string    // that step
	result  Result

	mu      sync.Mutex
	panes   []*Pane
	ids     []SessionID // by pane, the last one known
	samples []Sample
}

// Play plays the scenario in this lab and returns everything observed; install runs at the
// step of that name (nil: nothing). Clients still run when it returns; Close ends them.
func (l *Lab) Play(sc Scenario, install func() error, observe Observe) Result {
	p := &player{lab: l, install: install, observe: observe, result: Result{Scenario: sc.Name, Version: l.Client.Version}}
	ctx, cancel := context.WithCancel(context.Background())
	var sampler sync.WaitGroup
	sampler.Go(func() { p.sampleUntil(ctx) })
	for _, s := range sc.Steps {
		if !s.fits(l.Client) {
			continue
		}
		if s.Verb != "expect" {
			p.last = s.Line
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
			time.Sleep(max(s.For, time.Second))
			if s.Verb == "expect" && p.lab.Client.Agent != nil {
				p.result.Looks = append(p.result.Looks, Look{time.Now(), p.last, p.panes[s.Pane-1].Title(), s.Args[0]})
			}
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

// start opens the pane's client and waits for its prompt, which -p does not have. A pane that
// had a client gets a new one; $ID in the arguments is the previous one's session.
func (p *player) start(s Step) error {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = strings.ReplaceAll(a, "$ID", string(p.id(s.Pane)))
	}
	dir, agent := p.lab.Home.Project, p.lab.Client.Agent
	if agent != nil {
		dir = p.lab.Home.Dirs()[s.Pane-1]
		if slices.Equal(args, []string{"resume"}) {
			args = agent.resume
		}
	}
	pane, err := p.lab.Tmux.StartClientIn(fmt.Sprintf("lab%d-%d", s.Pane, time.Now().UnixNano()), dir, args...)
	if err != nil {
		return err
	}
	p.mu.Lock()
	for len(p.panes) < s.Pane {
		p.panes, p.ids = append(p.panes, nil), append(p.ids, "")
	}
	p.panes[s.Pane-1] = pane
	p.mu.Unlock()
	if slices.Contains(args, "-p") {
		return nil
	}
	if err := pane.Ready(); err != nil {
		return err
	}
	time.Sleep(time.Second) // start hooks and the first status line
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
	case "do":
		return p.lab.Client.Agent.press(pane, s.Args[0])
	case "shows":
		return p.waitShown(s, pane)
	case "screen":
		return waitFor(pane.latest, s.Args[0], cmp.Or(s.Within, patience))
	case "registry":
		return p.waitRegistry(s, pane)
	case "gone":
		return pane.WaitDead(cmp.Or(s.Within, patience))
	}
	return fmt.Errorf("no verb %q", s.Verb)
}

// waitShown waits until the screen shows the state.
func (p *player) waitShown(s Step, pane *Pane) error {
	got := ""
	for end := time.Now().Add(cmp.Or(s.Within, patience)); time.Now().Before(end); time.Sleep(pollEvery) {
		if got = p.lab.Client.Agent.look(pane.Capture(), pane.Title()).State; got == s.Args[0] {
			return nil
		}
	}
	return fmt.Errorf("the screen shows %q, not %s:\n%s", got, s.Args[0], pane.Capture())
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
