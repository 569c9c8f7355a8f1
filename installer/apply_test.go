package installer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// home is a scratch home directory with its user settings.
type home struct {
	t   *testing.T
	dir string
	Target
}

func newHome(t *testing.T) home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	target, err := Dirs{Config: filepath.Join(dir, ".claude"), Keep: filepath.Join(dir, "keep")}.Target(User)
	if err != nil {
		t.Fatal(err)
	}
	return home{t, dir, target}
}

// with is newHome with settings in it.
func (h home) with(settings string) home {
	h.t.Helper()
	h.write(h.Path, settings)
	return h
}

func (h home) write(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h home) apply(op Op) Change {
	h.t.Helper()
	c, err := Apply(context.Background(), h.Target, op)
	if err != nil {
		h.t.Fatal(err)
	}
	h.clean()
	return c
}

func (h home) read() string {
	h.t.Helper()
	data, err := os.ReadFile(h.Path)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

func (h home) is(want string) {
	h.t.Helper()
	if got := h.read(); got != want {
		h.t.Fatalf("settings are\n%s\nwant\n%s", got, want)
	}
}

// clean makes sure that no temporary file is left, in all of the home.
func (h home) clean() {
	h.t.Helper()
	_ = filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".tmp") {
			h.t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

// kept lists what is in the Keep directory, lock files aside.
func (h home) kept() (names []string) {
	entries, _ := os.ReadDir(h.Keep)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestApplyRoundTrip(t *testing.T) {
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) {
			h := newHome(t).with(string(old))
			c := h.apply(Install(testSpec))
			h.is(string(mustEdit(t, old, testSpec)))
			if backup, err := os.ReadFile(c.Backup); err != nil || !bytes.Equal(backup, old) {
				t.Errorf("backup: %v", err)
			}
			if !h.apply(Install(testSpec)).Noop() {
				t.Error("second install changes something")
			}
			h.apply(Uninstall())
			h.is(string(old))
			if left := h.kept(); left != nil {
				t.Errorf("left behind: %v", left)
			}
			if !h.apply(Uninstall()).Noop() {
				t.Error("second uninstall changes something")
			}
		})
	}
}

func TestApplyWithoutBackup(t *testing.T) {
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) {
			h := newHome(t).with(string(old))
			h.apply(Install(testSpec))
			if err := os.RemoveAll(h.Keep); err != nil {
				t.Fatal(err)
			}
			h.apply(Uninstall())
			h.is(string(old))
		})
	}
}

// The backup is restored even where Remove would not find its way back.
func TestUninstallRestoresBackup(t *testing.T) {
	h := newHome(t).with("{}")
	c := h.apply(Install(testSpec))
	r, ok := keptFor(h.Keep, c.File).load()
	if !ok {
		t.Fatal("no record")
	}
	h.write(c.Backup, "{ \n}")
	r.Original = digest([]byte("{ \n}"))
	if err := keptFor(h.Keep, c.File).save(r, nil); err != nil {
		t.Fatal(err)
	}
	h.apply(Uninstall())
	h.is("{ \n}")
}

func TestDamagedBackupIsNotRestored(t *testing.T) {
	h := newHome(t).with("{}\n")
	c := h.apply(Install(testSpec))
	h.write(c.Backup, "")
	h.apply(Uninstall())
	h.is("{}\n")
}

func TestInstallCreates(t *testing.T) {
	h := newHome(t)
	if c, err := Plan(h.Target, Install(testSpec)); err != nil || c.Old != nil || !strings.HasPrefix(c.Diff(), "--- /dev/null\n") {
		t.Fatalf("%v\n%s", err, c.Diff())
	}
	if _, err := os.Stat(filepath.Dir(h.Path)); err == nil {
		t.Fatal("Plan made the directory")
	}
	h.apply(Install(testSpec))
	h.is(string(mustEdit(t, nil, testSpec)))
	h.apply(Uninstall())
	if _, err := os.Stat(filepath.Dir(h.Path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory that install made is still there: %v", err)
	}
}

func TestUninstallKeepsWhatWasAddedToACreatedFile(t *testing.T) {
	h := newHome(t)
	h.apply(Install(testSpec))
	h.write(h.Path, strings.Replace(h.read(), "{\n", "{\n  \"model\": \"opus\",\n", 1))
	h.apply(Uninstall())
	h.is("{\n  \"model\": \"opus\"\n}\n")
}

func TestUninstallRemovesACreatedFileThatIsEmptyAgain(t *testing.T) {
	h := newHome(t)
	h.apply(Install(testSpec))
	h.write(h.Path, h.read()+"\n\n") // touched by others, but nothing else in it
	h.apply(Uninstall())
	if _, err := os.Stat(h.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A backup from before other changes must not come back over them.
func TestUninstallKeepsChangesSinceInstall(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("updated=%v", again), func(t *testing.T) {
			h := newHome(t).with("{\n  \"model\": \"opus\"\n}\n")
			h.apply(Install(testSpec))
			h.write(h.Path, strings.Replace(h.read(), "opus", "haiku", 1))
			if again {
				h.apply(Install(Spec{Command: "/other/beckon-hook", Events: []string{"Stop"}}))
			}
			h.apply(Uninstall())
			h.is("{\n  \"model\": \"haiku\"\n}\n")
		})
	}
}

func TestUpdateKeepsTheFirstBackup(t *testing.T) {
	h := newHome(t).with("{ }")
	h.apply(Install(testSpec))
	c := h.apply(Install(Spec{Command: "/other/beckon-hook", Events: []string{"Stop"}}))
	if backup, err := os.ReadFile(c.Backup); err != nil || string(backup) != "{ }" {
		t.Fatalf("backup %q, %v", backup, err)
	}
	h.apply(Uninstall())
	h.is("{ }")
}

// Entries taken out by hand make the next install a first one.
func TestInstallAfterRemovalByHand(t *testing.T) {
	h := newHome(t)
	h.apply(Install(testSpec))
	h.write(h.Path, "{\"mine\": 1}")
	h.apply(Install(testSpec))
	h.apply(Uninstall())
	h.is("{\"mine\": 1}")
}

func TestDiff(t *testing.T) {
	h := newHome(t).with("{\n  \"model\": \"opus\"\n}")
	c, err := Plan(h.Target, Install(Spec{Command: "/b/beckon-hook", Events: []string{"SessionEnd"}}))
	if err != nil {
		t.Fatal(err)
	}
	want := "--- " + h.Path + "\n+++ " + h.Path + "\n" + strings.Join([]string{
		`@@ -1,3 +1,18 @@`, ` {`, `-  "model": "opus"`,
		`+  "model": "opus",`, `+  "hooks": {`, `+    "SessionEnd": [`, `+      {`, `+        "hooks": [`, `+          {`,
		`+            "type": "command",`, `+            "command": "/b/beckon-hook",`, `+            "args": [`, `+              "SessionEnd"`,
		`+            ]`, `+          }`, `+        ]`, `+      }`, `+    ]`, `+  }`, ` }`, `\ No newline at end of file`, ``,
	}, "\n")
	if got := c.Diff(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if Diff([]byte("a"), []byte("a"), "x") != "" {
		t.Error("a diff of equals")
	}
	h.is("{\n  \"model\": \"opus\"\n}")
}

func TestUnchangedFileIsNotWritten(t *testing.T) {
	h := newHome(t).with("{}")
	h.apply(Install(testSpec))
	before, err := os.Stat(h.Path)
	if err != nil {
		t.Fatal(err)
	}
	h.apply(Install(testSpec))
	after, err := os.Stat(h.Path)
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the file was replaced: %v", err)
	}
}

func TestScopes(t *testing.T) {
	root := t.TempDir()
	d := Dirs{Config: filepath.Join(root, "config"), Project: filepath.Join(root, "project"), Keep: filepath.Join(root, "keep")}
	for scope, want := range map[Scope]string{
		User: "config/settings.json", Project: "project/.claude/settings.json", Local: "project/.claude/settings.local.json",
	} {
		got, err := d.Target(scope)
		if err != nil || got.Path != filepath.Join(root, filepath.FromSlash(want)) {
			t.Errorf("%s: %s, %v", scope, got.Path, err)
		}
	}
	if _, err := d.Target(Managed); err == nil {
		t.Error("managed settings are ours to edit")
	}
	if _, err := (Dirs{Config: "x", Keep: root}).Target(User); err == nil {
		t.Error("a relative directory is taken")
	}
	// The project itself must be there.
	local, _ := d.Target(Local)
	if _, err := Apply(context.Background(), local, Install(testSpec)); err == nil {
		t.Error("a project was made")
	}
	if err := os.Mkdir(d.Project, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(context.Background(), local, Install(testSpec)); err != nil {
		t.Error(err)
	}
}

func TestUnreadableSettingsAreLeftAlone(t *testing.T) {
	for _, r := range refused {
		h := newHome(t).with(r.text)
		for _, op := range []Op{Install(testSpec), Uninstall()} {
			_, err := Apply(context.Background(), h.Target, op)
			e, ok := errors.AsType[*SettingsError](err)
			if !ok || e.File != h.Path {
				t.Errorf("%s: %v", r.name, err)
			}
		}
		h.is(r.text)
		h.clean()
		if left := h.kept(); left != nil {
			t.Errorf("%s: left behind: %v", r.name, left)
		}
	}
}

func TestObstacles(t *testing.T) {
	for name, put := range map[string]func(h home) error{
		"directory":             func(h home) error { return os.MkdirAll(h.Path, 0o700) },
		"file as directory":     func(h home) error { return os.WriteFile(filepath.Dir(h.Path), nil, 0o600) },
		"too large":             func(h home) error { h.write(h.Path, ""); return os.Truncate(h.Path, sizeLimit+1) },
		"read-only":             func(h home) error { h.write(h.Path, "{}"); return os.Chmod(h.Path, 0o400) },
		"Keep is not a dir":     func(h home) error { h.write(h.Path, "{}"); return os.WriteFile(h.Keep, nil, 0o600) },
		"backup cannot be kept": func(h home) error { h.write(h.Path, "{}"); return os.MkdirAll(keptFor(h.Keep, h.Path).backup, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if err := put(h); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(h.Path)
			_, err := Apply(context.Background(), h.Target, Install(testSpec))
			if _, ok := errors.AsType[*FileError](err); !ok {
				t.Errorf("error %v", err)
			}
			if after, _ := os.ReadFile(h.Path); !bytes.Equal(before, after) {
				t.Errorf("the file changed: %q", after)
			}
			h.clean()
		})
	}
}

// Another program writes right before our rename: what it wrote is edited instead.
func TestRewrittenMeanwhile(t *testing.T) {
	h := newHome(t).with("{\"n\": 0}")
	n := 0
	op := Install(testSpec)
	op.testOnlyBeforeRename = func() {
		if n++; n <= 3 {
			h.write(h.Path, fmt.Sprintf("{\"n\": %d}", n))
		}
	}
	h.apply(op)
	h.is(string(mustEdit(t, []byte("{\"n\": 3}"), testSpec)))
	h.apply(Uninstall())
	h.is("{\"n\": 3}")
}

func TestRewrittenForEver(t *testing.T) {
	for _, installed := range []bool{false, true} {
		h := newHome(t).with("{}")
		op := Install(testSpec)
		if installed {
			h.apply(op)
			op = Uninstall()
		}
		n := 0
		op.testOnlyBeforeRename = func() {
			n++
			h.write(h.Path, string(mustEdit(t, fmt.Appendf(nil, "{\"n\": %d}", n), Spec{Command: "/x/beckon-hook", Events: []string{"Stop"}})))
		}
		_, err := Apply(context.Background(), h.Target, op)
		if !errors.Is(err, ErrBusy) || n != applyTries {
			t.Errorf("%v after %d tries", err, n)
		}
		if !strings.Contains(h.read(), fmt.Sprintf("{\"n\": %d", n)) {
			t.Error("the other program's settings were overwritten")
		}
		h.clean()
	}
}

// A file that appears, or goes, while we edit.
func TestAppearsMeanwhile(t *testing.T) {
	h := newHome(t)
	once := sync.OnceFunc(func() { h.write(h.Path, "{\"theirs\": 1}") })
	op := Install(testSpec)
	op.testOnlyBeforeRename = once
	h.apply(op)
	h.apply(Uninstall())
	h.is("{\"theirs\": 1}")
}

func TestHalfWritten(t *testing.T) {
	h := newHome(t).with("")
	go func() {
		time.Sleep(settleDelay / 2)
		h.write(h.Path, "{\"theirs\": 1}")
	}()
	h.apply(Install(testSpec))
	h.is(string(mustEdit(t, []byte("{\"theirs\": 1}"), testSpec)))
}

// Installs at once, through a link and without, leave one set of entries, while
// another program keeps writing whole files.
func TestConcurrentInstalls(t *testing.T) {
	h := newHome(t).with("{\"n\": 0}")
	stop := make(chan struct{})
	var theirs, ours sync.WaitGroup
	theirs.Go(func() { rewrite(h, stop) })
	for i := range 8 {
		ours.Go(func() {
			spec := testSpec
			spec.Events = []string{"Stop", fmt.Sprintf("Event%d", i)}
			if _, err := Apply(context.Background(), h.Target, Install(spec)); err != nil && !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
		})
	}
	ours.Wait()
	close(stop)
	theirs.Wait()
	h.apply(Install(testSpec))
	checkEntries(t, []byte(h.read()), testSpec)
	h.apply(Uninstall())
	if got := h.read(); !strings.HasPrefix(got, "{\"n\": ") || owns([]byte(got)) {
		t.Errorf("settings are %s", got)
	}
	h.clean()
}

// rewrite changes a number in the settings again and again, as a program that knows
// nothing of our lock: read, change, rename. Every reading must be whole.
func rewrite(h home, stop chan struct{}) {
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(3 * time.Millisecond):
		}
		data, err := os.ReadFile(h.Path)
		if err != nil || checkSyntax(data) != nil {
			h.t.Errorf("read %q, %v", data, err)
			return
		}
		next := bytes.Clone(data)
		next[len(`{"n": `)] = byte('0' + n%2)
		tmp := h.Path + ".theirs"
		if os.WriteFile(tmp, next, 0o600) != nil || os.Rename(tmp, h.Path) != nil {
			h.t.Error("the other program could not write")
			return
		}
	}
}

// A temporary file that a killed run left goes with the next one, others stay.
func TestLeftoversAreSwept(t *testing.T) {
	h := newHome(t).with("{}")
	old := time.Now().Add(-2 * leftoverAge)
	for name, stays := range map[string]bool{".settings.json.beckon-1.tmp": false, ".settings.json.beckon-2.tmp": true, ".settings.json.1.tmp": true} {
		path := filepath.Join(filepath.Dir(h.Path), name)
		h.write(path, "")
		if name != ".settings.json.beckon-2.tmp" {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Apply(context.Background(), h.Target, Uninstall()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLockedByAnother(t *testing.T) {
	h := newHome(t).with("{}")
	if err := os.MkdirAll(h.Keep, 0o700); err != nil {
		t.Fatal(err)
	}
	l := flock.New(keptFor(h.Keep, h.Path).lock)
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Apply(ctx, h.Target, Install(testSpec)); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v", err)
	}
	h.is("{}")
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	h.apply(Install(testSpec))
}

const killedHome = "BECKON_TEST_KILLED_HOME"

// A kill at any moment leaves the file as it was or as it shall be, and never stands
// in the way of the next run.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killedHome); dir != "" {
		target, _ := Dirs{Config: filepath.Join(dir, ".claude"), Keep: filepath.Join(dir, "keep")}.Target(User)
		for {
			_, _ = Apply(context.Background(), target, Install(testSpec))
			_, _ = Apply(context.Background(), target, Uninstall())
		}
	}
	h := newHome(t).with("{\n}")
	edited := string(mustEdit(t, []byte("{\n}"), testSpec))
	for range 40 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), killedHome+"="+h.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Millisecond + rand.N(25*time.Millisecond))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if got := h.read(); got != "{\n}" && got != edited {
			t.Fatalf("settings are %q", got)
		}
	}
	if _, err := Apply(context.Background(), h.Target, Uninstall()); err != nil {
		t.Fatal(err)
	}
	h.is("{\n}")
}
