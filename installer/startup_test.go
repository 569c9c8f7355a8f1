package installer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the file contained, lines are added and removed in any order, adding twice adds
// once, and in the end the file has its original bytes.
func TestEditStartup(t *testing.T) {
	lines := []StartupLine{{"path", "PATH=/x:$PATH"}, {"prompt", `eval "$(/x/beckon init bash)"`}, {"completion", "source x"}}
	for name, old := range map[string][]byte{
		"no file": nil, "empty": {}, "a line": []byte("alias x=y\n"), "no line end": []byte("alias x=y"),
		"blank": []byte("\n\n"), "crlf": []byte("a\r\nb\r\n"), "a comment like ours": []byte("# >>> beckon setup >>> is a block\n"),
		"a block cut off": []byte("a\n" + blockBegin + "\n# path\nb\n"),
	} {
		for _, out := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			for _, more := range []string{"", "mine\n"} {
				h := newHome(t)
				h.Path = filepath.Join(h.dir, ".config", "rc")
				if old != nil {
					h.write(h.Path, string(old))
				}
				for range 2 {
					for _, l := range lines {
						h.apply(Put(l))
					}
				}
				text := h.read()
				if !strings.HasPrefix(text, string(old)) {
					t.Errorf("%s: what was there changed: %q", name, text)
				}
				if want := "# path\nPATH=/x:$PATH\n# prompt\neval \"$(/x/beckon init bash)\"\n# completion\nsource x\n" +
					blockEnd + "\n"; !strings.HasSuffix(text, blockBegin+"\n"+want) {
					t.Errorf("%s: lines in %q", name, text)
				}
				if more != "" {
					h.write(h.Path, text+more)
				}
				for _, i := range out {
					h.apply(Put(StartupLine{Name: lines[i].Name}))
				}
				want := string(old) + more
				if name == "no line end" && more != "" {
					want = string(old) + "\n" + more // not one line of two
				}
				if more == "" && old == nil {
					if _, err := os.Stat(filepath.Dir(h.Path)); !os.IsNotExist(err) {
						t.Errorf("%s: still there: %v", name, err)
					}
				} else if h.is(want); h.kept() != nil {
					t.Errorf("%s: left behind: %v", name, h.kept())
				}
			}
		}
	}
}

// A line with a new text replaces the old one.
func TestEditStartupReplaces(t *testing.T) {
	text := editStartup([]byte("a\n"), "path", "old", true)
	text = editStartup(text, "prompt", "p", true)
	text = editStartup(text, "path", "new", true)
	if want := "a\n" + blockBegin + "\n# path\nnew\n# prompt\np\n" + blockEnd + "\n"; string(text) != want {
		t.Errorf("%q, want %q", text, want)
	}
}

func hasLine(path, name string) bool {
	ours, _ := InStartup(path, name)
	return ours
}

func TestStartupApply(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "rc"), filepath.Join(dir, ".bashrc")
	if err := os.Mkdir(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("mine"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	s := Target{Scope: User, Path: link, Keep: filepath.Join(dir, "keep")}
	if c, err := Apply(s, Put(StartupLine{"path", "x"})); err != nil || c.Noop() || !hasLine(s.Path, "path") || hasLine(s.Path, "prompt") {
		t.Fatalf("%v, noop %v", err, c.Noop())
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := Apply(s, Put(StartupLine{Name: "path"})); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(real); string(got) != "mine" {
		t.Errorf("left %q", got)
	}
	// A file that we created is removed with its last line.
	fresh := Target{Scope: User, Path: filepath.Join(dir, "config", "fish", "config.fish"), Keep: s.Keep}
	for _, text := range []string{"x", ""} {
		if _, err := Apply(fresh, Put(StartupLine{"path", text})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(fresh.Path); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}
