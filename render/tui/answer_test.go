package tui

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/card"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// offered returns a request of a session, made from a client's payload.
func offered(id, record string, kind request.Kind, payload string) card.Request {
	o := request.Request{ID: id, Kind: kind, Record: record, Session: record, Cwd: "/home/u/shop", Branch: "main", Host: "here",
		Tool: "Bash", Payload: []byte(payload), Digest: request.Digest([]byte(payload)), Made: t0}
	return card.Request{Request: o, Card: card.Of(&o, "here")}
}

func bash(id, command string) card.Request {
	return offered(id, "s-ask", request.Permission, fmt.Sprintf(`{"tool_input":{"command":%q},"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`, command))
}

const colours = `{"tool_input":{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}}`
const fruits = `{"tool_input":{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]},` +
	`{"question":"Which fruits?","multiSelect":true,"options":[{"label":"Apple"},{"label":"Pear"},{"label":"Plum"}]}]}}`

// answering is a rig that records answers, with a clock that the test sets.
type answering struct {
	*rig
	at    time.Time
	given []request.Answer
	fails error
}

func newAnswering(t *testing.T, width, height int, offers ...card.Request) *answering {
	t.Helper()
	r := &answering{rig: newRig(t, width, height, day()), at: start}
	r.wall = func() time.Time { return r.at }
	r.opt.Answer = func(o card.Request, a request.Answer, _ string) (string, error) {
		if err := o.Fits(a); err != nil {
			t.Errorf("an answer that does not fit: %v", err)
		}
		r.given = append(r.given, a)
		return "taken", r.fails
	}
	r.opt.Stop = func(row render.Row) (string, error) {
		r.did = append(r.did, "stop "+row.SessionID)
		return "stops", nil
	}
	r.Update(requestsMsg(offers))
	for i := range r.rows {
		if r.rows[i].SessionID == "s-ask" {
			r.choose(i)
		}
	}
	return r
}

// read gives the user time to read what is on the screen.
func (r *answering) read() { r.at = r.at.Add(readTime) }

func (r *answering) slowly(names ...string) {
	r.t.Helper()
	for _, n := range names {
		_, cmd := r.Update(key(n))
		r.settle(cmd)
		r.read()
	}
}

func (r *answering) last() request.Answer {
	r.t.Helper()
	if len(r.given) == 0 {
		r.t.Fatalf("no answer was given:\n%s", r.plainScreen())
	}
	return r.given[len(r.given)-1]
}

func TestAnswerKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     card.Request
		keys   string
		word   request.Word
		detail string
	}{
		{"allow", bash("A", "make"), "y", request.Allow, ""},
		{"always", bash("A", "make"), "a enter", request.Allow, "always 1"},
		{"deny", bash("A", "make"), "d", request.Deny, ""},
		{"deny with words", bash("A", "make"), "r n o t enter", request.Deny, "not"},
		{"option", offered("A", "s-ask", request.Question, colours), "2", request.Allow, "map[Which colour?:Blue]"},
		{"own words", offered("A", "s-ask", request.Question, colours), "r p i n k enter", request.Allow, "map[Which colour?:pink]"},
		{"several", offered("A", "s-ask", request.Question, fruits), "1 enter 1 space 3 enter", request.Allow, "map[Which colour?:Red Which fruits?:Apple, Plum]"},
		{"commas", offered("A", "s-ask", request.Question, fruits), "1 enter 1 , 2 enter", request.Allow, "map[Which colour?:Red Which fruits?:Apple, Pear]"},
		{"refused question", offered("A", "s-ask", request.Question, colours), "d", request.Deny, ""},
		{"plan", offered("A", "s-ask", request.Plan, `{"tool_input":{"plan":"1. go"}}`), "y", request.Allow, ""},
		{"plan back", offered("A", "s-ask", request.Plan, `{"tool_input":{"plan":"1. go"}}`), "r a b left x enter", request.Deny, "axb"},
		{"reply", offered("A", "s-ask", request.Reply, `{}`), "r g o enter", request.Say, "go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newAnswering(t, 80, 24, c.of)
			r.slowly("space")
			r.slowly(strings.Fields(c.keys)...)
			a := r.last()
			detail := a.Message
			if a.Always != 0 {
				detail += fmt.Sprint("always ", a.Always)
			}
			if a.Choices != nil {
				detail += fmt.Sprint(a.Choices)
			}
			if len(r.given) != 1 || a.Request != "A" || a.Digest != c.of.Digest || a.From != request.Watch || a.Word != c.word || detail != c.detail {
				t.Errorf("gave %+v (%s)\n%s", r.given, detail, r.plainScreen())
			}
			r.wantOn("taken")
		})
	}
}

// "Always" takes Enter, since it allows what nobody has seen yet; Esc leaves it.
func TestAlwaysAsks(t *testing.T) {
	r := newAnswering(t, 80, 24, bash("A", "make"))
	r.slowly("space", "a")
	r.wantOn("accept all edits, in this session", "Enter allows it always")
	r.slowly("esc")
	if len(r.given) != 0 {
		t.Errorf("one key gave %+v", r.given)
	}
}

// After an answer the next session that needs the user is selected; a refused answer stays.
func TestAnswerGoesOn(t *testing.T) {
	r := newAnswering(t, 80, 24, bash("A", "make"))
	r.fails = errors.New("the request is over")
	r.slowly("space", "d")
	if id := r.current().SessionID; id != "s-ask" {
		t.Errorf("after an answer that failed: %s", id)
	}
	r.fails = nil
	r.slowly("d")
	if id := r.current().SessionID; id != "s-fail" {
		t.Errorf("after an answer: %s", id)
	}
	r.wantOn("x failed (new) for")
}

// Without a panel nothing on the screen can be answered: the key opens it.
func TestAnswerShowsFirst(t *testing.T) {
	r := newAnswering(t, 80, 24, bash("A", "make all"))
	r.slowly("y")
	r.wantOn("│ make all", "/home/u/shop (main) on here", "a: accept all edits, in this session", "y allow", "d deny")
	if len(r.given) != 0 {
		t.Fatal("allowed what was not on the screen")
	}
	r.slowly("y")
	r.last()

	r = newAnswering(t, 80, 24)
	r.slowly("y", "a", "3")
	r.wantOn("asks nothing")
	r.slowly("space", "r")
	r.wantOn("no hook of it waits")
}

func TestStopKey(t *testing.T) {
	r := newAnswering(t, 80, 24, bash("A", "make"))
	r.slowly("space", "S")
	r.wantOn("stop shop at its next call?")
	r.slowly("esc")
	r.wantDid()
	r.slowly("S", "enter")
	r.wantDid("stop s-ask")
}

// A card that does not fit must be shown to its end before a key allows it.
func TestAnswerReadsOn(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("echo line-%02d", i))
	}
	for _, size := range [][2]int{{80, 24}, {160, 30}, {30, 12}} {
		r := newAnswering(t, size[0], size[1], bash("A", strings.Join(lines, "\n")))
		r.slowly("space")
		on := map[string]bool{}
		for n := 0; len(r.given) == 0; n++ {
			if n > 100 {
				t.Fatalf("y never came to the end:\n%s", r.plainScreen())
			}
			for _, l := range lines {
				on[l] = on[l] || strings.Contains(r.plainScreen(), l)
			}
			r.slowly("y")
		}
		for _, l := range lines {
			if !on[l] {
				t.Errorf("%v: allowed, and %q was never on the screen", size, l)
			}
		}
	}
	// Jumping to the end does not count as reading it.
	r := newAnswering(t, 80, 24, bash("A", strings.Join(lines, "\n")))
	r.slowly("space")
	r.peekTop = 50
	r.slowly("down", "up", "y")
	if len(r.given) != 0 {
		t.Error("allowed what was skipped")
	}
	// A key that is held down pages, and does not allow.
	r = newAnswering(t, 80, 24, bash("A", strings.Join(lines, "\n")))
	r.slowly("space")
	for range 200 {
		r.at = r.at.Add(30 * time.Millisecond)
		r.press("y")
	}
	if len(r.given) != 0 {
		t.Error("a key held down allowed")
	}
}

func TestAnswerRefuses(t *testing.T) {
	cut := bash("A", "make")
	cut.Card.Whole, cut.Card.Why = false, "too long"
	r := newAnswering(t, 80, 24, cut)
	r.slowly("space", "y", "a")
	if len(r.given) != 0 {
		t.Error("allowed what is not whole")
	}
	r.wantOn("not all of it can be shown (too long)")
	r.slowly("d")
	if r.last().Word != request.Deny {
		t.Error("it could not be refused")
	}

	r = newAnswering(t, 20, 24, bash("A", "make"))
	r.slowly("space", "y", "y")
	if len(r.given) != 0 {
		t.Error("allowed on a screen that cuts lines")
	}
	r.wantOn("the screen is too s")

	r = newAnswering(t, 80, 24, bash("A", "make"))
	r.fails = errors.New("answered already: deny, by kim from page")
	r.slowly("space", "y")
	r.wantOn("! answered already: deny, by kim from page")

	r = newAnswering(t, 80, 24, bash("A", "make"))
	r.slowly("space")
	_, cmd := r.Update(key("y"))
	r.read()
	r.slowly("y")
	r.wantOn("it is being answered")
	r.settle(cmd)
	if len(r.given) != 1 {
		t.Errorf("two answers: %+v", r.given)
	}
}

// A request whose card has changed (a file changed meanwhile) is not the one that was read.
func TestAnswerOfAChangedCard(t *testing.T) {
	r := newAnswering(t, 80, 24, bash("A", "make"))
	r.slowly("space")
	other := bash("A", "make")
	other.Card.Lines = []card.Line{{Kind: card.Add, Text: "+rm"}}
	r.Update(requestsMsg{other})
	r.press("y")
	if len(r.given) != 0 {
		t.Error("allowed what had just changed")
	}
	r.wantOn("just came")
	r.slowly("y") // the clock has not moved
	r.slowly("y")
	r.last()
}

// Requests come and go between keys. A key answers only what was on the screen when it was
// pressed, and had been there for a while.
func TestKeysRaceOffers(t *testing.T) {
	given := 0
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newAnswering(t, 100, 24)
		r.slowly("space")
		command := map[string]string{}
		var open []card.Request
		var since time.Time // when the question on the screen last changed
		shown := ""
		asks := func() string {
			for id, c := range command {
				if strings.Contains(r.plainScreen(), "│ "+c) {
					return id
				}
			}
			return ""
		}
		look := func() {
			if now := asks(); now != shown {
				shown, since = now, r.at
			}
		}
		for step := range 60 {
			r.at = r.at.Add(time.Duration(rnd.IntN(700)) * time.Millisecond)
			switch rnd.IntN(4) {
			case 0:
				o := bash(fmt.Sprintf("%d-%d", seed, step), fmt.Sprintf("run-%d-%d.", seed, step))
				o.Made += event.Millis(step)
				command[o.ID] = fmt.Sprintf("run-%d-%d.", seed, step)
				open = append(open, o)
				r.Update(requestsMsg(append([]card.Request(nil), open...)))
			case 1:
				if len(open) > 0 {
					i := rnd.IntN(len(open))
					open = append(append([]card.Request(nil), open[:i]...), open[i+1:]...)
					r.Update(requestsMsg(append([]card.Request(nil), open...)))
				}
			default:
				was, from, n := shown, since, len(r.given)
				r.press([]string{"y", "a", "y"}[rnd.IntN(3)])
				for _, a := range r.given[n:] {
					if given++; a.Request != was || r.at.Sub(from) < readTime {
						t.Fatalf("seed %d: %s was answered, and %q was on the screen for %v", seed, a.Request, was, r.at.Sub(from))
					}
				}
			}
			look()
		}
	}
	if given < 100 {
		t.Errorf("only %d answers: the race tests nothing", given)
	}
}

// A line that was begun for one request is not sent to the next.
func TestTypedForOneOffer(t *testing.T) {
	first, second := bash("A", "one"), bash("B", "two")
	r := newAnswering(t, 80, 24, first, second)
	r.slowly("space", "r", "x")
	r.Update(requestsMsg{second})
	r.fails = errors.New("the offer is over")
	r.slowly("enter")
	if a := r.last(); a.Request != "A" || a.Digest != first.Digest {
		t.Errorf("gave %+v", a)
	}
}

func TestLineEditor(t *testing.T) {
	r := newAnswering(t, 80, 24, offered("A", "s-ask", request.Reply, `{}`))
	r.slowly("space")
	r.wantOn("r reply")
	r.slowly("r", "b", "c", "home", "a", "end", "d", "left", "left", "ctrl+k", "ctrl+j", "é", "space", "z", "ctrl+w")
	r.wantOn("ab⏎é ▏")
	r.slowly("enter")
	if m := r.last().Message; m != "ab\né " {
		t.Errorf("said %q", m)
	}
}

// Ctrl+W takes a word of the line that it is in.
func TestLineEditorWord(t *testing.T) {
	r := newAnswering(t, 80, 24, offered("A", "s-ask", request.Reply, `{}`))
	r.slowly("space", "r", "a", "ctrl+j", "b", "ctrl+w")
	r.wantOn("a⏎▏")
	r.slowly("ctrl+w")
	if r.prompt.typed() != "" {
		t.Errorf("left %q", r.prompt.typed())
	}
}

// Text that is not printable ASCII is not lost between the lines of a card.
func TestCardIsWrappedWhole(t *testing.T) {
	for _, command := range []string{strings.Repeat("x", 500), strings.Repeat("日本", 99), "  lead   and trail   " + strings.Repeat(" ", 200) + "; rm -rf", strings.Repeat("e\u0301", 90)} {
		r := newAnswering(t, 50, 40, bash("A", command))
		r.slowly("space")
		var got strings.Builder
		for l := range strings.SplitSeq(r.plainScreen(), "\n") {
			for _, bar := range []string{"│ ", "┊ "} {
				if _, rest, ok := strings.Cut(l, bar); ok {
					got.WriteString(rest)
				}
			}
		}
		if strings.TrimRight(got.String(), " ") != strings.TrimRight(command, " ") {
			t.Errorf("the screen has %q of %q\n%s", got.String(), command, r.plainScreen())
		}
	}
}

func (r *answering) wantDid(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.did, want) {
		r.t.Errorf("did %q, want %q\n%s", r.did, want, r.plainScreen())
	}
}

// Where the user has a PIN, the screen asks for it, unseen and as often as it is wrong, and then
// gives the answer.
func TestAnswerWithPIN(t *testing.T) {
	r := newAnswering(t, 80, 24, bash("A", "make"))
	give := r.opt.Answer
	r.opt.Answer = func(o card.Request, a request.Answer, typed string) (string, error) {
		switch typed {
		case "":
			return "", fmt.Errorf("%s: %w", o.Card.Title, request.ErrPIN)
		case "4711":
			return give(o, a, typed)
		}
		return "", fmt.Errorf("%s: %w", o.Card.Title, pin.ErrWrong)
	}
	r.slowly("space", "y")
	r.wantOn("your PIN for answers")
	r.slowly("esc")
	if len(r.given) != 0 || len(r.sending) != 0 {
		t.Errorf("left, and %+v is given, %v under way", r.given, r.sending)
	}
	r.slowly("y", "4", "7", "enter")
	r.wantOn("this is not your PIN")
	r.slowly("4", "7", "1", "1")
	if strings.Contains(r.plainScreen(), "4711") {
		t.Error("the PIN is shown")
	}
	r.slowly("enter")
	if len(r.given) != 1 || r.given[0].Word != request.Allow {
		t.Errorf("gave %+v\n%s", r.given, r.plainScreen())
	}
	r.wantOn("taken")
}
