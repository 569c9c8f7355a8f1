package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/testdata/need"
)

// wine runs the programs for Windows without Windows.
type wine struct {
	t      *testing.T
	prefix string
	bin    string
	env    []string
}

// missing is what wine 8 lacks and Go programs need when they start: random bytes.
const missing = `#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
	return size <= 0x7fffffff && SystemFunction036(data, (ULONG)size);
}
`

func newWine(t *testing.T) *wine {
	t.Helper()
	for _, name := range []string{"wine", "x86_64-w64-mingw32-gcc"} {
		need.Program(t, name)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	w := &wine{t: t, prefix: filepath.Join(cache, "beckon-test", "wine"), bin: t.TempDir()}
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "HOME", "DISPLAY", "CLAUDECODE", "CLAUDE_CONFIG_DIR", "BECKON_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME": // else no directory of this system exists there
		default:
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "WINEPREFIX="+w.prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=")
	t.Cleanup(func() { // what it leaves in the background has the prefix open
		stop := exec.Command("wineserver", "-k", "-w")
		stop.Env = w.env
		_ = stop.Run()
	})
	var both sync.WaitGroup
	both.Go(w.boot)
	both.Go(func() {
		w.host("go", "build", "-o", w.bin+"/", "beckon/cmd/beckon", "beckon/cmd/beckon-hook")
	})
	both.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, of := range []string{"AppData/Local/beckon", ".claude", ".config", "Temp"} { // an earlier run's
		if err := os.RemoveAll(w.profile(of)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(w.profile("Temp"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// boot creates the prefix, unless an earlier run has, and adds what is missing.
func (w *wine) boot() {
	library := filepath.Join(w.prefix, "drive_c/windows/system32/bcryptprimitives.dll")
	if _, err := os.Stat(library); err == nil {
		return
	}
	source := filepath.Join(w.bin, "missing.c")
	if err := os.MkdirAll(w.prefix, 0o700); err != nil {
		w.t.Error(err)
		return
	}
	if err := os.WriteFile(source, []byte(missing), 0o600); err != nil {
		w.t.Error(err)
		return
	}
	w.host("wine", "wineboot", "-i")
	w.host("x86_64-w64-mingw32-gcc", "-O2", "-shared", "-o", library, source, "-ladvapi32")
}

// host runs a program of this machine.
func (w *wine) host(name string, args ...string) {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(w.env, "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "HOME="+os.Getenv("HOME"))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("%s: %v\n%s", name, err, out)
	}
}

// wineLimit is for one program, or a package's tests.
const wineLimit = 3 * time.Minute

// command returns a command that runs a program for Windows.
func (w *wine) command(path string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(w.t.Context(), wineLimit)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "wine", append([]string{path}, args...)...)
	cmd.Env = w.env
	cmd.WaitDelay = 10 * time.Second // a process of wine's own may keep the output open
	return cmd
}

// run runs one of the programs and returns its output and exit code.
func (w *wine) run(stdin, name string, args ...string) (out string, code int) {
	w.t.Helper()
	cmd := w.command(filepath.Join(w.bin, name+".exe"), args...)
	cmd.Stdin = strings.NewReader(stdin)
	b, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.Is(err, exec.ErrWaitDelay) && !asExit(err, &exit) {
		w.t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func asExit(err error, to **exec.ExitError) (ok bool) {
	*to, ok = err.(*exec.ExitError)
	return ok
}

// profile finds a file below the user's directory there.
func (w *wine) profile(name string) string {
	w.t.Helper()
	found, _ := filepath.Glob(filepath.Join(w.prefix, "drive_c", "users", "*", "AppData"))
	if len(found) != 1 {
		w.t.Fatalf("the user's directory: %v", found)
	}
	return filepath.Join(filepath.Dir(found[0]), filepath.FromSlash(name))
}

// TestWine runs the programs for Windows, and the tests that are about files and locks.
func TestWine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs for Windows")
	}
	t.Parallel()
	w := newWine(t)
	t.Run("programs", w.programs)
	t.Run("install", w.install)
	t.Run("store", func(t *testing.T) {
		w.tests(t, "state/store", "Lock|Fold|Late|Parallel|Prune|Meter|Seat|Claim|Key", "Model|PruneTold|PruneOffers")
	})
	t.Run("installer", func(t *testing.T) {
		// Killed needs signals. HalfWritten, SameFile and Startup need links, modes and
		// renames as on Unix.
		w.tests(t, "installer", "Apply|Inspect|Update|Refuse|Version|Handler|Stable", "Killed|Half|SameFile|Startup")
	})
}

func (w *wine) programs(t *testing.T) {
	if out, code := w.run("", "beckon", "--version"); code != 0 || !strings.Contains(out, "windows/amd64") {
		t.Errorf("--version: %d, %s", code, out)
	}
	if out, code := w.run("", "beckon", "config"); code != 0 || !strings.Contains(out, `AppData\Local\beckon`) {
		t.Errorf("config: %d, %s", code, out)
	}
	if out, code := w.run("", "beckon", "doctor"); code != 1 || !strings.Contains(out, "never installed") {
		t.Errorf("doctor: %d, %s", code, out)
	}
	const hooks = 40
	var all sync.WaitGroup
	// A hook gives up after two seconds, and a busy machine starts forty programs under wine in more.
	free := make(chan struct{}, 8)
	for i := range hooks {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			payload := fmt.Sprintf(`{"session_id":"s1","cwd":"C:\\","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t%d","tool_input":{"command":"echo %d"}}`, i, i)
			if out, code := w.run(payload, "beckon-hook", "PostToolUse"); code != 0 || out != "" {
				t.Errorf("hook %d: %d, %q", i, code, out)
			}
		})
	}
	all.Wait()
	out, code := w.run("", "beckon", "list", "--json")
	if code != 0 || !strings.Contains(out, `"session_id": "s1"`) {
		t.Errorf("list: %d, %s", code, out)
	}
	n := 0
	days, err := filepath.Glob(w.profile("AppData/Local/beckon/history/*.jsonl"))
	for _, day := range days {
		b, e := os.ReadFile(day)
		n, err = n+bytes.Count(b, []byte(`"kind":"event"`)), errors.Join(err, e)
	}
	if err != nil || n != hooks {
		said, _ := os.ReadFile(w.profile("AppData/Local/beckon/log/beckon.log"))
		t.Errorf("%d of %d events are in the history, %v; the hooks say:\n%s", n, hooks, err, said)
	}
	if damaged, err := filepath.Glob(w.profile("AppData/Local/beckon/aside/*")); err != nil || len(damaged) > 0 {
		t.Errorf("%q were set aside, %v", damaged, err)
	}
}

// install checks that uninstall restores every byte.
func (w *wine) install(t *testing.T) {
	path := w.profile(".claude/settings.json")
	before := []byte("{\r\n\t\"model\": \"opus\", \"hooks\": {}\r\n}\r\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.run("", "beckon", "install", "--statusline"); code != 0 {
		t.Errorf("install: %d, %s", code, out)
	}
	if b, _ := os.ReadFile(path); !bytes.Contains(b, []byte(`beckon-hook.exe`)) {
		t.Errorf("installed: %s", b)
	}
	if out, code := w.run("", "beckon", "uninstall"); code != 0 {
		t.Errorf("uninstall: %d, %s", code, out)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, before) {
		t.Errorf("after uninstall: %q, %v", b, err)
	}
}

var (
	failedTest = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)
	passedTest = regexp.MustCompile(`(?m)^\s*--- PASS: `)
	complaint  = regexp.MustCompile(`^\s+\S+\.go:\d+: `)
)

// notInWine is wine 8's error for the call with which Go removes directories and their
// contents: Windows has it since its version 10, 1709.
const notInWine = ": Invalid function."

// tests runs tests of a package, compiled for Windows.
func (w *wine) tests(t *testing.T, pkg, run, skip string) {
	binary := filepath.Join(w.bin, strings.ReplaceAll(pkg, "/", "_")+".test.exe")
	w.host("go", "test", "-c", "-o", binary, "beckon/"+pkg)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.command(binary, "-test.short", "-test.v", "-test.timeout=100s", "-test.run="+run, "-test.skip="+skip)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	began := time.Now()
	b, err := cmd.CombinedOutput()
	out := strings.ReplaceAll(string(b), "\r\n", "\n")
	said := "" // by the test under way
	for line := range strings.Lines(out) {
		switch m := failedTest.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			t.Errorf("%s\n%.4000s", line, out[strings.Index(out, line):])
			return
		case m != nil && said != "":
			t.Errorf("%s: %s", m[1], said)
			said = ""
		case strings.Contains(line, "=== RUN"):
			said = ""
		case complaint.MatchString(line) && !strings.Contains(line, notInWine):
			said += line
		}
	}
	if exit := (*exec.ExitError)(nil); err != nil && !asExit(err, &exit) {
		t.Error(err)
	}
	n := len(passedTest.FindAllString(out, -1)) + strings.Count(out, "--- FAIL: ")
	if n < 10 || !strings.HasSuffix(out, "PASS\n") && !strings.HasSuffix(out, "FAIL\n") {
		t.Errorf("%d tests of %s were run: %.2000s", n, pkg, out)
	}
	t.Log(pkg + ": " + strconv.Itoa(n) + " tests in " + time.Since(began).Round(time.Second).String())
}
