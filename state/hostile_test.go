package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"beckon/event"

	"pgregory.net/rapid"
)

// hostile generates changes of every kind from a seed: texts at their limits, times that jump,
// ids that clash.
type hostile struct {
	r  *rand.Rand
	at event.Millis
	// light makes texts short: bounding a session full of long ones is slow.
	light bool
}

func newHostile(seed uint64) *hostile { return &hostile{r: rand.New(rand.NewPCG(seed, 1)), at: t0} }

var badText = [...]string{"a", "\x00", "\x1b[2J", "\xff\xfe", "\u2028", "\"\\", "é", "日", "\U0001f600", "<script>"}

// text returns at most n bytes of one kind of text, often exactly n.
func (h *hostile) text(n int) string {
	switch h.r.IntN(4) {
	case 0:
		return ""
	case 1:
		n = h.r.IntN(n + 1)
	}
	if h.light {
		n = min(n, 24)
	}
	unit := badText[h.r.IntN(len(badText))]
	return event.Cut(strings.Repeat(unit, n/len(unit)+1), n)
}

// id returns one of a few short ids, or a long one.
func (h *hostile) id() string {
	if h.r.IntN(3) > 0 {
		return fmt.Sprintf("id%d", h.r.IntN(40))
	}
	return h.text(event.MaxID)
}

func (h *hostile) time() event.Millis {
	switch h.r.IntN(50) {
	case 0:
		return h.at - event.Millis(h.r.Int64N(100_000))
	case 1:
		return event.Millis(h.r.Int64() - 1<<62)
	}
	h.at += event.Millis(h.r.Int64N(3000))
	return h.at
}

func (h *hostile) change() Change {
	c := Change{Seq: h.r.Int64N(1 << 40), At: h.time()}
	switch h.r.IntN(12) {
	case 0:
		c.Observation = &Observed{
			Source: []Source{FromRegistry, FromProcess, FromTranscript, Source(h.text(event.MaxID))}[h.r.IntN(4)],
			What:   []Seeing{SawHalt, SawApproved, SawWaiting, SawGone, SawAlive, Seeing(h.text(event.MaxID))}[h.r.IntN(6)],
			At:     h.time(), Detail: h.text(event.MaxText),
		}
	case 1:
		c.Action = &Action{Kind: []ActionKind{ActSeen, ActBackburner, ActBackburnerOff, ActRemove}[h.r.IntN(4)], Until: h.time()}
	case 2: // an empty change
	default:
		e := h.event()
		e.At, c.Event = c.At, &e
	}
	return c
}

func (h *hostile) event() event.Event {
	info := event.Kinds[h.r.IntN(len(event.Kinds))]
	e := event.Event{
		Agent: h.text(event.MaxID), Kind: info.Kind, Name: string(info.Kind), Via: h.text(event.MaxID), SessionID: h.text(event.MaxID),
		PromptID: h.text(event.MaxID), TranscriptPath: h.text(event.MaxPath), Cwd: h.text(event.MaxPath), PermissionMode: h.text(event.MaxID),
		Model: h.text(event.MaxID), Source: h.text(event.MaxID), Reason: h.text(event.MaxText),
		Details: h.text(event.MaxText), Prompt: h.text(event.MaxPrompt), FromClient: h.r.IntN(4) == 0, Message: h.text(event.MaxMessage),
		Notification: h.text(event.MaxID), Crons: h.r.IntN(3), HasBackground: h.r.IntN(2) == 0,
		Tool: event.Tool{Name: h.text(event.MaxID), UseID: h.id(), Hash: fmt.Sprint(h.r.IntN(5)),
			Summary: h.text(event.MaxSummary), Ms: h.r.Int64N(5000)},
	}
	if h.r.IntN(2) == 0 {
		e.AgentID, e.AgentType = h.id(), h.text(event.MaxID)
	}
	if h.r.IntN(4) == 0 {
		e.Tool.Name = []string{"AskUserQuestion", "ExitPlanMode", "Bash", "Agent"}[h.r.IntN(4)]
	}
	if h.r.IntN(3) == 0 {
		e.Notification = []string{"idle_prompt", "permission_prompt", "elicitation_complete"}[h.r.IntN(3)]
	}
	if e.HasBackground {
		for range h.r.IntN(event.MaxTasks + 1) {
			e.Background = append(e.Background, event.Task{ID: h.id(), Type: h.text(event.MaxID), Status: h.text(event.MaxID), Description: h.text(event.MaxSummary)})
		}
	}
	if h.r.IntN(8) == 0 {
		e.Origin = h.origin()
	}
	if h.r.IntN(8) == 0 {
		e.Ask = h.ask()
	}
	return e
}

func (h *hostile) ask() *event.Ask {
	a := &event.Ask{Plan: h.text(event.MaxText), Form: []string{h.text(event.MaxText)}}
	a.Suggestions = []string{h.text(event.MaxText)}
	for range h.r.IntN(5) {
		q := event.Question{Header: h.text(event.MaxID), Text: h.text(event.MaxText)}
		for range h.r.IntN(5) {
			q.Options = append(q.Options, event.Option{Label: h.text(event.MaxID), Description: h.text(event.MaxText)})
		}
		a.Questions = append(a.Questions, q)
	}
	return a
}

func (h *hostile) origin() *event.Origin {
	text := func() string { return h.text(event.MaxPath) }
	return &event.Origin{
		Process:  event.Process{Host: text(), Boot: text(), NS: text(), Pid: h.r.IntN(1 << 22), Start: text()},
		Terminal: event.Terminal{Kind: text(), ID: text(), Outer: text(), Tmux: event.Tmux{Socket: text(), Server: 1, Pane: text(), Session: text()}},
		Git:      event.Git{Branch: text(), Head: text(), Repo: text(), Worktree: text(), Common: text()},
		Host:     text(), Entry: text(), Launcher: text(), Project: text(), Seat: text(), ProjectID: text(),
	}
}

// evidence returns arbitrary evidence.
func (h *hostile) evidence() Evidence {
	return Evidence{
		Process:  Presence(h.r.IntN(4)),
		Registry: Registry{Status: []string{"", "idle", "busy", "waiting", "shell", "else"}[h.r.IntN(6)], WaitingFor: []string{"", "input needed"}[h.r.IntN(2)], At: h.at + event.Millis(h.r.Int64N(20_000)-10_000)},
		Halted:   h.at + event.Millis(h.r.Int64N(20_000)-10_000),
	}
}

// limit is the maximum size of a session file.
const limit = 64 << 10

// Whatever changes are folded, a session stays within its size, encodes and decodes without
// loss, and has one verdict, which is Explain's first fact.
func TestHundredThousandHostileChanges(t *testing.T) {
	h := newHostile(7)
	var s Session
	var kept Session // compared later: no Apply may modify it
	var keptJSON []byte
	most := 0
	n := 100_000
	if raced || testing.Short() {
		n = 20_000
	}
	for i := range n {
		h.light = i%2000 >= 100
		c := h.change()
		s = Apply(s, c)
		if i%50 == 0 {
			b := AppendJSON(nil, &s)
			most = max(most, len(b))
			if len(b) > limit {
				t.Fatalf("%d bytes after %d changes", len(b), i+1)
			}
			checkRoundTrip(t, b)
			checkVerdict(t, s, h.evidence(), h.at)
		}
		if i%100 == 0 {
			if now := AppendJSON(nil, &kept); i > 0 && !bytes.Equal(now, keptJSON) {
				t.Fatalf("change %d: a session from before was written to", i)
			}
			kept, keptJSON = s, AppendJSON(nil, &s)
		}
	}
	t.Logf("at most %d bytes", most)
}

// checkRoundTrip checks that a session decoded from b encodes to b again.
func checkRoundTrip(t testing.TB, b []byte) {
	t.Helper()
	back, err := decodeJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := AppendJSON(nil, &back); !bytes.Equal(again, b) {
		t.Fatalf("read and written again\n%s\nwas\n%s", again, b)
	}
}

func checkVerdict(t testing.TB, s Session, ev Evidence, now event.Millis) {
	t.Helper()
	st := Resolve(s, ev, now)
	if !slices.Contains(States[:], st.State) || st.Rule == "" || st.Source == "" {
		t.Fatalf("no verdict: %+v", st)
	}
	if again := Resolve(s, ev, now); again != st {
		t.Fatalf("two verdicts: %+v and %+v", st, again)
	}
	f := Explain(s, ev, now)
	if len(f) == 0 || f[0] != st {
		t.Fatalf("explained by %+v, resolved to %+v", f, st)
	}
	for _, o := range Observe(s, ev, now) {
		next := Apply(s, Change{At: o.At, Observation: &o})
		if slices.Contains(Observe(next, ev, now), o) {
			t.Fatalf("%+v is observed twice", o)
		}
	}
}

// Apply modifies neither its argument nor an earlier result.
func TestApplyLeavesItsInputAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHostile(rapid.Uint64().Draw(t, "seed"))
		var before []Session
		var texts [][]byte
		var s Session
		for i := range rapid.IntRange(1, 80).Draw(t, "changes") {
			h.light = i%8 > 0
			c := h.change()
			var was event.Event
			if c.Event != nil {
				was = *c.Event
				was.Background = slices.Clone(was.Background)
			}
			before, texts = append(before, s), append(texts, AppendJSON(nil, &s))
			s = Apply(s, c)
			if again := Apply(before[len(before)-1], c); !reflect.DeepEqual(again, s) {
				t.Fatalf("two results of one change: %+v and %+v", again, s)
			}
			if c.Event != nil && !reflect.DeepEqual(*c.Event, was) {
				t.Fatalf("the event was changed: %+v, was %+v", *c.Event, was)
			}
		}
		for i := range before {
			if !bytes.Equal(AppendJSON(nil, &before[i]), texts[i]) {
				t.Fatalf("session %d of %d was changed", i, len(before))
			}
		}
	})
}

// The session stays within its size even if every list is full and every text is at its limit,
// of bytes that take six each when encoded.
func TestBoundAtItsWorst(t *testing.T) {
	var s Session
	fillTexts(reflect.ValueOf(&s).Elem(), strings.Repeat("\x00", event.MaxPath))
	s.Schema = Schema
	grow := func(n int, add func(i int)) {
		for i := range n {
			add(i)
		}
	}
	one := s
	one.Actors[0].Calls[0].Asked = 1 // waits, so it must not be dropped
	grow(2*maxActors, func(int) { s.Actors = append(s.Actors, one.Actors[0]) })
	for i := range s.Actors {
		s.Actors[i].Calls = append(slices.Clone(one.Actors[0].Calls), one.Actors[0].Calls...)
	}
	grow(event.MaxTasks, func(int) { s.Stop.Background = append(s.Stop.Background, one.Stop.Background[0]) })
	grow(maxClosed, func(int) { s.Closed = append(s.Closed, one.Closed[0]) })
	grow(maxRecent, func(int) { s.Recent = append(s.Recent, one.Recent[0]) })
	grow(maxSeeing, func(int) { s.Seeing = append(s.Seeing, one.Seeing[0]) })
	s = Apply(s, Change{Seq: 1 << 40, At: t0})
	s.Counted = 1 << 40
	if n := len(AppendJSON(nil, &s)); n > limit {
		t.Errorf("%d bytes", n)
	}
}

// fillTexts sets every text in v and returns their number. Lists get one item each.
func fillTexts(v reflect.Value, text string) (n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return 1
	case reflect.Struct:
		for i := range v.NumField() {
			n += fillTexts(v.Field(i), text)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		n += fillTexts(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		n += fillTexts(v.Index(0), text)
	}
	return n
}
