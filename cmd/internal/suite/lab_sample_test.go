//go:build unix

package suite

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"
)

// Within is how long a check waits by default.
const Within = 3 * time.Second

// check waits until a sample that began after the origin matches, at most Within, and then
// until all samples during For have matched.
func (p *player) check(s Step) Check {
	origin := p.origin
	c := Check{Step: s.Line, Want: strings.TrimSpace(s.Args[0] + " " + s.Reason), Pane: s.Pane, After: p.last, Since: origin}
	deadline := origin.Add(cmp.Or(s.Within, Within))
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

// fitsSample checks one sample and returns what it showed.
func (s Step) fitsSample(sm Sample, id SessionID) (ok bool, got string) {
	if s.Verb == "rows" {
		n := 0
		for _, st := range sm.Observed {
			if !st.over() {
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
		if agent := p.lab.Client.Agent; agent != nil && pane != nil {
			p.ids[i] = cmp.Or(sessionIn(sm.Observed, p.lab.Home.Dirs()[i]), p.ids[i])
			ps.Pid, ps.Dead, ps.Title = pane.Pid, pane.Dead(), pane.Title()
			ps.Screen = agent.look(pane.Capture(), ps.Title).State
		} else if pane != nil {
			ps.Pid, ps.Screen, ps.Dead = pane.Pid, ScreenState(pane.Capture()), pane.Dead()
		}
		ps.Session = p.ids[i]
		sm.Panes = append(sm.Panes, ps)
	}
	p.samples = append(p.samples, sm)
}

// sessionIn returns the session that works in dir: the newest of those that have not ended,
// else of all.
func sessionIn(all map[SessionID]State, dir string) SessionID {
	var found SessionID
	better := func(a, b State) bool {
		if over := a.over(); over != b.over() {
			return !over
		}
		return a.Since.After(b.Since)
	}
	for id, st := range all {
		if st.Dir == dir && (found == "" || better(st, all[found])) {
			found = id
		}
	}
	return found
}

func (s State) over() bool { return s.State == "ended" || s.State == "lost" }
