//go:build unix

package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// shipped is a snapshot release made by goreleaser.
type shipped struct {
	*testing.T
	dist, version string
}

// TestGoreleaser makes a release with goreleaser and installs it in every way that this
// machine supports: from the archive, and from the packages.
func TestGoreleaser(t *testing.T) {
	if !*whole {
		t.Skip("it compiles for six platforms, with -release")
	}
	tool, err := exec.LookPath("goreleaser")
	if err != nil {
		t.Fatalf("%v (go install github.com/goreleaser/goreleaser/v2@v2.15.2)", err)
	}
	if _, err := exec.LookPath("syft"); err != nil {
		t.Fatalf("%v (go install github.com/anchore/syft/cmd/syft@v1.54.1)", err)
	}
	dir := filepath.Join(t.TempDir(), "src")
	clone(t, dir)
	key, signers := signingKey(t)
	for _, args := range [][]string{{"check"}, {"release", "--snapshot", "--clean"}} {
		cmd := exec.Command(tool, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "BECKON_SIGNING_KEY="+key)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("goreleaser %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	s := shipped{T: t, dist: filepath.Join(dir, "dist")}
	var meta struct{ Version string }
	if err := json.Unmarshal(s.read("metadata.json"), &meta); err != nil || meta.Version == "" {
		t.Fatalf("metadata: %v", err)
	}
	s.version = meta.Version
	s.everythingIsListed()
	if err := verify(t, signers, filepath.Join(s.dist, "checksums.txt")); err != nil {
		t.Errorf("the signature: %v", err)
	}
	t.Run("archives", func(t *testing.T) { s.with(t).archives() })
	t.Run("bills of material", func(t *testing.T) { s.with(t).boms(dir) })
	t.Run("provenance", func(t *testing.T) { s.with(t).provenance(dir) })
	t.Run("install.sh", func(t *testing.T) { s.with(t).script(filepath.Join(dir, ".release", "install.sh")) })
	t.Run("deb", func(t *testing.T) { s.with(t).deb() })
	t.Run("rpm", func(t *testing.T) { s.with(t).rpm() })
	t.Run("apk", func(t *testing.T) { s.with(t).apk() })
	t.Run("PKGBUILD", func(t *testing.T) { s.with(t).pkgbuild() })
}

func (s shipped) with(t *testing.T) shipped { s.T = t; return s }

func (s shipped) read(name string) []byte {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(s.dist, name))
	if err != nil {
		s.Fatal(err)
	}
	return b
}

// file returns the path of an artifact, such as linux_amd64.deb.
func (s shipped) file(end string) string {
	return filepath.Join(s.dist, "beckon_"+s.version+"_"+end)
}

// run runs a tool that not every machine has.
func (s shipped) run(tool string, args ...string) string {
	s.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		s.Skipf("the package is opened with %s: %v", tool, err)
	}
	out, err := exec.Command(tool, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		s.Fatalf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out)
}

// everythingIsListed checks that there are six archives, each with its bill of materials, and
// six packages, all with their checksums and provenance.
func (s shipped) everythingIsListed() {
	s.Helper()
	sums := string(s.read("checksums.txt"))
	if n := strings.Count(sums, "\n"); n != 30 {
		s.Errorf("%d files are listed:\n%s", n, sums)
	}
	made := digests(s.T, s.dist)
	for line := range strings.Lines(sums) {
		if !strings.Contains(made, line) {
			s.Errorf("not so: %s", line)
		}
	}
}

var archived = []string{
	"LICENSE",
	"README.md",
	"beckon",
	"beckon-hook",
	"completions/_beckon",
	"completions/beckon.bash",
	"completions/beckon.fish",
	"man/beckon.1.gz",
	"plugin/.claude-plugin/marketplace.json",
	"plugin/.claude-plugin/plugin.json",
	"plugin/.codex-plugin/plugin.json",
	"plugin/README.md",
	"plugin/commands/beckon.md",
	"plugin/gemini/gemini-extension.json",
	"plugin/gemini/hooks/beckon-hook",
	"plugin/gemini/hooks/hooks.json",
	"plugin/hooks/beckon-hook",
	"plugin/hooks/codex.json",
	"plugin/hooks/hooks.json",
}

func (s shipped) archives() {
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		got := strings.Fields(s.run("tar", "-tzf", s.file(platform+".tar.gz")))
		slices.Sort(got)
		if !slices.Equal(got, archived) {
			s.Errorf("%s holds %q", platform, got)
		}
	}
	zip := s.run("unzip", "-l", s.file("windows_amd64.zip"))
	for _, name := range archived {
		if strings.HasPrefix(name, "beckon") {
			name += ".exe"
		}
		if !strings.Contains(zip, "   "+name+"\n") {
			s.Errorf("the zip lacks %s:\n%s", name, zip)
		}
	}
}

// boms checks that the bill of materials of each archive names the modules of its programs, in
// their versions, and is the same when made again elsewhere.
func (s shipped) boms(src string) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, goarch := range []string{"amd64", "arm64"} {
			name := "beckon_" + s.version + "_" + goos + "_" + goarch + ".tar.gz"
			if goos == "windows" {
				name = strings.TrimSuffix(name, "tar.gz") + "zip"
			}
			bom := s.read(name + ".cdx.json")
			var b struct {
				BomFormat  string
				Components []struct{ Name, Version string }
			}
			if err := json.Unmarshal(bom, &b); err != nil || b.BomFormat != "CycloneDX" {
				s.Fatalf("%s: format %q, %v", name, b.BomFormat, err)
			}
			listed := map[string]bool{}
			for _, c := range b.Components {
				listed[c.Name+" "+c.Version] = true
			}
			modules := modulesOf(s.T, src, goos, goarch)
			for _, module := range modules {
				if !listed[module] {
					s.Errorf("%s: %s is not in its bill of materials", name, module)
				}
			}
			s.Logf("%s: %d modules, %d components", name, len(modules), len(b.Components))
			if goos == "linux" {
				s.sameBill(name, bom)
			}
		}
	}
}

// provenance checks that each archive and package has a statement that names it and the commit.
func (s shipped) provenance(src string) {
	commit := strings.TrimSpace(s.run("git", "-C", src, "rev-parse", "HEAD"))
	sums := strings.Fields(string(s.read("checksums.txt")))
	for _, end := range []string{"linux_amd64.tar.gz", "darwin_arm64.tar.gz", "windows_arm64.zip", "linux_arm64.deb", "linux_amd64.rpm", "linux_amd64.apk"} {
		name := filepath.Base(s.file(end))
		got := readStatement(s.T, s.read(name+".intoto.json"))
		at := slices.Index(sums, name)
		if at < 1 || got.Subject[0].Name != name || got.Subject[0].Digest["sha256"] != sums[at-1] {
			s.Errorf("%s: its provenance is of %+v", name, got.Subject)
		}
		if of := got.Predicate.BuildDefinition.ResolvedDependencies; of[0].Digest["gitCommit"] != commit {
			s.Errorf("%s is of %+v, not of %s", name, of, commit)
		}
	}
}

// modulesOf lists the modules of the programs on a platform, as "path version".
func modulesOf(t *testing.T, src, goos, goarch string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/beckon", "./cmd/beckon-hook")
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing modules: %v", err)
	}
	list := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(list)
	list = slices.DeleteFunc(slices.Compact(list), func(m string) bool { return m == "" })
	if len(list) < 5 {
		t.Fatalf("modules: %q", list)
	}
	return list
}

// sameBill makes a bill of materials again, in another directory.
func (s shipped) sameBill(name string, bom []byte) {
	s.Helper()
	elsewhere := s.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, name), s.read(name), 0o600); err != nil {
		s.Fatal(err)
	}
	script, err := filepath.Abs("sbom.sh")
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(script, name, "again.json")
	cmd.Dir = elsewhere
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("sbom.sh: %v\n%s", err, out)
	}
	again, err := os.ReadFile(filepath.Join(elsewhere, "again.json"))
	if err != nil || !bytes.Equal(again, bom) {
		s.Errorf("%s: made again, its bill of materials differs (%v)", name, err)
	}
}

// script installs this machine's archive with the release's install.sh, sets it up, and removes it.
func (s shipped) script(path string) {
	if runtime.GOOS != "darwin" && runtime.GOOS != "linux" {
		return
	}
	home := s.TempDir()
	run := func(args ...string) {
		s.Helper()
		cmd := exec.Command(path, args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			s.Fatalf("install.sh %q: %v\n%s", args, err, out)
		}
	}
	run("--from", s.dist, "--version", s.version)
	s.works(filepath.Join(home, ".local"))
	run("--remove")
	if left := files(s.T, home, "home"); len(left) > 0 {
		s.Errorf("it left %q", left)
	}
}

// works checks what was installed below a prefix.
func (s shipped) works(prefix string) {
	s.Helper()
	home := s.TempDir()
	beckon := func(args ...string) string {
		s.Helper()
		cmd := exec.Command(filepath.Join(prefix, "bin", "beckon"), args...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil && args[0] != "install" { // a program in a temporary directory is refused
			s.Errorf("beckon %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := beckon("version"); !strings.HasPrefix(out, "beckon "+s.version+" ") {
		s.Errorf("version: %s", out)
	}
	if out := beckon("install"); !strings.Contains(out, "in a temporary directory") && !strings.Contains(out, "installed 12 hooks") {
		s.Errorf("beckon-hook is not beside it: %s", out)
	}
	share := filepath.Join(prefix, "share")
	page := s.run("gzip", "-dc", filepath.Join(share, "man", "man1", "beckon.1.gz"))
	if !strings.Contains(page, `"beckon `+s.version+`"`) {
		s.Errorf("the manual is of another version: %.100s", page)
	}
	bash := filepath.Join(share, "bash-completion", "completions", "beckon")
	if out := s.run("bash", "-c", `. "$1" && complete -p beckon`, "bash", bash); !strings.Contains(out, "-F _beckon beckon") {
		s.Errorf("bash completes with %q", out)
	}
}

// packaged lists the files of a package, and those whose place depends on the distribution.
func packaged(more ...string) []string {
	list := append([]string{
		"usr/bin/beckon",
		"usr/bin/beckon-hook",
		"usr/bin/beckon-line",
		"usr/share/bash-completion/completions/beckon",
		"usr/share/doc/beckon/README.md",
		"usr/share/doc/beckon/copyright",
		"usr/share/fish/vendor_completions.d/beckon.fish",
		"usr/share/man/man1/beckon.1.gz",
	}, more...)
	slices.Sort(list)
	return list
}

// deb installs the package into a system of its own.
func (s shipped) deb() {
	path := s.file("linux_" + runtime.GOARCH + ".deb")
	fields := s.run("dpkg-deb", "-f", path, "Package", "Maintainer", "Description")
	if !strings.Contains(fields, "Package: beckon\n") || !strings.Contains(fields, "Maintainer: ") || !strings.Contains(fields, "Tells which of") {
		s.Errorf("%s", fields)
	}
	root := s.TempDir()
	if os.Geteuid() == 0 {
		for _, dir := range []string{"info", "updates"} {
			if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
				s.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			s.Fatal(err)
		}
		s.run("dpkg", "--root="+root, "--force-script-chrootless", "-i", path)
		if out := s.run("dpkg", "--root="+root, "--verify", "beckon"); out != "" {
			s.Errorf("dpkg finds changed: %s", out)
		}
	} else {
		s.run("dpkg-deb", "-x", path, root)
	}
	if got, want := files(s.T, filepath.Join(root, "usr"), "usr"), packaged("usr/share/zsh/vendor-completions/_beckon"); !slices.Equal(got, want) {
		s.Errorf("installed are %q, want %q", got, want)
	}
	s.works(filepath.Join(root, "usr"))
	if os.Geteuid() == 0 {
		s.run("dpkg", "--root="+root, "--force-script-chrootless", "--purge", "beckon")
		if left, err := os.ReadDir(root); err != nil || len(left) != 1 || left[0].Name() != "var" {
			s.Errorf("besides dpkg's own files it left %v, %v", left, err)
		}
	}
}

// files lists the files below dir, sorted, relative to its parent.
func files(t *testing.T, dir, as string) (list []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, as+"/"+path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func (s shipped) rpm() {
	got := strings.Fields(strings.ReplaceAll(s.run("rpm", "-qlp", s.file("linux_amd64.rpm")), "/usr", "usr"))
	slices.Sort(got)
	if want := packaged("usr/share/zsh/site-functions/_beckon", "usr/share/doc/beckon"); !slices.Equal(got, want) {
		s.Errorf("it holds %q, want %q", got, want)
	}
	if info := s.run("rpm", "-qip", s.file("linux_amd64.rpm")); !strings.Contains(info, "Build Host  : localhost\n") || !strings.Contains(info, "License     : MIT\n") {
		s.Errorf("%s", info)
	}
	if os.Geteuid() != 0 {
		return
	}
	root := s.TempDir()
	rpm := func(args ...string) string {
		s.Helper()
		return s.run("rpm", append([]string{"--root", root, "--dbpath", "/var/lib/rpm", "--nodeps"}, args...)...)
	}
	rpm("-i", s.file("linux_"+runtime.GOARCH+".rpm"))
	if out := rpm("--verify", "beckon"); out != "" {
		s.Errorf("rpm finds changed: %s", out)
	}
	s.works(filepath.Join(root, "usr"))
	rpm("-e", "beckon")
	// Directories of other packages, which are not in this system, stay.
	if left := files(s.T, filepath.Join(root, "usr"), "usr"); len(left) > 0 {
		s.Errorf("it left %q", left)
	}
	if _, err := os.Stat(filepath.Join(root, "usr/share/doc/beckon")); !errors.Is(err, fs.ErrNotExist) {
		s.Errorf("it left its directory: %v", err)
	}
}

// pkgbuild installs this machine's archive as the AUR's PKGBUILD does.
func (s shipped) pkgbuild() {
	if runtime.GOOS != "linux" {
		s.Skip("Arch Linux is a Linux")
	}
	root := s.TempDir()
	if out, err := exec.Command("./manifests.sh", "https://downloads.example", s.dist, root).CombinedOutput(); err != nil {
		s.Fatalf("manifests.sh: %v\n%s", err, out)
	}
	archive := s.file("linux_" + runtime.GOARCH + ".tar.gz")
	s.run("bash", "-euc", `cd "$1"
. ./PKGBUILD
mkdir src pkg
tar -xzf "$2" -C src
pkgdir=$PWD/pkg
cd src
package`, "bash", root, archive)
	want := packaged("usr/share/zsh/site-functions/_beckon", "usr/share/licenses/beckon-bin/LICENSE")
	want = slices.DeleteFunc(want, func(f string) bool {
		return f == "usr/bin/beckon-line" || strings.HasPrefix(f, "usr/share/doc/")
	})
	usr := filepath.Join(root, "pkg", "usr")
	if got := files(s.T, usr, "usr"); !slices.Equal(got, want) {
		s.Errorf("installed are %q, want %q", got, want)
	}
	s.works(usr)
}

func (s shipped) apk() {
	root := s.TempDir()
	// Three streams of gzip: tar must read all of them.
	out, err := exec.Command("sh", "-c", `gzip -dc "$1" | tar -xf - --ignore-zeros -C "$2"`, "sh", s.file("linux_amd64.apk"), root).CombinedOutput()
	if err != nil && !bytes.Contains(out, []byte("APK-TOOLS")) {
		s.Skipf("the package is opened with GNU tar: %v\n%s", err, out)
	}
	if got, want := files(s.T, filepath.Join(root, "usr"), "usr"), packaged("usr/share/zsh/site-functions/_beckon"); !slices.Equal(got, want) {
		s.Errorf("it holds %q, want %q", got, want)
	}
}
