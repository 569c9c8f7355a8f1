//go:build unix

package installer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"beckon/testdata/need"
)

// release is a release as install.sh finds it, in a directory and over HTTP.
type release struct {
	t        *testing.T
	dir, url string
}

const archiveName = "beckon_9.9.9_linux_amd64.tar.gz"

// programVersion is the source of the archive's beckon.
const programVersion = "#!/bin/sh\n[ \"$1\" = version ] && echo beckon 9.9.9 linux/amd64\n"

func newRelease(t *testing.T) release {
	r := release{t: t, dir: t.TempDir()}
	s := httptest.NewServer(http.FileServer(http.Dir(r.dir)))
	t.Cleanup(s.Close)
	r.url = s.URL
	r.archive(programVersion)
	r.list(archiveName)
	return r
}

// archive writes the archive, with that text as the program beckon.
func (r release) archive(program string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{
		{"beckon", program}, {"beckon-hook", "#!/bin/sh\n"}, {"completions/beckon.bash", "# bash\n"},
		{"completions/_beckon", "# zsh\n"}, {"completions/beckon.fish", "# fish\n"}, {"man/beckon.1.gz", "man"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.text))}); err != nil {
			r.t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.write(archiveName, b.Bytes())
}

func (r release) write(name string, data []byte) {
	if err := os.WriteFile(filepath.Join(r.dir, name), data, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// list writes checksums.txt with the archive's digest under these names, among others.
func (r release) list(names ...string) {
	data, err := os.ReadFile(filepath.Join(r.dir, archiveName))
	if err != nil {
		r.t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	text := strings.Repeat("0", 64) + "  beckon_9.9.9_darwin_arm64.tar.gz\n"
	for _, n := range names {
		text += hex.EncodeToString(sum[:]) + "  " + n + "\n"
	}
	r.write("checksums.txt", []byte(text+strings.Repeat("0", 64)+"  beckon_9.9.9_linux_amd64.deb\n"))
}

// basics are what every system has; each case adds the rest of the PATH.
const basics = "awk cat chmod cp cut dirname gzip mkdir mktemp mv rm sh tar"

// script runs install.sh with a PATH that has the basics and the tools, on a machine that
// uname reports as given. It returns the output and the prefix.
type script struct {
	sh      []string // the shell
	tools   string
	machine string // as uname -s and uname -m say
	args    []string
}

func (s script) run(t *testing.T) (said, prefix string, err error) {
	t.Helper()
	root := t.TempDir()
	bin, tmp, home := filepath.Join(root, "tools"), filepath.Join(root, "tmp"), filepath.Join(root, "my home")
	for _, d := range []string{bin, tmp, home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range strings.Fields(basics + " " + s.tools) {
		path, err := exec.LookPath(name)
		if err != nil {
			need.Missing(t, "install.sh is tried with %s: %v", name, err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	system, machine, _ := strings.Cut(s.machine, " ")
	uname := fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", system, machine)
	if err := os.WriteFile(filepath.Join(bin, "uname"), []byte(uname), 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.sh[0], append(append(s.sh[1:len(s.sh):len(s.sh)], path), s.args...)...)
	cmd.Dir = root
	cmd.Env = []string{"PATH=" + bin, "HOME=" + home, "TMPDIR=" + tmp}
	out, err := cmd.CombinedOutput()
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("it left %s in the temporary directory", left[0].Name())
	}
	return string(out), filepath.Join(home, ".local"), err
}

// shellPrograms returns the programs that may be a system's sh.
func shellPrograms(t *testing.T) (list [][]string) {
	for _, words := range [][]string{{"dash"}, {"busybox", "sh"}, {"bash", "--posix"}, {"ksh"}} {
		if path, err := exec.LookPath(words[0]); err == nil {
			list = append(list, append([]string{path}, words[1:]...))
		}
	}
	if len(list) == 0 {
		t.Skip("no shell is there to run install.sh")
	}
	return list
}

const linux = "Linux x86_64"

func TestInstallScript(t *testing.T) {
	for _, sh := range shellPrograms(t) {
		for name, s := range map[string]script{
			"curl":      {tools: "curl sha256sum"},
			"wget":      {tools: "wget sha256sum"},
			"directory": {tools: "sha256sum"},
			"shasum":    {tools: "curl shasum perl"},
			"openssl":   {tools: "curl openssl"},
		} {
			t.Run(filepath.Base(sh[0])+"/"+name, func(t *testing.T) {
				r := newRelease(t)
				s.sh, s.machine, s.args = sh, linux, []string{r.url + "/"}
				if name == "directory" {
					s.args = []string{r.dir}
				}
				said, prefix, err := s.run(t)
				if err != nil || !strings.Contains(said, "installed beckon 9.9.9 linux/amd64 in "+prefix+"/bin\n") || !strings.Contains(said, prefix+"/bin/beckon install (") {
					t.Fatalf("%v: %s", err, said)
				}
				for path, mode := range map[string]os.FileMode{
					"bin/beckon": 0o755, "bin/beckon-hook": 0o755, "share/bash-completion/completions/beckon": 0o644,
					"share/zsh/site-functions/_beckon": 0o644, "share/fish/vendor_completions.d/beckon.fish": 0o644, "share/man/man1/beckon.1.gz": 0o644,
				} {
					if info, err := os.Stat(filepath.Join(prefix, path)); err != nil || info.Mode().Perm() != mode {
						t.Errorf("%s: %v, %v", path, err, info)
					}
				}
				left, _ := filepath.Glob(filepath.Join(prefix, "bin", "*.new.*"))
				if len(left) > 0 {
					t.Errorf("it left %q", left)
				}
			})
		}
	}
}

// What cannot be trusted or run is refused with the reason, and nothing is installed.
func TestInstallScriptRefuses(t *testing.T) {
	cases := []struct {
		name    string
		tools   string
		machine string
		spoil   func(r release)
		from    string // in place of the release's address
		want    string
	}{
		{name: "damaged archive", spoil: func(r release) { r.archive("#!/bin/sh\necho evil\n") }, want: `is not what checksums.txt says: its SHA-256 is [0-9a-f]`},
		{name: "cut archive", spoil: func(r release) { _ = os.Truncate(filepath.Join(r.dir, archiveName), 100) }, want: `is not what checksums.txt says`},
		{name: "no checksums", spoil: func(r release) { _ = os.Remove(filepath.Join(r.dir, "checksums.txt")) }, want: `fetching "http://.*/checksums.txt"`},
		{name: "empty checksums", spoil: func(r release) { r.write("checksums.txt", nil) }, want: `lists no archive, or more than one, whose name ends in _linux_amd64.tar.gz`},
		{name: "not listed", spoil: func(r release) { r.list() }, want: `lists no archive, or more than one`},
		{name: "listed twice", spoil: func(r release) { r.list(archiveName, "beckon_1_linux_amd64.tar.gz") }, want: `lists no archive, or more than one`},
		{name: "listed elsewhere", spoil: func(r release) { r.list("../" + archiveName) }, want: `which is not an archive's name`},
		{name: "no archive", spoil: func(r release) { _ = os.Remove(filepath.Join(r.dir, archiveName)) }, want: `fetching "http://.*/beckon_9.9.9_linux_amd64.tar.gz"`},
		{name: "does not run", spoil: func(r release) { r.archive("#!/bin/sh\nexit 126\n"); r.list(archiveName) }, want: `does not run here`},
		{name: "other system", machine: "SunOS x86_64", want: `there is no archive for the system "SunOS"`},
		{name: "other processor", machine: "Linux riscv64", want: `there is no archive for the processor "riscv64"`},
		{name: "other archive", machine: "Darwin x86_64", want: `whose name ends in _darwin_amd64.tar.gz`},
		{name: "nothing to fetch with", tools: "sha256sum", want: `neither curl nor wget is there`},
		{name: "nothing to check with", tools: "curl", want: `none of sha256sum, shasum and openssl is there`},
		{name: "unprotected", from: "http://downloads.example/beckon", want: `is not an https address`},
		{name: "unprotected, disguised", from: "http://127.0.0.1.downloads.example/", want: `is not an https address`},
		{name: "unprotected, more disguised", from: "http://127.0.0.1:80@downloads.example/", want: `has a name in it`},
		{name: "no directory", from: "/nonexistent", want: `is neither an https address nor a directory`},
		{name: "not said", from: "-", want: `it is not said where the release lies|is not understood`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRelease(t)
			if c.spoil != nil {
				c.spoil(r)
			}
			s := script{sh: shellPrograms(t)[0], tools: "curl sha256sum", machine: linux, args: []string{r.url}}
			if c.tools != "" {
				s.tools = c.tools
			}
			if c.machine != "" {
				s.machine = c.machine
			}
			if c.from != "" {
				s.args = []string{c.from}
			}
			said, prefix, err := s.run(t)
			if err == nil || !regexp.MustCompile(c.want).MatchString(said) || !strings.Contains(said, "install.sh: ") {
				t.Errorf("%v: %s", err, said)
			}
			if _, err := os.Stat(prefix); !os.IsNotExist(err) {
				t.Errorf("something was installed: %v", err)
			}
		})
	}
}

// TestShellcheck checks the scripts that users and releases run.
func TestShellcheck(t *testing.T) {
	path := need.Program(t, "shellcheck")
	var scripts []string
	for _, place := range []string{"*.sh", "release/*.sh", "../testdata/release/*.sh"} {
		found, err := filepath.Glob(place)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %q", place, err, found)
		}
		scripts = append(scripts, found...)
	}
	if out, err := exec.Command(path, scripts...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
