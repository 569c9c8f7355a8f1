package tui

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/card"
	"beckon/render/term"
	"beckon/state/request"
	"beckon/state/request/pin"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// requestsMsg is all open requests, the oldest first.
type requestsMsg []card.Request

// drawn is the request on the screen, which a key answers, and how much of it is there.
type drawn struct {
	of    *card.Request // nil for none
	width int
	first int // the panel's line that it begins at
	seen  int // its lines that were on the screen, without a gap
	since time.Time
	ends  struct{ card, always int } // lines of the call, and with the rules to choose from
}

// readTime is how long something must have been on the screen before a key counts for it: the
// time that a terminal may take to draw, and a finger to stop.
const readTime = 500 * time.Millisecond

// asked returns what a row's session asks, or with reply the request that takes a reply.
func (m *model) asked(r *render.Row, reply bool) *card.Request {
	if r == nil || r.Remote != nil {
		return nil
	}
	i := slices.IndexFunc(m.requests, func(o card.Request) bool {
		return o.Record == r.Record() && (o.Kind == request.Reply) == reply
	})
	if i < 0 {
		return nil
	}
	return &m.requests[i]
}

// request writes the whole request. A line that does not fit continues after a broken bar.
func (s *sheet) request(o *card.Request) {
	c := &o.Card
	d := drawn{of: o, width: s.width, first: len(s.lines)}
	if was := s.m.drawn.of; was == nil || was.ID != o.ID {
		s.m.peekTop = 0
	}
	add := func(bar, on string, as role, text string) {
		for part := range strings.SplitSeq(ansi.Hardwrap(text, max(1, s.width-term.Width(bar)), true), "\n") {
			s.lines = append(s.lines, s.m.paint(dim, bar)+s.m.paint(as, part))
			bar = on
		}
	}
	add("", "", strong, c.Title)
	add("", "", dim, c.Where())
	for _, l := range c.Lines {
		add("│ ", "┊ ", card.Colors[l.Kind], l.Text)
	}
	if may := c.May(request.Allow); may != nil {
		add("", "", alarm, may.Error()+"; d refuses it")
	}
	d.ends.card = len(s.lines) - d.first
	for i, a := range c.Always {
		key := "a"
		if len(c.Always) > 1 {
			key = fmt.Sprintf("a %d", i+1)
		}
		add(key+": ", "   ", text, a)
	}
	d.ends.always = len(s.lines) - d.first
	s.m.drawing = d
}

// visible records which part of the request is on the screen: the panel's lines from top to end.
// What was skipped does not count, nor what follows it.
func (s *sheet) visible(top, end int) {
	m, d := s.m, &s.m.drawing
	if d.of == nil {
		return
	}
	was := &m.drawn
	if was.of != nil && was.of.ID == d.of.ID && was.of.Digest == d.of.Digest && was.width == d.width &&
		reflect.DeepEqual(was.of.Card, d.of.Card) {
		d.seen, d.since = was.seen, was.since
	} else {
		d.since = m.wall()
	}
	if now := min(end-d.first, d.ends.always); top-d.first <= d.seen && now > d.seen && !m.tooSmall() {
		d.seen, d.since = now, m.wall()
	}
}

// tooSmall reports whether lines would be cut, so that nothing counts as shown.
func (m *model) tooSmall() bool { return m.width < 24 || m.height < 8 }

// answeredMsg is what became of an answer.
type answeredMsg struct {
	of     card.Request
	answer request.Answer
	doneMsg
}

var answers = map[request.Kind][]struct {
	keys, show, hint string
	do               func(m *model, o card.Request, name string) tea.Cmd
}{
	request.Permission: {
		{"y", "y", "allow", (*model).allow},
		{"d", "d", "deny", (*model).deny},
		{"a", "a", "always", (*model).always},
		{"r", "r", "deny, with words", (*model).refuse},
	},
	request.Plan: {
		{"y", "y", "approve", (*model).allow},
		{"d", "d", "deny", (*model).deny},
		{"r", "r", "send back", (*model).refuse},
	},
	request.Question: {
		{"1 2 3 4 5 6 7 8 9", "1-9", "choose", (*model).allow},
		{"d", "d", "deny", (*model).deny},
		{"r", "r", "own words", (*model).allow},
	},
}

// answerKey applies a key to the request on the screen; used is false if it does not answer that.
func (m *model) answerKey(name string) (cmd tea.Cmd, used bool) {
	o := m.drawn.of
	if o == nil {
		return nil, false
	}
	for _, a := range answers[o.Kind] {
		switch {
		case !slices.Contains(strings.Fields(a.keys), name):
			continue
		case m.sending[o.ID]:
			return m.say("it is being answered"), true
		case m.wall().Sub(m.drawn.since) < readTime:
			m.drawn.since = m.wall() // a key that is held down repeats
			return m.say("this just came: read it, then press " + name + " again"), true
		}
		return a.do(m, *o, name), true
	}
	return nil, false
}

// showAsked shows what the session asks, for a key that answers nothing on the screen.
func (m *model) showAsked() tea.Cmd {
	r := m.current()
	switch {
	case m.opt.Answer == nil:
		return m.say("nothing can be answered from here")
	case m.drawn.of != nil:
		return m.say("that key does not answer this: the last line has those that do")
	case m.asked(r, false) != nil:
		return m.togglePeek()
	case r == nil || !r.NeedsYou || m.opt.WhyNot == nil:
		return m.say("it asks nothing that can be answered from here")
	}
	row := *r
	return m.do(func() (string, error) { return "", m.opt.WhyNot(row) })
}

// shown reports whether that many lines of the request were on the screen, or shows the next of them.
func (m *model) shown(o *card.Request, need int) (tea.Cmd, bool) {
	switch may := o.Card.May(request.Allow); {
	case may != nil:
		return m.fail(may), false
	case m.tooSmall():
		return m.say("the screen is too small to show what it asks"), false
	case m.drawn.seen < need:
		m.peekTop = max(m.peekTop+1, m.drawn.first+m.drawn.seen-1)
		return m.say("there is more to it: read on; the key works at the end"), false
	}
	return nil, true
}

// allow allows a call or plan, or starts to answer questions.
func (m *model) allow(o card.Request, name string) tea.Cmd {
	if cmd, ok := m.shown(&o, m.drawn.ends.card); !ok {
		return cmd
	}
	if o.Kind == request.Question {
		if name == "r" {
			name = ""
		}
		return m.choose1(o, name, map[string]string{})
	}
	return m.give(o, request.Answer{Word: request.Allow}, "")
}

// always asks before it allows with a suggestion of the client's, for calls that nobody has seen yet.
func (m *model) always(o card.Request, _ string) tea.Cmd {
	n := len(o.Card.Always)
	if n == 0 {
		return m.say("the client suggests no rule here: y allows this one")
	}
	if cmd, ok := m.shown(&o, m.drawn.ends.always); !ok {
		return cmd
	}
	label, hint := "always, which?", "the number of a rule above; Esc leaves it"
	if n == 1 {
		label, hint = o.Card.Always[0], "Enter allows it always; Esc leaves it"
	}
	return m.ask(prompt{label: label, hint: hint, enter: func(s string) tea.Cmd {
		i, err := strconv.Atoi(strings.TrimSpace(s))
		if n == 1 {
			i, err = 1, nil
		}
		if err != nil || i < 1 || i > n {
			return m.say(fmt.Sprintf("a number from 1 to %d", n))
		}
		return m.give(o, request.Answer{Word: request.Allow, Always: i}, "")
	}})
}

// deny refuses at once: what is refused can be asked again.
func (m *model) deny(o card.Request, _ string) tea.Cmd {
	return m.give(o, request.Answer{Word: request.Deny}, "")
}

func (m *model) refuse(o card.Request, _ string) tea.Cmd {
	hint := "Enter refuses; what you type tells the agent why; Esc leaves it"
	return m.ask(prompt{label: "refuse " + o.Card.Title, hint: hint, long: true, enter: func(s string) tea.Cmd {
		return m.give(o, request.Answer{Word: request.Deny, Message: strings.TrimSpace(s)}, "")
	}})
}

// choose1 asks for the answer to the next unanswered question; first is what was already
// typed. One option of a single question needs no input.
func (m *model) choose1(o card.Request, first string, answers map[string]string) tea.Cmd {
	questions := o.Choices()
	if len(answers) == len(questions) {
		return m.give(o, request.Answer{Word: request.Allow, Choices: answers}, "")
	}
	q := questions[len(answers)]
	take := func(s string) tea.Cmd {
		text, err := q.Read(s)
		if err != nil {
			return m.fail(err)
		}
		answers[q.Question] = text
		m.prompt = nil
		return m.choose1(o, "", answers)
	}
	if first != "" && len(questions) == 1 && !q.Several {
		return take(first)
	}
	label, hint := q.Question, "the number of an option, or your own words"
	if q.Several {
		hint = "numbers of options (1 3), or your own words"
	}
	if len(questions) > 1 {
		label = fmt.Sprintf("%d of %d: %s", len(answers)+1, len(questions), label)
	}
	m.ask(prompt{label: label, hint: hint, long: true, enter: take})
	m.prompt.put(0, 0, first)
	return nil
}

func (m *model) reply() tea.Cmd {
	r := m.current()
	o := m.asked(r, true)
	switch {
	case r == nil:
		return nil
	case m.opt.Answer == nil:
		return m.showAsked()
	case r.Remote != nil:
		return m.fail(errRemote)
	case o == nil && r.State.AtWork():
		return m.say("it is at work: a reply reaches a session whose turn is over")
	case o == nil:
		return m.say("no hook of it waits for a reply")
	}
	to, hint := *o, "its next prompt; Ctrl+J a new line; Esc leaves it"
	return m.ask(prompt{label: "to " + name(r), hint: hint, long: true, enter: func(s string) tea.Cmd {
		return m.give(to, request.Answer{Word: request.Say, Message: s}, "")
	}})
}

func (m *model) stop() tea.Cmd {
	r := m.current()
	switch {
	case m.opt.Stop == nil:
		return m.showAsked()
	case r == nil:
		return nil
	case r.Remote != nil:
		return m.fail(errRemote)
	case !r.State.InTurn():
		return m.fail(request.ErrIdle)
	}
	row, hint := *r, "Enter stops it; Esc leaves it"
	return m.ask(prompt{label: "stop " + name(r) + " at its next call?", hint: hint, enter: func(string) tea.Cmd {
		m.prompt = nil
		return m.do(func() (string, error) { return m.opt.Stop(row) })
	}})
}

// give gives the answer a to o, and to no other; pin is the user's, if they typed it.
func (m *model) give(o card.Request, a request.Answer, pin string) tea.Cmd {
	a.Request, a.Digest, a.From = o.ID, o.Digest, request.Watch
	if err := o.Fits(a); err != nil {
		return m.fail(err)
	}
	m.prompt = nil
	m.sending[o.ID] = true
	return func() tea.Msg {
		text, err := m.opt.Answer(o, a, pin)
		return answeredMsg{o, a, doneMsg{text: text, err: err}}
	}
}

// answered takes a request off the screen, and selects the next session that needs the user. If the
// answer takes the user's PIN, it asks for that.
func (m *model) answered(msg answeredMsg) {
	delete(m.sending, msg.of.ID)
	if wrong := errors.Is(msg.err, pin.ErrWrong); wrong || errors.Is(msg.err, request.ErrPIN) {
		m.ask(prompt{label: "PIN", hint: "your PIN for answers; Esc leaves it", secret: true,
			enter: func(typed string) tea.Cmd { return m.give(msg.of, msg.answer, typed) }})
		if wrong {
			m.fail(pin.ErrWrong)
		}
		return
	}
	i := slices.IndexFunc(m.requests, func(o card.Request) bool { return o.ID == msg.of.ID })
	if msg.err == nil && i >= 0 {
		m.requests = slices.Delete(slices.Clone(m.requests), i, i+1)
		if r := m.current(); r != nil && r.Record() == msg.of.Record && m.asked(r, false) == nil {
			m.chooseNext(render.GroupNeedsYou)
		}
	}
	m.done(msg.doneMsg)
}

func (m *model) answerHints() (keys []binding) {
	o := m.drawn.of
	if o == nil {
		r := m.current()
		if m.peek && m.opt.Answer != nil && m.asked(r, true) != nil {
			keys = []binding{{keys: "r", show: "r", hint: "reply"}}
		}
		return keys
	}
	for _, a := range answers[o.Kind] {
		always := a.hint == "always"
		if (o.Card.Whole || a.show == "d") && (!always || len(o.Card.Always) > 0) {
			keys = append(keys, binding{keys: a.keys, show: a.show, hint: a.hint})
		}
	}
	more := []binding{{show: "S", hint: "stop"}, {show: "n", hint: "next"}, {show: "Enter", hint: "jump"}}
	return append(keys, more...)
}
