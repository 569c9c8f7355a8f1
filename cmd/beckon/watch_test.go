//go:build unix

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render/tui"
	"beckon/state"
	"beckon/state/store"
	"beckon/testdata/need"

	tea "charm.land/bubbletea/v2"
)

var golden = flag.Bool("golden", false, "write the screens that the tests find into testdata/golden")

// terminal is a real tmux pane that runs our program.
type terminal struct {
	t      testing.TB
	socket string
}

// openTerminal runs beckon in its own tmux server. Without tmux the test is skipped; in CI it
// fails.
func openTerminal(t testing.TB, width, height int, env []string, args ...string) *terminal {
	t.Helper()
	need.Program(t, "tmux")
	dir, err := os.MkdirTemp("", "beckon-tmux-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", term.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	argv := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, e := range append(env, "TERM=xterm-256color", "NO_COLOR=1") {
		argv = append(argv, "-e", e)
	}
	term.run(append(append(argv, program(t)), args...)...)
	return term
}

// program returns the path of this test binary under the name that makes it beckon.
func program(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "beckon")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *terminal) run(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "TMUX_PANE=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

func (p *terminal) press(keys ...string) {
	p.t.Helper()
	p.run(append([]string{"send-keys"}, keys...)...)
}

// screen returns what the pane shows, without trailing blanks.
func (p *terminal) screen() string {
	p.t.Helper()
	lines := strings.Split(p.run("capture-pane", "-p"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// wait waits until the screen matches a regular expression and returns it.
func (p *terminal) wait(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var s string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s = p.screen(); re.MatchString(s) {
			return s
		}
	}
	p.t.Fatalf("the screen never showed %q:\n%s", pattern, s)
	return ""
}

// gone waits until the screen no longer matches a regular expression.
func (p *terminal) gone(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(time.Minute); re.MatchString(p.screen()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("the screen still shows %q:\n%s", pattern, p.screen())
		}
	}
}

// stand plays the demo up to a moment and returns the environment in which
// every view sees that moment.
func stand(t testing.TB) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	cmd := exec.Command(program(t), "demo", "--list", "--speed", "0", "--until", "4.5", "--dir", dir)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	return []string{"GORACE=" + noNap, "BECKON_STATE_DIR=" + dir, "HOME=" + t.TempDir()}
}

// compare compares the screen that shows pattern with the golden file, and waits for what is
// drawn a moment later, such as the turns of a panel.
func (p *terminal) compare(name, pattern string) {
	p.t.Helper()
	path := filepath.Join("..", "..", "testdata", "golden", name)
	got := p.wait(pattern)
	if *golden {
		time.Sleep(time.Second)
		if err := os.WriteFile(path, []byte(p.screen()), 0o600); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); got != string(want) && time.Now().Before(end); got = p.screen() {
		time.Sleep(20 * time.Millisecond)
	}
	if got != string(want) {
		p.t.Errorf("%s (go test -run Screens -golden writes it anew)\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// checkGolden compares a text with a golden file.
func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	got += "\n"
	if *golden {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-golden writes it anew)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// TestScreens drives the real program in a real terminal with recordings of the real client,
// at common widths.
func TestScreens(t *testing.T) {
	t.Parallel()
	env := stand(t)
	for _, size := range []struct{ width, height int }{{40, 24}, {80, 24}, {160, 30}} {
		t.Run(fmt.Sprint(size.width), func(t *testing.T) {
			p := openTerminal(t, size.width, size.height, env, "watch")
			name := func(what string) string { return fmt.Sprintf("watch-%d%s.txt", size.width, what) }
			p.compare(name(""), `DONE 2`)
			p.press("n")
			p.wait(`▌ \?`)
			p.press("Home")
			p.wait(`▌ !`)
			p.press("Space")
			p.compare(name("-peek"), `it asks`)
			p.press("Escape")
			p.gone(`it asks`) // both keys at once would be Alt-?
			p.press("?")
			p.compare(name("-help"), `PgUp`)
		})
	}
}

// TestKeysInATerminal presses real keys.
func TestKeysInATerminal(t *testing.T) {
	t.Parallel()
	env := stand(t)
	p := openTerminal(t, 100, 30, env, "watch")
	p.wait(`NEEDS YOU 4`)
	p.press("/")
	p.press("-l", "docs")
	p.wait(`CHANGELOG`)
	p.press("Enter")
	p.wait(`/docs 1 of 8`)
	p.press("Enter")
	p.wait(`! its tmux server has ended`) // the recording's own has ended
	p.press("Escape")
	p.wait(`NEEDS YOU 4`)
	p.press("End", "m")
	p.wait(`seen: infra`)
	p.wait(`IDLE 1`)
	p.press("b")
	p.wait(`set infra aside  1 an hour`)
	p.press("1")
	p.wait(`ASIDE 1`)
	p.press("z")
	p.wait(`no longer aside: infra`)
	p.wait(`IDLE 1`)
	mark := exec.Command(program(t), "mark", "infra", "--until", "needed")
	mark.Env = append(os.Environ(), env...)
	if out, err := mark.CombinedOutput(); err != nil || !strings.Contains(string(out), "is aside until it needs you") {
		t.Errorf("mark: %v, %q", err, out)
	}
	p.wait(`ASIDE 1`)
	p.press("z") // undoes what a command did, too
	p.wait(`IDLE 1`)
	p.press("z")
	p.wait(`there is nothing to undo`)
	p.press("Home", "x", "x", "b")
	p.wait(`set 2 sessions aside`)
	p.press("4")
	p.wait(`ASIDE 2`)
	p.press("z")
	p.wait(`NEEDS YOU 4`)
	p.press("?")
	p.press("-l", "undo")
	p.wait(`Del X|undo seen`)
	p.gone(`PgUp`)
	p.press("Escape")
	p.wait(`NEEDS YOU 4`)
	p.run("resize-window", "-x", "44", "-y", "14")
	p.wait(`(?m)^ NEEDS YOU 4 ─{20,30}$`)
	p.run("resize-window", "-x", "150", "-y", "40")
	p.wait(`(?m)^ NEEDS YOU 4 ─{100,}$`)
	p.press("q")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if exec.Command("tmux", "-S", p.socket, "has-session").Run() != nil {
			return
		}
	}
	t.Error("q did not end it")
}

// fold folds events of one session as hooks would.
func fold(t testing.TB, st *store.Store, id string, kinds ...event.Kind) {
	t.Helper()
	for _, k := range kinds {
		e := event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: id, At: event.MillisOf(time.Now()), Cwd: "/home/u/shop",
			Prompt: "ask " + id, Message: "Finished.", Tool: event.Tool{Name: "Bash", UseID: "t1", Hash: "h", Summary: "Bash: make " + id},
			Origin: &event.Origin{Host: "here", Seat: "seat-" + id, Project: "/home/u/shop"}}
		if k == event.PermissionRequest {
			e.Tool.UseID = ""
		}
		if _, err := st.Fold(store.KeyOf(id), store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
			t.Fatal(err)
		}
	}
}

// The screen follows the sessions: from no state directory at all to a session that appears,
// asks, and disappears; with and without reports from the system.
func TestScreenFollows(t *testing.T) {
	for _, args := range [][]string{{"watch"}, {"watch", "--poll"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			st := store.Open(filepath.Join(home, "state"))
			p := openTerminal(t, 80, 24, []string{"GORACE=" + noNap, "HOME=" + home, "BECKON_STATE_DIR=" + st.Dir}, args...)
			p.wait(`no sessions`)
			fold(t, st, "first", event.SessionStart, event.UserPromptSubmit)
			p.wait(`working .*ask first`)
			fold(t, st, "first", event.PreToolUse, event.PermissionRequest)
			p.wait(`(?s)NEEDS YOU 1.*permission .*make first`)
			fold(t, st, "first", event.Stop)
			p.wait(`(?s)DONE 1.*Finished`)
			fold(t, st, "first", event.SessionEnd)
			p.wait(`ENDED 1`)
			p.press("X")
			p.wait(`no sessions`)
			if err := os.RemoveAll(st.Dir); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			fold(t, st, "second", event.SessionStart, event.UserPromptSubmit)
			p.wait(`working .*ask second`)
		})
	}
}

// An idle screen writes nothing and hardly uses the processor.
func TestIdleScreenIsQuiet(t *testing.T) {
	if testing.Short() {
		t.Skip("watches an idle screen for some seconds")
	}
	t.Parallel()
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	for i := range 100 {
		fold(t, st, fmt.Sprintf("s-%03d", i), event.SessionStart, event.UserPromptSubmit)
	}
	p := openTerminal(t, 100, 60, []string{"GORACE=" + noNap, "HOME=" + home, "BECKON_STATE_DIR=" + st.Dir}, "watch")
	p.wait(`WORKING 100`)
	time.Sleep(time.Second)
	pid := strings.TrimSpace(p.run("display-message", "-p", "#{pane_pid}"))
	before, err := cpuTicks(pid)
	if err != nil {
		t.Skip(err)
	}
	const watched = 5
	time.Sleep(watched * time.Second)
	after, err := cpuTicks(pid)
	if err != nil {
		t.Fatal(err)
	}
	// 100 ticks are a second. The bound is far above the measured use (README), and far below
	// that of drawing all the time.
	if used := after - before; used > watched*100/10 {
		t.Errorf("an idle screen of 100 sessions used %d%% of a processor", used/watched)
	}
	t.Logf("%d ticks of 10 ms in %d s", after-before, watched)
}

// cpuTicks returns what a process has used, in ticks of 10 ms.
func cpuTicks(pid string) (int, error) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, fmt.Errorf("processor times: %w", err)
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+2:])
	var user, system int
	_, err = fmt.Sscan(string(f[11])+" "+string(f[12]), &user, &system)
	return user + system, err
}

// BenchmarkHookToScreen measures from the end of a fold, where a hook exits, to the bytes that
// the screen of watch writes about it (50 ms at p99), among 100 sessions.
func BenchmarkHookToScreen(b *testing.B) {
	home := b.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	for i := range 100 {
		fold(b, st, fmt.Sprintf("s-%03d", i), event.SessionStart, event.UserPromptSubmit)
	}
	a := &app{&cli.App{Store: st, Getenv: func(k string) string { return map[string]string{"HOME": home, "CLAUDE_CONFIG_DIR": home}[k] }}}
	screen := &wrote{}
	opt := a.watchOptions(nil, "")
	opt.Output = screen
	opt.Terminal = []tea.ProgramOption{tea.WithInput(blocked{}), tea.WithWindowSize(100, 160)}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- tui.Run(ctx, opt) }()
	screen.wait("s-099")
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		time.Sleep(time.Duration(30+i%50) * time.Millisecond) // no rhythm with frames
		screen.reset()
		e := event.Event{Agent: "claude-code", Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", SessionID: "s-050",
			At: event.MillisOf(time.Now()), Cwd: "/home/u/shop", Prompt: wish(i)}
		if _, err := st.Fold("s-050", store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		screen.wait(e.Prompt)
		took = append(took, time.Since(began))
	}
	stop()
	<-ended
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(ms(took[len(took)*9/10]), "p90-ms")
}

// wish returns a prompt that shares no letter in place, and no run of letters, with the
// previous one: a screen that writes only changes writes all of it.
func wish(i int) string {
	var b strings.Builder
	for j := range 20 {
		b.WriteByte("abcdefghijklm"[(j*(2+i%9)+i)%13] + byte(i%2)*13)
	}
	return b.String()
}

// wrote is a terminal that only records what was written to it.
type wrote struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *wrote) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *wrote) reset() { w.mu.Lock(); defer w.mu.Unlock(); w.buf.Reset() }

func (w *wrote) has(s string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.buf.String(), s)
}

func (w *wrote) wait(s string) {
	for end := time.Now().Add(time.Minute); !w.has(s) && time.Now().Before(end); {
		time.Sleep(200 * time.Microsecond)
	}
}

// blocked is a keyboard without input.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }
