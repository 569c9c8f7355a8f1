//go:build unix

package installer

import (
	"beckon/event/typed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestModeIsKept(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o660} {
		h := newHome(t).with("{}")
		if err := os.Chmod(h.Path, mode); err != nil {
			t.Fatal(err)
		}
		for _, op := range []op{Install(testSpec), Uninstall()} {
			h.apply(op)
			if info, err := os.Stat(h.Path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%v became %v, %v", mode, info.Mode(), err)
			}
		}
	}
}

func TestNewFilesArePrivate(t *testing.T) {
	h := newHome(t)
	h.apply(Install(testSpec))
	for path, want := range map[string]fs.FileMode{filepath.Dir(h.Path): 0o700, h.Path: 0o600, h.Keep: 0o700, keptFor(h.Keep, h.Path).record: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give files away")
	}
	h := newHome(t).with("{}")
	if err := os.Chown(h.Path, 1234, 4321); err != nil {
		t.Fatal(err)
	}
	h.apply(Install(testSpec))
	info, err := os.Stat(h.Path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 1234 || s.Gid != 4321 {
		t.Errorf("owner %d:%d", s.Uid, s.Gid)
	}
}

// A settings file in a repository of dotfiles: the link's target is edited, the link stays.
func TestLinkIsKept(t *testing.T) {
	for name, dest := range map[string]string{"relative": "../dotfiles/claude.json", "absolute": "", "chain": "../second.json"} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			real := filepath.Join(h.dir, "dotfiles", "claude.json")
			h.write(real, "{\r\n}\r\n")
			link(t, "dotfiles/claude.json", filepath.Join(h.dir, "second.json"))
			if dest == "" {
				dest = real
			}
			link(t, dest, h.Path)
			c := h.apply(Install(testSpec))
			if c.File != real {
				t.Errorf("edited %s", c.File)
			}
			h.is(string(mustEdit(t, []byte("{\r\n}\r\n"), testSpec)))
			h.apply(Uninstall())
			if data, err := os.ReadFile(real); err != nil || string(data) != "{\r\n}\r\n" {
				t.Errorf("target is %q, %v", data, err)
			}
			if got, err := os.Readlink(h.Path); err != nil || got != dest {
				t.Errorf("link to %q, %v", got, err)
			}
		})
	}
}

func link(t *testing.T, dest, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dest, path); err != nil {
		t.Fatal(err)
	}
}

func TestLinkToNothing(t *testing.T) {
	h := newHome(t)
	real := filepath.Join(h.dir, "dotfiles", "new.json")
	link(t, "../dotfiles/new.json", h.Path)
	if _, err := Apply(h.Target, Install(testSpec)); err == nil {
		t.Fatal("the directory a link points into was made")
	}
	if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	h.apply(Install(testSpec))
	h.is(string(mustEdit(t, nil, testSpec)))
	h.apply(Uninstall())
	if _, err := os.Stat(real); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Lstat(h.Path); err != nil {
		t.Errorf("the link is gone: %v", err)
	}
}

// A home that is reached through a link, as /home is on some systems, before the client has made
// its directory.
func TestLinkAboveMissingDirectory(t *testing.T) {
	h := newHome(t)
	link(t, h.dir, h.dir+"-link")
	t.Cleanup(func() { _ = os.Remove(h.dir + "-link") })
	h.Path = filepath.Join(h.dir+"-link", ".claude", "settings.json")
	h.apply(Install(testSpec))
	h.is(string(mustEdit(t, nil, testSpec)))
	h.apply(Uninstall())
	if _, err := os.Stat(filepath.Join(h.dir, ".claude")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	line := StartupLine{"path", "x"}
	file := Target{Scope: User, Path: filepath.Join(h.dir+"-link", ".config", "fish", "config.fish"), Keep: h.Keep}
	if _, err := Apply(file, Put(line)); err != nil || !hasLine(file.Path, "path") {
		t.Errorf("a start-up file: %v", err)
	}
}

func TestLinkObstacles(t *testing.T) {
	for name, put := range map[string]func(h home) error{
		"link to itself": func(h home) error { link(t, "settings.json", h.Path); return nil },
		"FIFO":           func(h home) error { h.write(h.Path+".x", ""); return syscall.Mkfifo(h.Path, 0o600) },
		"device":         func(h home) error { link(t, "/dev/null", h.Path); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if err := put(h); err != nil {
				t.Fatal(err)
			}
			for _, op := range []op{Install(testSpec), Uninstall()} {
				_, err := Apply(h.Target, op)
				if !told(err) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	h := newHome(t).with("{}")
	dir := filepath.Dir(h.Path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	_, err := Apply(h.Target, Install(testSpec))
	if !errors.Is(err, fs.ErrPermission) || typed.HintOf(err) == "" {
		t.Errorf("error %v", err)
	}
	h.is("{}")
}

// The directory of a project's settings is for all who work there, also when it is made for the
// user's own; what is the user's alone is private.
func TestModesOfWhatIsMade(t *testing.T) {
	for scope, want := range map[Scope][2]fs.FileMode{User: {0o700, 0o600}, Project: {0o755, 0o644}, Local: {0o755, 0o600}} {
		root := t.TempDir()
		target := Settings(scope, filepath.Join(root, ".claude"), root, filepath.Join(root, "keep"))
		if _, err := Apply(target, Install(testSpec)); err != nil {
			t.Fatal(err)
		}
		for i, path := range []string{filepath.Dir(target.Path), target.Path} {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != want[i] {
				t.Errorf("%s: %s: %v, %v", scope, filepath.Base(path), info.Mode(), err)
			}
		}
	}
}

// Settings that are made elsewhere, and only linked here: the hint names the link, and the
// plugin, which needs no settings.
func TestLinkIntoReadOnlyStore(t *testing.T) {
	h := newHome(t)
	store := filepath.Join(h.dir, "store", "abc-claude")
	h.write(filepath.Join(store, "settings.json"), "{}")
	link(t, filepath.Join(store, "settings.json"), h.Path)
	for _, mode := range []fs.FileMode{0o400, 0o600} {
		if err := errors.Join(os.Chmod(store, 0o700), os.Chmod(filepath.Join(store, "settings.json"), mode), os.Chmod(store, 0o500)); err != nil {
			t.Fatal(err)
		}
		if mode == 0o600 && os.Getuid() == 0 {
			continue // root may write anywhere
		}
		_, err := Apply(h.Target, Install(testSpec))
		hint := typed.HintOf(err)
		if !strings.HasPrefix(hint, h.Path+" leads there") || !strings.Contains(hint, "the plugin, which needs no settings") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if err := os.Chmod(store, 0o700); err != nil {
		t.Fatal(err)
	}
}

// A settings file that another program makes a link just before it is removed: the link stays, also
// where it leads to no file yet.
func TestLinkedBeforeRemoval(t *testing.T) {
	h := newHome(t)
	h.apply(Install(testSpec))
	op := Uninstall()
	op.testOnlyBeforeRename = sync.OnceFunc(func() {
		if err := errors.Join(os.Remove(h.Path), os.Symlink("elsewhere.json", h.Path)); err != nil {
			t.Fatal(err)
		}
	})
	h.apply(op)
	if to, err := os.Readlink(h.Path); to != "elsewhere.json" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(h.Path), ".*.tmp"))
	if err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
