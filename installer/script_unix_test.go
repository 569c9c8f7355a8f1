//go:build unix

package installer

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"beckon/testdata/need"
)

// release is a release as install.sh finds it, in a directory and over HTTPS.
type release struct {
	t        *testing.T
	dir, url string
	ca       string // the file of the authority that vouches for the server
	key      string // the file of the publisher's key
}

const archiveName = "beckon_9.9.9_linux_amd64.tar.gz"

// programVersion is the source of the archive's beckon.
const programVersion = "#!/bin/sh\n[ \"$1\" = version ] && echo beckon 9.9.9 linux/amd64\n"

func newRelease(t *testing.T) release {
	r := release{t: t, dir: t.TempDir(), ca: filepath.Join(t.TempDir(), "ca.pem"), key: newKey(t)}
	files := http.FileServer(http.Dir(r.dir))
	plain := httptest.NewServer(files)
	t.Cleanup(plain.Close)
	mux := http.NewServeMux()
	mux.Handle("/", files)
	s := httptest.NewUnstartedServer(mux)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	mux.Handle("/moved/", http.StripPrefix("/moved", redirect(s.URL)))
	mux.Handle("/bare/", http.StripPrefix("/bare", redirect(plain.URL)))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(r.ca, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	r.url = s.URL
	r.archive(programVersion)
	r.list(archiveName)
	return r
}

// redirect answers every request with the same path of another server.
func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.Path, http.StatusFound)
	})
}

// newKey makes an SSH key and returns its file.
func newKey(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	keygen := need.Program(t, "ssh-keygen")
	if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	return path
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
	text += r.provenance(hex.EncodeToString(sum[:]))
	r.sums(text + strings.Repeat("0", 64) + "  beckon_9.9.9_linux_amd64.deb\n")
}

const commit = "0123456789abcdef0123456789abcdef01234567"

// provenance writes the archive's provenance, with this digest as the archive's, and returns its line
// of checksums.txt.
func (r release) provenance(digest string) string {
	text := fmt.Sprintf(`{"subject": [{"digest": {
  "sha256": %q}}], "predicate": {
  "gitCommit": %q}}`, digest, commit)
	r.write(archiveName+".intoto.json", []byte(text))
	return fmt.Sprintf("%x  %s.intoto.json\n", sha256.Sum256([]byte(text)), archiveName)
}

// sums writes and signs checksums.txt.
func (r release) sums(text string) {
	r.write("checksums.txt", []byte(text))
	sums := filepath.Join(r.dir, "checksums.txt")
	_ = os.Remove(sums + ".sig")
	out, err := exec.Command("ssh-keygen", "-Y", "sign", "-n", "beckon", "-f", r.key, sums).CombinedOutput()
	if err != nil {
		r.t.Fatalf("signing: %v\n%s", err, out)
	}
}

// script returns install.sh with that publisher's key, as prepare.sh makes it.
func (r release) script() string {
	public, err := os.ReadFile(r.key + ".pub")
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := os.ReadFile("install.sh")
	if err != nil || !bytes.Contains(text, []byte("\nkey=\n")) {
		r.t.Fatalf("install.sh has no place for a key: %v", err)
	}
	return strings.Replace(string(text), "\nkey=\n", "\nkey='"+strings.TrimSpace(string(public))+"'\n", 1)
}

// basics are what every system has; each case adds the rest of the PATH.
const basics = "awk cat chmod cp cut dirname gzip mkdir mktemp mv rm rmdir sh tar"

// script runs install.sh with a PATH that has the basics and the tools, on a machine that
// uname reports as given. It returns the output and the prefix.
type script struct {
	sh      []string // the shell
	tools   string
	machine string // as uname -s and uname -m say
	args    []string
	text    string // of install.sh
	ca      string
	home    string // a new one if empty
}

func (s script) run(t *testing.T) (said, prefix string, err error) {
	t.Helper()
	root := t.TempDir()
	bin, tmp, home := filepath.Join(root, "tools"), filepath.Join(root, "tmp"), cmp.Or(s.home, filepath.Join(root, "my home"))
	for _, d := range []string{bin, tmp, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
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
	path, rc := filepath.Join(root, "install.sh"), filepath.Join(root, "wgetrc")
	for path, text := range map[string]string{path: s.text, rc: "ca_certificate = " + s.ca + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(s.sh[0], append(append(s.sh[1:len(s.sh):len(s.sh)], path), s.args...)...)
	cmd.Dir = root
	cmd.Env = []string{"PATH=" + bin, "HOME=" + home, "TMPDIR=" + tmp, "CURL_CA_BUNDLE=" + s.ca, "WGETRC=" + rc}
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

var installed = map[string]os.FileMode{
	"bin/beckon":      0o755,
	"bin/beckon-hook": 0o755,
	"share/bash-completion/completions/beckon":    0o644,
	"share/zsh/site-functions/_beckon":            0o644,
	"share/fish/vendor_completions.d/beckon.fish": 0o644,
	"share/man/man1/beckon.1.gz":                  0o644,
}

func TestInstallScript(t *testing.T) {
	for _, sh := range shellPrograms(t) {
		for name, s := range map[string]script{
			"curl":      {tools: "curl sha256sum"},
			"wget":      {tools: "wget sha256sum"},
			"directory": {tools: "sha256sum"},
			"moved":     {tools: "curl sha256sum"},
			"shasum":    {tools: "curl shasum perl"},
			"openssl":   {tools: "curl openssl"},
		} {
			t.Run(filepath.Base(sh[0])+"/"+name, func(t *testing.T) {
				r := newRelease(t)
				from := map[string]string{"directory": r.dir, "moved": r.url + "/moved"}[name]
				s.sh, s.machine, s.text, s.ca, s.home = sh, linux, r.script(), r.ca, t.TempDir()
				s.tools += " ssh-keygen"
				s.args = []string{"--version", "v9.9.9", "--from=" + cmp.Or(from, r.url+"/")}
				said, prefix, err := s.run(t)
				if err != nil || !strings.Contains(said, "installed beckon 9.9.9 linux/amd64 in "+prefix+"/bin, ") || !strings.Contains(said, prefix+"/bin/beckon setup (") ||
					!strings.Contains(said, "it was built of commit "+commit+"\n") {
					t.Fatalf("%v: %s", err, said)
				}
				for path, mode := range installed {
					if info, err := os.Stat(filepath.Join(prefix, path)); err != nil || info.Mode().Perm() != mode {
						t.Errorf("%s: %v, %v", path, err, info)
					}
				}
				left, _ := filepath.Glob(filepath.Join(prefix, "*", "*.new*"))
				if len(left) > 0 {
					t.Errorf("it left %q", left)
				}
				s.args = []string{"--remove"}
				if said, _, err := s.run(t); err != nil || !strings.Contains(said, "removed beckon from "+prefix) {
					t.Errorf("%v: %s", err, said)
				}
				if traces, err := os.ReadDir(prefix); err != nil || len(traces) > 0 {
					t.Errorf("it left %v, %v", traces, err)
				}
			})
		}
	}
}

// An installation that fails half-way, as on a full disk, leaves the earlier one as it was.
func TestInstallScriptAllOrNothing(t *testing.T) {
	r := newRelease(t)
	home, tools := t.TempDir(), "sha256sum ssh-keygen"
	s := script{sh: shellPrograms(t)[0], tools: tools, machine: linux, args: []string{"--dir", filepath.Join(home, "in"), "--from", r.dir}, text: r.script(), home: home}
	if said, _, err := s.run(t); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	before := filesBelow(t, home)
	r.archive(programVersion + "# of a newer version\n")
	r.list(archiveName)
	s.text = strings.Replace(s.text, "\tcp \"$scratch/all/$name\"", "\t[ $name != man/beckon.1.gz ] || exit 3\n\tcp \"$scratch/all/$name\"", 1)
	if said, _, err := s.run(t); err == nil {
		t.Fatalf("it did not fail: %s", said)
	}
	if after := filesBelow(t, home); !maps.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", before, after)
	}
}

// filesBelow returns the files below a directory with their contents.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What cannot be trusted or run is refused with the reason, and nothing is installed.
func TestInstallScriptRefuses(t *testing.T) {
	cases := []struct {
		name    string
		tools   string
		machine string
		spoil   func(r release)
		key     string   // in place of the publisher's: another's, or none
		args    []string // in place of the release's address; URL stands for it
		want    string
	}{
		{name: "changed byte", spoil: func(r release) { r.change(archiveName) }, want: `is not what checksums.txt says: its SHA-256 is [0-9a-f]`},
		{name: "changed byte, checksum corrected", spoil: func(r release) {
			sig := r.read("checksums.txt.sig")
			r.change(archiveName)
			r.list(archiveName)
			r.write("checksums.txt.sig", sig)
		}, want: `the publisher did not sign this checksums.txt`},
		{name: "changed provenance", spoil: func(r release) { r.change(archiveName + ".intoto.json") },
			want: `intoto.json" is not what checksums.txt says: its SHA-256 is [0-9a-f]`},
		{name: "provenance of another archive", spoil: func(r release) {
			sums := string(r.read("checksums.txt"))
			lines := strings.SplitAfter(sums, "\n")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, ".intoto.json\n") })
			lines[i] = r.provenance(strings.Repeat("1", 64))
			r.sums(strings.Join(lines, ""))
		}, want: `the provenance of ".*" is another archive's`},
		{name: "no signature", spoil: func(r release) { _ = os.Remove(filepath.Join(r.dir, "checksums.txt.sig")) }, want: `fetching "https://.*/checksums.txt.sig"`},
		{name: "changed signature", spoil: func(r release) { r.change("checksums.txt.sig") }, want: `the publisher did not sign this checksums.txt`},
		{name: "signed by another", key: "another", want: `the publisher did not sign this checksums.txt`},
		{name: "no key", key: "none", want: `this install.sh has no publisher's key`},
		{name: "no ssh-keygen", tools: "curl sha256sum", want: `ssh-keygen is not there`},
		{name: "cut archive", spoil: func(r release) { _ = os.Truncate(filepath.Join(r.dir, archiveName), 100) }, want: `is not what checksums.txt says`},
		{name: "no checksums", spoil: func(r release) { _ = os.Remove(filepath.Join(r.dir, "checksums.txt")) }, want: `fetching "https://.*/checksums.txt"`},
		{name: "empty checksums", spoil: func(r release) { r.sums("") }, want: `lists no archive, or more than one, whose name ends in _linux_amd64.tar.gz`},
		{name: "not listed", spoil: func(r release) { r.list() }, want: `lists no archive, or more than one`},
		{name: "listed twice", spoil: func(r release) { r.list(archiveName, "beckon_1_linux_amd64.tar.gz") }, want: `lists no archive, or more than one`},
		{name: "listed elsewhere", spoil: func(r release) { r.list("../" + archiveName) }, want: `which is not an archive's name`},
		{name: "no archive", spoil: func(r release) { _ = os.Remove(filepath.Join(r.dir, archiveName)) }, want: `fetching "https://.*/beckon_9.9.9_linux_amd64.tar.gz"`},
		{name: "does not run", spoil: func(r release) { r.archive("#!/bin/sh\nexit 126\n"); r.list(archiveName) }, want: `does not run here`},
		{name: "other version", args: []string{"--from", "URL", "--version", "9.9.8"}, want: `which is not version 9.9.8`},
		{name: "other system", machine: "SunOS x86_64", want: `there is no archive for the system "SunOS"`},
		{name: "other processor", machine: "Linux riscv64", want: `there is no archive for the processor "riscv64"`},
		{name: "other archive", machine: "Darwin x86_64", want: `whose name ends in _darwin_amd64.tar.gz`},
		{name: "nothing to fetch with", tools: "sha256sum ssh-keygen", want: `neither curl nor wget is there`},
		{name: "nothing to check with", tools: "curl ssh-keygen", want: `none of sha256sum, shasum and openssl is there`},
		{name: "redirected to HTTP", args: []string{"--from", "URL/bare"}, want: `fetching "https://.*/bare/checksums.txt" with curl`},
		{name: "redirected to HTTP, wget", tools: "wget sha256sum ssh-keygen", args: []string{"--from", "URL/bare"}, want: `fetching "https://.*/bare/checksums.txt" with wget`},
		{name: "a server nobody vouches for", spoil: func(r release) { _ = os.WriteFile(r.ca, nil, 0o600) }, want: `fetching "https://.*/checksums.txt"`},
		{name: "unprotected", args: []string{"--from", "http://downloads.example/beckon"}, want: `is not an https address`},
		{name: "unprotected, here", args: []string{"--from", "http://127.0.0.1:1/"}, want: `is not an https address`},
		{name: "no directory", args: []string{"--from=/nonexistent"}, want: `is neither an https address nor a directory`},
		{name: "not said", args: []string{}, want: `it is not said where the release lies`},
		{name: "no value", args: []string{"--from"}, want: `--from needs a value`},
		{name: "not understood", args: []string{"--prefix", "/usr"}, want: `"--prefix" is not understood`},
		{name: "nothing to remove", args: []string{"--remove"}, want: `there is no .*/bin/beckon`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRelease(t)
			if c.spoil != nil {
				c.spoil(r)
			}
			s := script{
				sh:      shellPrograms(t)[0],
				tools:   cmp.Or(c.tools, "curl sha256sum ssh-keygen"),
				machine: cmp.Or(c.machine, linux),
				args:    []string{"--from", r.url},
				ca:      r.ca,
			}
			switch c.key {
			case "another":
				r.key = newKey(t)
			case "none":
				text, err := os.ReadFile("install.sh")
				if err != nil {
					t.Fatal(err)
				}
				s.text = string(text)
			}
			s.text = cmp.Or(s.text, r.script())
			if c.args != nil {
				s.args = slices.Clone(c.args)
				for i := range s.args {
					s.args[i] = strings.Replace(s.args[i], "URL", r.url, 1)
				}
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

func (r release) read(name string) []byte {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// change changes one byte in the middle of a file.
func (r release) change(name string) {
	b := r.read(name)
	b[len(b)/2] ^= 1
	r.write(name, b)
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
