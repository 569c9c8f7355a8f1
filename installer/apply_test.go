package installer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	return home{t, dir, Settings(User, filepath.Join(dir, ".claude"), "", filepath.Join(dir, "keep"))}
}

// with is newHome with these settings.
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

func (h home) apply(op op) Change {
	h.t.Helper()
	c, err := Apply(h.Target, op)
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

// clean checks that no temporary file is left anywhere in the home.
func (h home) clean() {
	h.t.Helper()
	_ = filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".tmp") {
			h.t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

// kept lists the files in the Keep directory, except locks.
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
			if backup, err := os.ReadFile(c.kept.backup); err != nil || !bytes.Equal(backup, old) {
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
			checkRemoved(t, old, []byte(h.read()))
		})
	}
}

// The backup is restored even where remove would not restore the original.
func TestUninstallRestoresBackup(t *testing.T) {
	h := newHome(t).with("{}")
	c := h.apply(Install(testSpec))
	r, ok := keptFor(h.Keep, c.File).load()
	if !ok {
		t.Fatal("no record")
	}
	h.write(c.kept.backup, "{ \n}")
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
	h.write(c.kept.backup, "")
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

// A backup from before other changes must not overwrite them.
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
	if backup, err := os.ReadFile(c.kept.backup); err != nil || string(backup) != "{ }" {
		t.Fatalf("backup %q, %v", backup, err)
	}
	h.apply(Uninstall())
	h.is("{ }")
}

// After the entries were removed by hand, the next install is a first one.
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
		`@@ -1,3 +1,6 @@`, ` {`, `-  "model": "opus"`, `+  "model": "opus",`, `+  "hooks": {`,
		`+    "SessionEnd": [{"hooks": [{"type": "command", "command": "/b/beckon-hook", "args": ["SessionEnd"]}]}]`,
		`+  }`, ` }`, `\ No newline at end of file`, ``,
	}, "\n")
	if got := c.Diff(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if (Change{Old: []byte("a"), New: []byte("a")}).Diff() != "" {
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
	for scope, want := range map[Scope]string{
		User: "config/settings.json", Project: "project/.claude/settings.json", Local: "project/.claude/settings.local.json",
	} {
		got := Settings(scope, filepath.Join(root, "config"), filepath.Join(root, "project"), filepath.Join(root, "keep"))
		if got.Path != filepath.Join(root, filepath.FromSlash(want)) {
			t.Errorf("%s: %s", scope, got.Path)
		}
	}
}

func TestUnreadableSettingsAreLeftAlone(t *testing.T) {
	for _, r := range refused {
		h := newHome(t).with(r.text)
		_, err := Apply(h.Target, Install(testSpec))
		if !told(err) || !strings.Contains(err.Error(), fmt.Sprintf("%q", h.Path)) {
			t.Errorf("%s: %v", r.name, err)
		}
		h.is(r.text)
		h.clean()
		if left := h.kept(); left != nil {
			t.Errorf("%s: left behind: %v", r.name, left)
		}
	}
}
