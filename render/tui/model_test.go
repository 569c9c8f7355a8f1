package tui

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/store"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

const t0 = event.Millis(1_800_000_000_000)

var start = t0.Time()

// session folds events a second apart, the first at t0.
func session(id, project string, kinds ...event.Kind) state.Session {
	var s state.Session
	for i, k := range kinds {
		e := event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: id, At: t0 + event.Millis(i)*1000,
			Cwd: "/home/u/" + project, Prompt: "do the thing", Reason: "rate_limit", Message: "It is all done.", HasBackground: k == event.Stop,
			Tool: event.Tool{Name: "Bash", UseID: "t1", Hash: "h", Summary: "Bash: make " + id}}
		if k == event.PermissionRequest {
			e.Tool.UseID = ""
		}
		if i == 0 {
			e.Origin = &event.Origin{Seat: "seat-" + id, Host: "here", Project: "/home/u/" + project, Git: event.Git{Branch: "main", Repo: project}}
		}
		s = state.Apply(s, state.Change{Seq: int64(i + 1), At: e.At, Event: &e})
	}
	return s
}

var (
	asks  = []event.Kind{event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest}
	works = []event.Kind{event.SessionStart, event.UserPromptSubmit, event.PreToolUse}
	fails = []event.Kind{event.SessionStart, event.UserPromptSubmit, event.StopFailure}
	done  = []event.Kind{event.SessionStart, event.UserPromptSubmit, event.Stop}
	fresh = []event.Kind{event.SessionStart}
	ended = []event.Kind{event.SessionStart, event.UserPromptSubmit, event.Stop, event.SessionEnd}
)

// snapshot resolves sessions a minute after t0.
func snapshot(sessions ...state.Session) Snapshot {
	s := Snapshot{Now: start.Add(time.Minute), Seen: map[string]state.Seen{}}
	var seen []state.Seen
	for _, x := range sessions {
		v := state.Seen{Session: x, Status: state.Resolve(x, state.Evidence{}, t0+60_000)}
		seen, s.Seen[x.ID] = append(seen, v), v
	}
	s.Rows = render.Rows(seen, true)
	return s
}

func day() Snapshot {
	return snapshot(session("s-work", "api", works...), session("s-ask", "shop", asks...), session("s-fail", "web", fails...),
		session("s-done", "docs", done...), session("s-idle", "infra", fresh...), session("s-end", "old", ended...))
}

// rig is a model whose clock stands still, and a record of what was done.
type rig struct {
	*model
	t   *testing.T
	did []string
}

func newRig(t *testing.T, width, height int, s Snapshot) *rig {
	t.Helper()
	r := &rig{t: t}
	note := func(what string) func(...render.Row) error {
		return func(rows ...render.Row) error {
			for _, row := range rows {
				what += " " + row.SessionID
			}
			r.did = append(r.did, what)
			return nil
		}
	}
	r.model = newModel(Options{
		Poke: func() {},
		Jump: func(row render.Row) (string, error) { return "went to " + row.SessionID, note("jump")(row) },
		Act: func(a state.Action, rows ...render.Row) error {
			what := string(a.Kind)
			if a.Until > 0 {
				what += " " + a.Until.Time().Format("02 15:04")
			} else if a.Until < 0 {
				what += " needed"
			}
			what = strings.TrimSpace(what + " " + a.Label)
			return note(what)(rows...)
		},
		Recent: func(render.Row, state.Session) Past {
			return Past{Turns: []store.Turn{{Turn: state.Turn{At: t0, Actor: state.SpeakerUser, Text: "an old wish"}}}}
		},
	})
	r.wall = func() time.Time { return start }
	r.Update(tea.WindowSizeMsg{Width: width, Height: height})
	r.Update(lookMsg{snapshot: s})
	return r
}

// press presses keys by their names and runs the resulting commands.
func (r *rig) press(names ...string) {
	r.t.Helper()
	for _, n := range names {
		_, cmd := r.Update(key(n))
		r.settle(cmd)
	}
}

func (r *rig) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			r.settle(c)
		}
	case doneMsg, recentMsg, answeredMsg:
		r.Update(msg)
	}
}

func key(name string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "left": tea.KeyLeft, "right": tea.KeyRight, "tab": tea.KeyTab, "delete": tea.KeyDelete}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// plainScreen returns what is on the screen, without colours.
func (r *rig) plainScreen() string { return ansi.Strip(r.View().Content) }

func (r *rig) wantOn(parts ...string) {
	r.t.Helper()
	for _, p := range parts {
		if !strings.Contains(r.plainScreen(), p) {
			r.t.Errorf("the screen lacks %q:\n%s", p, r.plainScreen())
		}
	}
}

func (r *rig) order() (ids []string) {
	for i := range r.rows {
		ids = append(ids, r.rows[i].SessionID)
	}
	return ids
}

func TestGroupsComeByNeed(t *testing.T) {
	r := newRig(t, 100, 30, day())
	want := []string{"s-fail", "s-ask", "s-work", "s-done", "s-idle"} // the failure is older than the wait
	if got := r.order(); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
	r.wantOn("ENDED 1, e shows them")
	r.press("e")
	want = append(want, "s-end")
	if got := r.order(); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
	at := 0
	for _, h := range []string{"NEEDS YOU 2", "WORKING 1", "DONE 1", "IDLE 1", "ENDED 1"} {
		i := strings.Index(r.plainScreen()[at:], h)
		if i < 0 {
			t.Fatalf("no heading %q after the one before:\n%s", h, r.plainScreen())
		}
		at += i
	}
	r.wantOn("2 need you", "Bash: make s-ask", "57s", "rate limit")
}

func TestEveryKeyDoesWhatHelpSays(t *testing.T) {
	r := newRig(t, 100, 30, day())
	r.press("j", "enter", "m")
	r.press("e", "end", "delete", "e")
	r.press("home", "X") // not ended: refused
	r.wantOn("it has not ended")
	r.press("b", "w", "4") // w means nothing here
	r.press("b", "enter")
	r.press("b", "esc")
	want := []string{"jump s-ask", "seen s-ask", "remove s-end", "backburner needed s-fail", "backburner s-fail"}
	if !slices.Equal(r.did, want) {
		t.Errorf("did %q\nwant %q", r.did, want)
	}
	r.press("home", "n", "n")
	if r.rows[r.cursor].SessionID != "s-fail" {
		t.Errorf("n went to %q, want around to s-fail", r.rows[r.cursor].SessionID)
	}
	r.press("?")
	for _, b := range bindings() {
		r.wantOn(b.help)
	}
	r.press("down", "esc")
	if r.help || r.cursor != 0 || len(r.did) != len(want) {
		t.Errorf("Esc closes help and does nothing else: help %v, cursor %d, did %q", r.help, r.cursor, r.did)
	}
	if _, cmd := r.Update(key("q")); cmd == nil {
		t.Error("q does not quit")
	}
}

func TestHelpRunsWhatItFinds(t *testing.T) {
	for _, width := range []int{100, 40} {
		r := newRig(t, width, 14, day())
		r.press("?", "s", "e", "e", "n")
		r.wantOn("mark as seen", "undo seen")
		if s := r.plainScreen(); strings.Contains(s, "a page up") || strings.Contains(s, "NEEDS YOU") {
			t.Errorf("keys without the word are shown, or the list is:\n%s", s)
		}
		r.press("enter")
		if want := []string{"seen s-fail"}; r.help || !slices.Equal(r.did, want) {
			t.Errorf("Enter: help %v, did %q, want %q", r.help, r.did, want)
		}
		r.press("?", "s", "e", "e", "n", "down", "up", "down", "down", "enter")
		r.wantOn("there is nothing to undo")
		r.press("?", "n", "o", "n", "e", "enter")
		r.press("?", "d", "e", "n", "y", "enter") // the answers are not offered here
		r.wantOn("nothing can be answered from here")
		if len(r.did) != 1 {
			t.Errorf("did %q", r.did)
		}
	}
}

func TestSeveralAtOnce(t *testing.T) {
	r := newRig(t, 100, 30, day())
	r.press("x", "x", "x")
	r.wantOn("3 marked", "•x failed", "•! permission", "•* working")
	r.press("k", "x") // takes a mark off
	r.wantOn("2 marked", " * working")
	r.press("m")
	r.wantOn("seen: 2 sessions")
	r.press("home", "x", "x", "X")
	r.wantOn("it has not ended")
	r.press("/", "d", "o", "c", "s", "enter", "m")
	r.wantOn("the list does not show the marked rows")
	r.press("esc", "esc", "m")
	r.press("home", "x", "x", "b", "4")
	want := []string{"seen s-fail s-ask", "seen s-done", "backburner needed s-fail s-ask"}
	if !slices.Equal(r.did, want) {
		t.Errorf("did %q, want %q", r.did, want)
	}
}

// b sets aside by one key, in the user's own time.
func TestSetAsideForATime(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	time.Local = time.UTC
	for hour, want := range map[int][]string{ // the sessions are of 08:00 on the 15th
		0: {"15 09:01", "15 18:00", "16 09:00"}, 9: {"15 18:01", "15 18:00", "16 09:00"}, 10: {"15 19:01", "15 19:01", "16 09:00"}, 15: {"16 00:01", "16 00:01", "16 09:00"},
	} {
		s := day()
		s.Now = s.Now.Add(time.Duration(hour) * time.Hour)
		r := newRig(t, 40, 24, s)
		for i, at := range want {
			r.did = nil
			r.press("home", "b")
			r.wantOn("1 1h", "3 9:00", "4 needs you")
			r.press(strconv.Itoa(i + 1))
			if want := []string{"backburner " + at + " s-fail"}; !slices.Equal(r.did, want) {
				t.Errorf("%d hours later key %d: did %q, want %q", hour, i+1, r.did, want)
			}
		}
	}
	late := day()
	late.Now = late.Now.Add(11 * time.Hour)
	r := newRig(t, 100, 24, late)
	r.press("b")
	r.wantOn("2 until 20:01  3")
	r = newRig(t, 100, 24, day())
	r.press("b")
	r.wantOn("set web aside  1 an hour  2 this evening, 18:00  3 tomorrow, 9:00  4 until it needs you")
}

// z takes back the newest mark, of all sessions that it was made for, removed ones too.
func TestUndoOnTheScreen(t *testing.T) {
	mark := func(s state.Session, at event.Millis, kind state.ActionKind) state.Session {
		return state.Apply(s, state.Change{At: t0 + at, Action: &state.Action{Kind: kind}})
	}
	gone := mark(session("s-gone", "old", ended...), 9000, state.ActRemove)
	one, two := session("s-one", "one", done...), session("s-two", "two", done...)
	s := snapshot(mark(one, 8000, state.ActSeen), mark(two, 8000, state.ActSeen), gone)
	s.Rows = slices.DeleteFunc(s.Rows, func(r render.Row) bool { return r.SessionID == "s-gone" })
	r := newRig(t, 80, 24, s)
	r.press("z")
	r.wantOn("no longer removed: old")
	one, two = mark(one, 8000, state.ActSeen), mark(two, 8000, state.ActSeen)
	r.Update(lookMsg{snapshot: snapshot(one, two, mark(gone, 9500, state.ActUndo))})
	r.press("z")
	r.wantOn("no longer seen: 2 sessions")
	r.Update(lookMsg{snapshot: snapshot(mark(one, 9500, state.ActUndo), mark(two, 9500, state.ActUndo))})
	r.press("z")
	r.wantOn("there is nothing to undo")
	for i := range r.did { // in any order
		r.did[i] = strings.Replace(r.did[i], "s-two s-one", "s-one s-two", 1)
	}
	if want := []string{"undo s-gone", "undo s-one s-two"}; !slices.Equal(r.did, want) {
		t.Errorf("did %q, want %q", r.did, want)
	}
}

func TestBackburnedIsTakenBack(t *testing.T) {
	s := session("s-aside", "shop", done...)
	s = state.Apply(s, state.Change{Seq: 9, At: t0 + 9000, Action: &state.Action{Kind: state.ActBackburner}})
	r := newRig(t, 80, 24, snapshot(s))
	r.wantOn("1 aside", "ASIDE 1", "z aside")
	r.press("/", "a", "s", "i", "d", "e", "enter")
	r.wantOn("/aside", "1 of 1", "z aside")
	r.press("b")
	if want := []string{"unburner s-aside"}; !slices.Equal(r.did, want) {
		t.Errorf("did %q, want %q", r.did, want)
	}
}

func TestFilterNarrowsAsItIsTyped(t *testing.T) {
	r := newRig(t, 100, 30, day())
	r.press("/", "m", "a", "k", "e", "space", "a", "s", "k")
	if got := r.order(); !slices.Equal(got, []string{"s-ask"}) {
		t.Errorf("rows %q, want s-ask alone", got)
	}
	r.press("enter")
	r.wantOn("/make ask", "1 of 6")
	r.press("esc")
	if len(r.rows) != 5 {
		t.Errorf("%d rows after Esc, want all", len(r.rows))
	}
	r.press("/", "z", "z")
	r.wantOn("no session has these words")
	r.press("esc", "/", "o", "l", "d")
	if got := r.order(); !slices.Equal(got, []string{"s-end"}) {
		t.Errorf("a filter finds %q, want the ended one", got)
	}
	r.press("esc")
	if len(r.rows) != 5 || r.filter != "" {
		t.Errorf("%d rows, filter %q: leaving the line puts the old filter back", len(r.rows), r.filter)
	}
}

// The filter selects the session whose name begins with what is typed, before one whose name has
// a word that does, and one that only mentions it; Esc selects what was selected before.
func TestFilterSelectsTheBest(t *testing.T) {
	named := func(id, name string) state.Session {
		s := session(id, "shop", asks...)
		s.Name = name
		return s
	}
	all := snapshot(named("s-1", "write a web page"), named("s-2", "cobweb"), named("s-3", "website"), named("s-4", "webs"))
	r := newRig(t, 100, 30, all)
	r.press("j")
	before := r.rows[r.cursor].SessionID
	for _, c := range []struct{ typed, want string }{{"w", "s-1"}, {"web", "s-3"}, {"cob", "s-2"}, {"page", "s-1"}, {"web p", "s-1"}} {
		r.press("/")
		for _, k := range c.typed {
			r.press(strings.ReplaceAll(string(k), " ", "space"))
		}
		if got := r.rows[r.cursor].SessionID; got != c.want {
			t.Errorf("%q selects %s, want %s", c.typed, got, c.want)
		}
		r.press("esc")
		if got := r.rows[r.cursor].SessionID; got != before {
			t.Errorf("after Esc %s is selected, want %s", got, before)
		}
	}
}

func TestConfiguredOrders(t *testing.T) {
	r := newRig(t, 100, 30, day())
	r.opt.Queue.Mode = render.Prio
	r.press("e")
	if got := r.order()[:2]; !slices.Equal(got, []string{"s-ask", "s-fail"}) {
		t.Errorf("prio %q, want the newest need first", got)
	}
	r.opt.Queue.Mode = render.Static
	r.press("e")
	r.wantOn("done (new)")
}

// In the order of labels each label is a heading, whatever needs the user.
func TestLabels(t *testing.T) {
	s := day()
	for i := range s.Rows {
		s.Rows[i].Label = map[string]string{"s-idle": "Shop urgent", "s-ask": "shop", "s-work": "Shop urgent"}[s.Rows[i].SessionID]
	}
	r := newRig(t, 100, 30, s)
	r.opt.Queue.Mode = render.Labels
	r.press("e")
	r.wantOn("#Shop urgent", "#shop")
	at := 0
	for _, h := range []string{"SHOP URGENT 2", "Bash: make s-work", "SHOP 1", "Bash: make s-ask", "NO LABEL 3"} {
		i := strings.Index(r.plainScreen()[at:], h)
		if i < 0 {
			t.Fatalf("no %q after the one before:\n%s", h, r.plainScreen())
		}
		at += i
	}
	for filter, want := range map[string][]string{
		"label:urgent":          {"s-work", "s-idle"},
		"label:shop !urgent":    {"s-ask"},
		"!label:":               {"s-fail", "s-done", "s-end"},
		"label: !working ! #sh": {"s-idle", "s-ask"},
	} {
		r.press("/")
		for _, c := range filter {
			r.press(map[rune]string{' ': "space"}[c] + strings.TrimSpace(string(c)))
		}
		r.press("enter")
		got := r.order()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q leaves %q, want %q", filter, got, want)
		}
		r.press("esc")
	}
	r.press("home", "x", "x", "l", "esc")
	r.press("l", "end", "!", "enter", "home", "l", "n", "o", "enter")
	if want := []string{"label Shop urgent! s-idle s-work", "label Shop urgentno s-idle"}; !slices.Equal(r.did, want) {
		t.Errorf("did %q, want %q", r.did, want)
	}
}

// The selection stays on its session when rows appear, disappear and move.
func TestSelectionStaysOnItsSession(t *testing.T) {
	r := newRig(t, 100, 30, day())
	r.press("j") // s-ask
	r.Update(lookMsg{snapshot: snapshot(session("s-ask", "shop", done...), session("s-new", "api", fails...), session("s-fail", "web", fails...))})
	if id := r.rows[r.cursor].SessionID; id != "s-ask" {
		t.Errorf("selected %q, want s-ask where it now is", id)
	}
	r.Update(lookMsg{snapshot: snapshot(session("s-new", "api", fails...))})
	if id := r.rows[r.cursor].SessionID; id != "s-new" {
		t.Errorf("selected %q, want the row that is left", id)
	}
	r.Update(lookMsg{snapshot: snapshot()})
	r.press("enter", "m", "x", "b", "space", "n", "j", "pgdown")
	r.wantOn("no sessions")
}

func TestPeekTellsWhatIsAsked(t *testing.T) {
	s := session("s-q", "shop", event.SessionStart, event.UserPromptSubmit)
	e := event.Event{Agent: "claude-code", Kind: event.PermissionRequest, Name: "PermissionRequest", SessionID: "s-q", At: t0 + 5000,
		Tool: event.Tool{Name: "AskUserQuestion", Hash: "q", Summary: "AskUserQuestion: Which colour?"},
		Ask: &event.Ask{Questions: []event.Question{{Text: "Which colour?", Header: "Colour",
			Options: []event.Option{{Label: "Teal", Description: "calm"}, {Label: "Red"}}}}}}
	s = state.Apply(s, state.Change{Seq: 3, At: e.At, Event: &e})
	for _, width := range []int{40, 80, 160} {
		r := newRig(t, width, 40, snapshot(s))
		r.press("space")
		r.wantOn("Which colour?", "( ) Teal", "calm", "( ) Red", "do the thing", "an old wish", "s-q")
		r.press("space")
		if strings.Contains(r.plainScreen(), "( ) Teal") {
			t.Error("the second Space does not close the panel")
		}
	}
}

// The panel shows the whole final message and plan, if the transcript has them.
func TestPeekTellsTheWhole(t *testing.T) {
	s := day()
	for i := range s.Rows {
		if s.Rows[i].SessionID == "s-ask" {
			s.Rows[i].Question = &render.Question{Plan: "1. Look."}
		}
	}
	r := newRig(t, 80, 60, s)
	r.opt.Recent = func(row render.Row, _ state.Session) Past {
		return Past{Said: "All of it\n\x1b]0;x\a" + row.SessionID, Plan: "1. Look.\n2. Leap."}
	}
	r.press("space")
	for r.rows[r.cursor].SessionID != "s-ask" {
		r.press("j")
	}
	r.wantOn("1. Look.", "2. Leap.", "All of it", "]0;xs-ask")
}

// A row of another host shows its host, and its age if the host does not answer; no key acts
// on it.
func TestOtherHosts(t *testing.T) {
	r := newRig(t, 120, 30, day())
	box := func(stale bool, sessions ...state.Session) {
		rows := snapshot(sessions...).Rows
		for i := range rows {
			rows[i].Remote = &render.Remote{Name: "box", AsOf: start, Stale: stale}
		}
		r.Update(othersMsg{rows: rows})
	}
	far := session("s-far", "ml", asks...)
	box(false, far)
	r.wantOn("Bash: make s-far", "box", "here")
	rows := len(r.rows)
	box(false, far, session("s-ask", "shop", asks...))
	if len(r.rows) != rows {
		t.Errorf("a session that is here too makes %d rows of %d", len(r.rows), rows)
	}
	r.wall = func() time.Time { return start.Add(3 * time.Minute) }
	box(true, far)
	r.wantOn("Bash: make s-far", "3m old: box")
	r.press("/", "s", "-", "f", "a", "r", "enter", "m", "b")
	r.wantOn("on another host")
	if len(r.did) != 0 {
		t.Errorf("did %q to another host's session", r.did)
	}
}

// At any size, the screen has that many lines and columns, and no text leaves its cell.
func TestEverySizeHolds(t *testing.T) {
	evil := session("s-evil", "\x1b]0;pwn\x07shop\u202e", asks...)
	evil.Prompt.Text = "one\ntwo\x1b[2J\u0000 漢字漢字漢字漢字漢字漢字漢字漢字漢字 👩‍👩‍👧‍👦 end"
	s := day()
	s.Rows = append(s.Rows, snapshot(evil).Rows...)
	for _, open := range [][]string{nil, {"space"}, {"?"}, {"?", "s"}, {"b"}, {"x", "x"}, {"/", "x"}, {"g", "space"}} {
		for _, width := range []int{1, 2, 7, 20, 39, 40, 60, 80, 119, 120, 160, 400} {
			for _, height := range []int{1, 2, 3, 5, 6, 11, 12, 24, 80} {
				r := newRig(t, width, height, s)
				r.press(open...)
				lines := strings.Split(r.View().Content, "\n")
				if len(lines) > height {
					t.Fatalf("%dx%d %q: %d lines", width, height, open, len(lines))
				}
				for _, l := range lines {
					if n := ansi.StringWidth(l); n > width {
						t.Fatalf("%dx%d %q: a line of %d columns: %q", width, height, open, n, l)
					}
					if c := strings.IndexFunc(ansi.Strip(l), func(c rune) bool { return c < ' ' || c == '\u202e' }); c >= 0 {
						t.Fatalf("%dx%d %q: %q got through", width, height, open, ansi.Strip(l)[c:])
					}
				}
			}
		}
	}
}

// Ages that are shown in seconds change each second, others now and then, a recording's never.
func TestAgesTick(t *testing.T) {
	s := snapshot(session("s-done", "docs", done...))
	old := s
	old.Now = start.Add(3*time.Minute + 2*time.Second)
	still := s
	still.Still = true
	for _, c := range []struct {
		s    Snapshot
		want time.Duration
	}{{s, time.Second}, {old, 15 * time.Second}, {still, 0}} {
		r := newRig(t, 80, 24, c.s)
		r.due = time.Time{}
		r.tick()
		if left := r.due.Sub(r.wall()); c.want == 0 != r.due.IsZero() || !r.due.IsZero() && (left <= 0 || left > c.want) {
			t.Errorf("it ticks in %v, want %v", left, c.want)
		}
	}
}

// crowd returns n sessions of all kinds.
func crowd(n int) Snapshot {
	all := [][]event.Kind{asks, works, fails, done, fresh, ended}
	var sessions []state.Session
	for i := range n {
		sessions = append(sessions, session(fmt.Sprintf("s-%03d", i), fmt.Sprintf("project-%d", i%17), all[i%len(all)]...))
	}
	return snapshot(sessions...)
}

// BenchmarkKey500 measures a key press with 500 sessions, up to the finished frame.
func BenchmarkKey500(b *testing.B) {
	m := newModel(Options{Style: term.Style{Color: true}})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 60})
	m.Update(lookMsg{snapshot: crowd(500)})
	for b.Loop() {
		m.Update(key("j"))
		_ = m.View()
	}
}

// BenchmarkLook500 measures a changed look at 500 sessions, up to the finished frame.
func BenchmarkLook500(b *testing.B) {
	m := newModel(Options{Style: term.Style{Color: true}})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 60})
	s := crowd(500)
	for b.Loop() {
		m.Update(lookMsg{snapshot: s})
		_ = m.View()
	}
}

// Names and branches are shortened in their middle, since their ends tell them apart, and the
// branch before the name.
func TestLongNames(t *testing.T) {
	s := snapshot(session("s-a", "customer-portal", works...), session("s-b", "customer-import", works...))
	for i := range s.Rows {
		s.Rows[i].Git = &event.Git{Branch: "feature/1234-checkout-with-vouchers-" + s.Rows[i].SessionID, Repo: s.Rows[i].Project}
	}
	for width, want := range map[int][]string{
		140: {"customer-portal", "feature/1234-…-vouchers-s-a"},
		80:  {"customer-portal", "feat…-s-a"},
		60:  {"custo…rtal", "feat…s-a"},
	} {
		screen := newRig(t, width, 20, s).plainScreen()
		for _, w := range want {
			if !strings.Contains(screen, w+" ") {
				t.Errorf("width %d: no %q in\n%s", width, w, screen)
			}
		}
	}
}

// Without this field of Bubble Tea's, a screen that does not change works all the time.
func TestTickerIsThere(t *testing.T) {
	f, ok := reflect.TypeFor[tea.Program]().FieldByName("ticker")
	if !ok || f.Type != reflect.TypeFor[*time.Ticker]() {
		t.Errorf("tea.Program has no ticker that can be borrowed: %+v", f)
	}
}
