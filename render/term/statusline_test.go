package term

import (
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
)

func waiting(project string, s state.State, age time.Duration) render.Row {
	return render.Row{SessionID: project + "-1234", Project: project, State: s, NeedsYou: s.NeedsYou(), Since: now.Add(-age)}
}

var status = event.Status{
	SessionID: "me", Cwd: "/home/u/src/shop/web", Project: "/home/u/src/shop", Model: "Opus 5.5",
	Meter: event.Meter{HasContext: true, Context: 4321, Cost: 1_234_000},
}

func line(t *testing.T, template string, width int, v StatusView) string {
	t.Helper()
	f, err := ParseStatusFormat(template)
	if err != nil {
		t.Fatal(err)
	}
	return StatusLine(v, f, Style{Width: width, Now: now})
}

func TestStatusLine(t *testing.T) {
	others := []render.Row{waiting("api", state.Permission, 3*time.Minute), waiting("web", state.Question, 5*time.Second), waiting("docs", state.Working, 0)}
	v := StatusView{Status: status, Home: "/home/u", Branch: "main", Others: others}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "Opus 5.5  shop/web  main  █████░░░░░ 43%  $1.23\n2 need you: api permission 3m, web question"},
		{100, "Opus 5.5  shop/web  main  █████░░░░░ 43%  $1.23  2 need you: api permission 3m, web question"},
		{60, "Opus 5.5  shop/web  main  █████░░░░░ 43%  $1.23\n2 need you: api permission 3m, web question"},
		{44, "Opus 5.5  shop/web  main  ███░░ 43%  $1.23\n2 need you: api permission 3m, web question"},
		{32, "Opus 5.5  shop/web  main  43%\n2 need you: api permission 3m, …"},
	} {
		if got := line(t, DefaultStatus, c.width, v); got != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
	v.Others = v.Others[2:]
	if got := line(t, DefaultStatus, 0, v); got != "Opus 5.5  shop/web  main  █████░░░░░ 43%  $1.23" {
		t.Errorf("it is not quiet: %q", got)
	}
	if got := line(t, DefaultStatus, 80, StatusView{}); got != "" {
		t.Errorf("of nothing it makes %q", got)
	}
}

// At any width, no line is wider, and colours take no columns.
func TestStatusLineFits(t *testing.T) {
	var others []render.Row
	for _, name := range []string{"api", "日本語の名前", strings.Repeat("long", 20), "x\x1b[31my\u202e", ""} {
		others = append(others, waiting(name, state.Permission, 3*time.Hour))
	}
	v := StatusView{Status: status, Branch: "feature/" + strings.Repeat("b", 60), Others: others}
	f, _ := ParseStatusFormat(DefaultStatus)
	for width := 1; width < 220; width++ {
		coloured := StatusLine(v, f, Style{Width: width, Now: now, Color: true})
		plain := line(t, DefaultStatus, width, v)
		if strip(coloured) != plain || strings.Contains(plain, "\x1b") || strings.ContainsRune(plain, 0x202e) {
			t.Fatalf("width %d: %q and %q", width, coloured, plain)
		}
		for _, l := range strings.Split(plain, "\n") {
			if stringWidth(l) > width {
				t.Fatalf("width %d: %q takes %d columns", width, l, stringWidth(l))
			}
		}
		if width > 20 && !strings.Contains(plain, "5 need you:") {
			t.Fatalf("width %d: nobody is told of: %q", width, plain)
		}
	}
}

func TestNeedListTellsSessionsApart(t *testing.T) {
	a, b, c := waiting("api", state.Permission, 0), waiting("api", state.Question, 0), waiting("api", state.Failed, 0)
	a.Git, b.Git, c.Git = &event.Git{Branch: "main"}, &event.Git{Branch: "fix"}, &event.Git{Branch: "fix"}
	b.SessionID, c.SessionID = "aaaa1", "bbbb1"
	if got, want := NeedList([]render.Row{a, b, c}, Style{Now: now}), "3 need you: api main permission, api fix aaaa question, api fix bbbb failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := NeedList([]render.Row{a, b, c}, Style{Now: now, Width: 72, Answer: "beckon answer"}); !strings.HasPrefix(got, "3 need you (beckon answer): api main permission") {
		t.Errorf("with something to answer: %q", got)
	}
	if got := NeedList([]render.Row{a, b, c}, Style{Now: now, Width: 40, Answer: "beckon answer"}); got != "3 need you: api main permission, +2" {
		t.Errorf("without the room for it: %q", got)
	}
	if got := NeedList([]render.Row{a, b, c}, Style{Now: now, Width: 40}); got != "3 need you: api main permission, +2" {
		t.Errorf("got %q", got)
	}
	if got := NeedList(nil, Style{}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestFormat(t *testing.T) {
	values := map[string]string{"a": "1", "b": "", "c": "3"}
	known := []string{"a", "b", "c", wrapField}
	for _, c := range []struct{ template, want string }{
		{"{a}{b}{c}", "13"},
		{"x{a}[ b={b}][ c={c}]", "x1 c=3"},
		{"[{a}[ {b}]!]", "1!"},
		{"[{b}[ {c}]!]", " 3!"},
		{`\{a\} \[\] \\`, `{a} [] \`},
		{`{a}\n{b}\n{c}`, "1\n3"},
		{"{a} {wrap}{c}", "1 \n3"},
		{"{wrap}{c}", "3"},
		{"{a}{wrap}{b}", "1"},
		{"", ""},
	} {
		f, err := ParseFormat(c.template, known)
		if err != nil {
			t.Errorf("%q: %v", c.template, err)
			continue
		}
		if got := f.fill(func(n string) string { return values[n] }, 0); got != strings.ReplaceAll(c.want, " \n", "\n") {
			t.Errorf("%q gives %q, want %q", c.template, got, c.want)
		}
	}
	for _, bad := range []string{"{", "{x}", "[", "]", "[x]", "[{wrap}]", `\`, "{a", "[{a}"} {
		if _, err := ParseFormat(bad, known); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(DefaultStatus, "a\nb", 10)
	f.Add(`[{model}[\]]{wrap}`, "\x00", 3)
	f.Fuzz(func(t *testing.T, template, value string, width int) {
		format, err := ParseStatusFormat(template)
		if err != nil || width < 1 {
			return
		}
		status := event.Status{Model: value, Cwd: value, Project: value}
		v := StatusView{Status: status, Branch: value, Others: []render.Row{waiting(value, state.Failed, 0)}}
		got := StatusLine(v, format, Style{Width: width, Now: now})
		for _, l := range strings.Split(got, "\n") {
			if stringWidth(l) > width {
				t.Fatalf("%q takes %d of %d columns", l, stringWidth(l), width)
			}
		}
		if !strings.ContainsAny(template, "\x00\x1b") && strings.ContainsAny(got, "\x00\x1b") {
			t.Fatalf("control characters in %q", got)
		}
	})
}

func TestPrompt(t *testing.T) {
	rows := []render.Row{waiting("a<b>&", state.Permission, 90*time.Second), waiting("web%{x}", state.Question, 0), waiting("w", state.Question, 0), waiting("docs", state.Idle, 0)}
	rows[3].Unseen = true
	st := Style{Now: now}
	for _, c := range []struct {
		template string
		to       string
		want     string
	}{
		{DefaultPrompt, "plain", "!1 ?2"},
		{"{need}/{total}[ {working}w][ {unseen} new]", "plain", "3/4 1 new"},
		{"{first} {state} {age}", "plain", "a<b>& permission 1m"},
		{"{names}", "polybar", "a<b>& permission 1m, web%\u200b\u200b{x} question, w question"},
		{"{names} | x", "swiftbar", "a<b>& permission 1m, web%{x} question, w question | x"},
		{"{names}", "zsh", "a<b>& permission 1m, web%%{x} question, w question"},
	} {
		f, err := ParseFormat(c.template, PromptFields)
		if err != nil {
			t.Fatal(err)
		}
		if got := Prompt(rows, f, c.to, st); got != c.want {
			t.Errorf("%q for %s: %q, want %q", c.template, c.to, got, c.want)
		}
	}
	f, _ := ParseFormat(DefaultPrompt, PromptFields)
	if got := Prompt(rows[3:], f, "plain", st); got != "" {
		t.Errorf("nobody needs the user: %q", got)
	}
	bar := BarOf(rows, f, st)
	if bar.Text != "!1 ?2" || bar.Alt != "permission" || !strings.HasPrefix(bar.Tooltip, "a&lt;b&gt;&amp; permission 1m\n") || strings.Join(bar.Class, " ") != "needs-you permission question idle" {
		t.Errorf("%+v", bar)
	}
	if quiet := BarOf(nil, f, st); quiet.Text != "" || quiet.Class[0] != "quiet" {
		t.Errorf("%+v", quiet)
	}
}

func TestShortDir(t *testing.T) {
	for _, c := range []struct{ cwd, project, want string }{
		{"/home/u/src/shop", "/home/u/src/shop", "shop"},
		{"/home/u/src/shop/a/b", "/home/u/src/shop", "shop/a/b"},
		{"/home/u/src/shopping", "/home/u/src/shop", "~/src/shopping"},
		{"/home/u", "/x", "~"},
		{"/srv/www/site/x", "/x", "site/x"},
		{"/", "/", "/"},
		{`C:\src\shop\web`, `C:\src\shop`, "shop/web"},
		{"", "", ""},
	} {
		if got := shortDir(&event.Status{Cwd: c.cwd, Project: c.project}, "/home/u"); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.cwd, c.project, got, c.want)
		}
	}
}
