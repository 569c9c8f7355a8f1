package state

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/transcript"
)

var update = flag.Bool("update", false, "write testdata/agents/MATRIX.md from what is found")

// look is one line of an agent's recording: a hook, or what the screen showed.
type look struct {
	At    int64           `json:"t_ms"`
	Event string          `json:"event"`
	Ppid  int             `json:"ppid"`
	Stdin json.RawMessage `json:"stdin"`

	Truth string `json:"truth"`
	Title string `json:"title"`
	State State  `json:"state"`
}

// played is an agent's recording.
type played struct {
	agent, version, scenario string
	looks                    []look
}

func (p *played) String() string { return p.agent + "/" + p.scenario }

func agentRecordings(t *testing.T) (all []played) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "agents", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		p := played{scenario: strings.TrimSuffix(filepath.Base(file), ".jsonl")}
		p.agent, p.version, _ = strings.Cut(filepath.Base(filepath.Dir(file)), "-")
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var l look
			if err := json.Unmarshal(in.Bytes(), &l); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			p.looks = append(p.looks, l)
		}
		f.Close()
		all = append(all, p)
	}
	return all
}

// recorded is the time at which every recording begins in the tests.
const recorded event.Millis = 1_800_000_000_000

// stage plays a recording into sessions, as the hooks and a reader do.
type stage struct {
	t        *testing.T
	p        *played
	evidence bool
	sessions map[string]*Session
	order    []string // ids of the sessions, the newest last
	gone     bool     // the agent was killed
}

func (s *stage) hook(l *look) {
	if l.Event == "dispose" { // the plugin sends one for each of its sessions
		for _, id := range s.order {
			s.fold(event.Event{Agent: s.p.agent, Kind: event.SessionEnd, Name: l.Event, SessionID: id, At: recorded + event.Millis(l.At)})
		}
		return
	}
	e, err := event.Parse(s.p.agent, l.Event, l.Stdin)
	if err != nil {
		s.t.Fatalf("%s at %d ms: %v", s.p, l.At, err)
	}
	e.At = recorded + event.Millis(l.At)
	s.fold(e)
}

func (s *stage) fold(e event.Event) {
	x := s.sessions[e.SessionID]
	if x == nil {
		if e.Kind == event.SessionEnd {
			return // of an earlier session, which the recording does not have
		}
		x = &Session{}
		s.sessions[e.SessionID] = x
		s.order = append(s.order, e.SessionID)
	}
	*x = Apply(*x, Change{Seq: x.Seq + 1, At: e.At, Event: &e})
}

// sees returns the state of the newest session at t.
func (s *stage) sees(title string, t int64) State {
	if len(s.order) == 0 {
		return "nothing"
	}
	now := recorded + event.Millis(t)
	x := s.sessions[s.order[len(s.order)-1]]
	var ev Evidence
	if s.evidence {
		ev.Process = Alive
		if s.gone {
			ev.Process = Gone
		} else if st := Resolve(*x, ev, now).State; st.AtWork() || st.Asks() { // as in package live
			ev.Registry = x.Titled(transcript.TitleStatus(s.p.agent, title, x.Cwd), now)
		}
		for _, o := range Observe(*x, ev, now) {
			*x = Apply(*x, Change{Seq: x.Seq + 1, At: o.At, Observation: &o})
		}
	}
	return Resolve(*x, ev, now).State
}

// shown plays p and returns the state at each look at the screen.
func (p *played) shown(t *testing.T, evidence bool) (states []State) {
	s := &stage{t: t, p: p, evidence: evidence, sessions: map[string]*Session{}}
	for i := range p.looks {
		l := &p.looks[i]
		if l.Truth == "" {
			s.hook(l)
			continue
		}
		s.gone = s.gone || l.State == Lost || l.State == Ended
		states = append(states, s.sees(l.Title, l.At))
	}
	return states
}

// missed returns, for the table, why beckon cannot show the true state; "" if there is no
// known reason. Only a state shown with evidence has a reason.
func missed(p *played, l *look, got State, evidence bool) string {
	switch {
	case !evidence:
		return ""
	case got == "nothing":
		return ", not to be seen: no hook before the first prompt"
	case p.agent == "codex" && l.State == Failed:
		return ", told by the rollout file, which the recording lacks"
	case p.agent == "copilot" && l.Truth == "/clear":
		return ", not to be seen: no hook of the new session before its prompt"
	case p.agent == "copilot":
		return ", told by events.jsonl, which the recording lacks"
	case p.agent == "droid" && l.State == Working:
		return ", told by the running process"
	case p.agent == "droid":
		return ", told by the session file, which the recording lacks"
	case p.agent == "opencode" && l.State == Question:
		return ", told by beckon's plugin, which did not record"
	}
	return ""
}

// TestAgentMatrix compares what beckon shows of each recording, at each look at its screen,
// with testdata/agents/MATRIX.md.
func TestAgentMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What beckon shows of other agents\n\nEach recording at each look at its screen: what its session was at, what the hooks alone show, and what is shown with evidence beside them.\n\n" +
		"| agent | scenario | screen | truth | hooks alone | with evidence |\n|---|---|---|---|---|---|\n")
	right, all := map[bool]int{}, 0
	for _, p := range agentRecordings(t) {
		alone, with := p.shown(t, false), p.shown(t, true)
		i := 0
		for _, l := range p.looks {
			if l.Truth == "" {
				continue
			}
			cell := func(got State, evidence bool) string {
				if got == l.State || got == Lost && l.State == Ended {
					right[evidence]++
					return "right"
				}
				return string(got) + missed(&p, &l, got, evidence)
			}
			fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s | %s |\n", p.agent, p.version, p.scenario, l.Truth, l.State, cell(alone[i], false), cell(with[i], true))
			i, all = i+1, all+1
		}
	}
	fmt.Fprintf(&b, "\nRight: %d of %d by hooks alone, %d with evidence.\n", right[false], all, right[true])
	file := filepath.Join("..", "testdata", "agents", "MATRIX.md")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("%s is not what is shown now: go test ./state -run TestAgentMatrix -update", file)
	}
}
