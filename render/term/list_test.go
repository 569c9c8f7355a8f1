package term

import (
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"

	"github.com/charmbracelet/x/ansi"
)

var now = time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)

func rows() []render.Row {
	return []render.Row{
		{SessionID: "0123456789", State: state.Permission, Since: now.Add(-3 * time.Minute), Project: "shop", Git: &event.Git{Branch: "main"},
			Tool: &render.Tool{Name: "Bash", Summary: "Bash: npm run build --workspace packages/frontend"}},
		{SessionID: "abc", State: state.Working, Since: now.Add(-90 * time.Second), Project: "日本語の名前", Title: "翻訳してください",
			Subagents: []render.Subagent{{AgentID: "x"}}, Background: &render.Background{Shells: 2}},
		{SessionID: "def", State: state.Idle, Reason: state.Done, Unseen: true, Since: now.Add(-26 * time.Hour), Project: "docs"},
	}
}

func list(t *testing.T, st Style) string {
	t.Helper()
	var b strings.Builder
	st.Now = now
	b.WriteString(List(rows(), st))
	return b.String()
}

func TestListPlain(t *testing.T) {
	want := `  STATE       FOR  WHERE         WHAT                                               SESSION
! permission  3m   shop main     Bash: npm run build --workspace packages/frontend  01234567
* working     1m   日本語の名前  翻訳してください [1 subagent] [2 shells]           abc
- done (new)  26h  docs                                                             def
`
	if got := list(t, Style{}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The machine is shown if the rows are of several; if other hosts were asked, in any case.
func TestListNamesTheMachine(t *testing.T) {
	for _, c := range []struct{ hosts, want string }{
		{"a a a", ""}, {"a b a", "a: shop b: 日本語の名前 a: docs"}, {"a  b", "a: shop b: docs"},
	} {
		all := rows()
		for i, h := range strings.Split(c.hosts, " ") {
			all[i].Host = h
		}
		var b strings.Builder
		b.WriteString(List(all, Style{Now: now}))
		for _, part := range strings.SplitAfter(c.want, " ") {
			if !strings.Contains(b.String(), strings.TrimSpace(part)) {
				t.Errorf("hosts %q: no %q in\n%s", c.hosts, part, b.String())
			}
		}
		if c.want == "" && strings.Contains(b.String(), "a: shop") {
			t.Errorf("hosts %q: told needlessly\n%s", c.hosts, b.String())
		}
	}
}

// At any width, no line is longer than the terminal, and the state and the session stay
// readable.
func TestListFitsTheTerminal(t *testing.T) {
	for width := 60; width <= 200; width += 7 {
		for _, line := range strings.Split(strings.TrimSpace(list(t, Style{Width: width, Color: true})), "\n") {
			if n := stringWidth(line); n > width {
				t.Errorf("width %d: a line of %d columns: %q", width, n, line)
			}
		}
		if got := list(t, Style{Width: width}); !strings.Contains(got, "permission") || !strings.Contains(got, "01234567") {
			t.Errorf("width %d: state or session cut:\n%s", width, got)
		}
	}
}

func TestColourIsOnlyDecoration(t *testing.T) {
	plain, coloured := list(t, Style{}), list(t, Style{Color: true})
	if strings.Contains(plain, "\x1b") {
		t.Error("colour without being asked for")
	}
	if strip(coloured) != plain {
		t.Errorf("without its colours the list reads\n%swant\n%s", strip(coloured), plain)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m",
		time.Hour: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 240 * time.Hour: "10d",
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%s) = %q, want %q", d, got, want)
		}
	}
}

// A list never wraps: a narrow one omits the id, then what is done; names are shortened in
// their middle.
func TestListFits(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rows := []render.Row{
		{SessionID: "8573b4b1-6320", State: state.Permission, Since: now, Project: "shop", Git: &event.Git{Branch: "feature/checkout-with-vouchers"}, Title: "a title that is rather long for a line"},
		{SessionID: "70c438d6-1111", State: state.Idle, Reason: "interrupted", Unseen: true, Since: now.Add(-time.Hour), Project: "a-project-with-a-name-of-its-own-length", Git: &event.Git{Branch: "main"}},
		{SessionID: "adb2b11e-2222", State: state.Backburned, Since: now, Project: "漢字のプロジェクト名", Git: &event.Git{Branch: "枝の名前"}},
	}
	for width := 30; width < 160; width++ {
		var out strings.Builder
		out.WriteString(List(rows, Style{Width: width, Now: now}))
		for line := range strings.Lines(out.String()) {
			if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("width %d: a line of %d columns: %q", width, n, line)
			}
		}
	}
}
