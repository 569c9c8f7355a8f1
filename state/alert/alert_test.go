package alert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

func TestHours(t *testing.T) {
	at := func(clock string) time.Time {
		tm, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	for _, c := range []struct{ hours, in, out string }{
		{"22:00-07:30", "22:00 23:59 00:00 07:29", "07:30 12:00 21:59"},
		{"09:00-17:00", "09:00 16:59", "08:59 17:00 00:00"},
		{"00:00-24:00", "00:00 12:00 23:59", ""},
		{"22:00-24:00", "22:00 23:59", "00:00 21:59"},
		{"08:00-08:00", "", "00:00 07:59 08:00 23:59"},
		{"", "", "00:00 12:00"},
	} {
		h := Hours(c.hours)
		if err := CheckHours(c.hours); err != nil {
			t.Fatal(err)
		}
		for _, clock := range strings.Fields(c.in) {
			if !h.Contain(at(clock)) {
				t.Errorf("%s is not in %q", clock, c.hours)
			}
		}
		for _, clock := range strings.Fields(c.out) {
			if h.Contain(at(clock)) {
				t.Errorf("%s is in %q", clock, c.hours)
			}
		}
	}
	for _, bad := range []string{"22-7", "22:00", "25:00-01:00", "22:00-7:5", "24:00-07:00", "-1:00-02:00", "a:bc-01:00"} {
		if CheckHours(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A session that was not in the last look has only come back if its turn ended before the program
// first looked; then it has no alert.
func TestAlertOfNewSession(t *testing.T) {
	done := state.Session{ID: "s", Actors: []state.Actor{{Started: 10, Active: 20, Ended: 30, How: state.EndStop}}}
	for _, c := range []struct {
		name   string
		before []state.Seen
		began  event.Millis
		want   int
	}{
		{"it came and was done", nil, 30, 1},
		{"it came back", nil, 31, 0},
		{"a turn ran between two looks", []state.Seen{{Session: state.Session{ID: "s"}}}, 31, 1},
	} {
		var s Seer
		s.Look(c.before, c.began)
		if list := s.Look([]state.Seen{{Session: done}}, 40); len(list) != c.want || c.want > 0 && list[0].Alert.ID() != "done-30" {
			t.Errorf("%s: %v", c.name, list)
		}
	}
}

// Title and body are one clean line each, whatever the session contains.
func TestWords(t *testing.T) {
	s := state.Session{
		Origin: event.Origin{Git: event.Git{Repo: "api\x1b]0;x\a"}}, Prompt: state.Prompt{Text: "do it"},
		Stop:    state.Stop{Message: "I did a lot.\nAll done\x07.\n", Question: "Which one?"},
		Failure: state.Mark{Reason: "rate_limit"},
	}
	call := state.Call{Name: "Bash", Summary: "Bash: make\x1b[2J"}
	ask := state.Call{Summary: "AskUserQuestion: Red?", Ask: &event.Ask{Questions: []event.Question{{Text: "Red?"}}}}
	for _, c := range []struct {
		edge        state.Alert
		title, body string
	}{
		{state.Alert{Kind: state.AlertPermission, Dialog: true, Call: call}, "api0;x needs a permission", "Bash: make"},
		{state.Alert{Kind: state.AlertPermission, Dialog: true}, "api0;x needs a permission", "do it"},
		{state.Alert{Kind: state.AlertQuestion, Dialog: true, Call: ask}, "api0;x asks", "Red?"},
		{state.Alert{Kind: state.AlertQuestion, Dialog: true}, "api0;x asks", "do it"}, // not the question of an older turn
		{state.Alert{Kind: state.AlertQuestion}, "api0;x asks", "Which one?"},
		{state.Alert{Kind: state.AlertFailed}, "api0;x failed", "rate limit"},
		{state.Alert{Kind: state.AlertDone}, "api0;x is done", "All done."},
	} {
		if title, body := Words(&s, c.edge); title != c.title || body != c.body {
			t.Errorf("%+v: %q, %q; want %q, %q", c.edge, title, body, c.title, c.body)
		}
	}
	for want, s := range map[string]state.Session{"dir": {Cwd: `C:\x\dir`}, "p": {Cwd: "/x/y", Origin: event.Origin{Project: "/x/p"}}, "a session": {}} {
		if got := Project(&s); got != want {
			t.Errorf("Project = %q, want %q", got, want)
		}
	}
}

// How long a request can be answered is read also where nothing is notified.
func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if s, err := Read(path); err != nil || s.Wait != 12*time.Hour {
		t.Errorf("got %v, %v", s.Wait, err)
	}
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "soon": 12 * time.Hour} {
		if err := os.WriteFile(path, []byte(`{"answer_wait": "`+text+`",}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Read(path); s.Wait != want || (err == nil) != (text == "90m") {
			t.Errorf("got %v, %v", s.Wait, err)
		}
	}
}
