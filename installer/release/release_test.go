// Package release contains what makes a release, and its tests. A whole release takes minutes
// and needs goreleaser, so it is made only on request:
//
//	go test ./installer/release -release -timeout 30m
package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"beckon/testdata/need"
)

var whole = flag.Bool("release", false, "make a whole release with goreleaser, and compare builds of everything")

// release is the part of goreleaser.yaml that tests check.
type release struct {
	Version int `yaml:"version"`
	Builds  []struct {
		ID, Main, Binary string
		Env, Flags       []string
		Goos, Goarch     []string
		Ldflags          []string
	}
	Archives []struct {
		IDs   []string `yaml:"ids"`
		Files []struct{ Src, Dst string }
	}
	Nfpms []struct {
		Formats  []string
		Contents []struct{ Src, Dst, Packager, Type string }
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	}
	Signs []struct {
		Artifacts, Cmd, Signature string
		Args                      []string
	}
}

func readRelease(t *testing.T) (r release) {
	t.Helper()
	b, err := os.ReadFile("../../goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if r.Version != 2 || len(r.Builds) != 2 || len(r.Archives) != 1 || len(r.Nfpms) != 1 || r.Checksum.NameTemplate == "" {
		t.Fatalf("goreleaser.yaml: %+v", r)
	}
	return r
}

// TestRelease reads goreleaser.yaml: all programs, for every platform. With -release it builds
// them without goreleaser, as TestGoreleaser does with it.
func TestRelease(t *testing.T) {
	r := readRelease(t)
	out := t.TempDir()
	for _, build := range r.Builds {
		if !slices.Contains(r.Archives[0].IDs, build.ID) {
			t.Errorf("build %q is in no archive", build.ID)
		}
		for _, goos := range []string{"linux", "darwin", "windows"} {
			for _, goarch := range []string{"amd64", "arm64"} {
				if !slices.Contains(build.Goos, goos) || !slices.Contains(build.Goarch, goarch) {
					t.Errorf("build %q leaves out %s/%s", build.ID, goos, goarch)
				}
				if !*whole {
					continue // a first build for six platforms takes a small machine ten minutes
				}
				ldflags := strings.ReplaceAll(strings.Join(build.Ldflags, " "), "{{.Version}}", "v0.0.0-test")
				// A test's tree may have no commit to stamp; TestReproducible's has one.
				args := slices.Concat([]string{"build"}, build.Flags, []string{"-buildvcs=auto", "-ldflags", ldflags, "-o", filepath.Join(out, build.Binary+goos+goarch), build.Main})
				cmd := exec.Command("go", args...)
				cmd.Dir = "../.."
				cmd.Env = append(append(os.Environ(), build.Env...), "GOOS="+goos, "GOARCH="+goarch)
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s for %s/%s: %v\n%s", build.ID, goos, goarch, err, msg)
				}
			}
		}
	}
}

// prepared runs installer/release/prepare.sh as goreleaser does.
func prepared(t *testing.T, key string) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("releases are made on Unix")
	}
	dir = filepath.Join(t.TempDir(), "release")
	cmd := exec.Command("./prepare.sh", "9.9.9", dir)
	cmd.Env = append(os.Environ(), "BECKON_SIGNING_KEY="+key, "BECKON_FROM=https://downloads.example/9.9.9")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("prepare.sh: %v\n%s", err, out)
	}
	return dir
}

// After prepare.sh has run, all contents of archives and packages exist, and a second run
// makes the same.
func TestReleaseFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	r := readRelease(t)
	key, signers := signingKey(t)
	dir, again := prepared(t, key), prepared(t, key+".pub")
	there := func(src string) {
		t.Helper()
		path := filepath.Join("../..", src)
		if rest, ok := strings.CutPrefix(src, ".release/"); ok {
			path = filepath.Join(dir, rest)
		}
		found, err := filepath.Glob(path)
		if err != nil || len(found) == 0 {
			t.Errorf("there is no %s: %v", src, err)
		}
		for _, f := range found {
			if info, err := os.Stat(f); err != nil || info.Size() < 100 {
				t.Errorf("%s: %v, %v", f, err, info)
			}
		}
	}
	for _, f := range r.Archives[0].Files {
		there(f.Src)
		// For goreleaser the dst of a pattern is a directory, that of a file the file's name.
		if f.Dst != "" && !strings.Contains(f.Src, "*") && filepath.Base(f.Dst) != filepath.Base(f.Src) {
			t.Errorf("%s would be the file %s", f.Src, f.Dst)
		}
	}
	for _, c := range r.Nfpms[0].Contents {
		if c.Src != "" && c.Type != "symlink" { // to a program, which is not among these files
			there(c.Src)
		}
	}
	if a, b := digests(t, dir), digests(t, again); a != b || strings.Count(a, "\n") != 16 {
		t.Errorf("prepare.sh gives\n%sand then\n%s", a, b)
	}
	signer, err := os.ReadFile(signers)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(dir, "install.sh"))
	want := "\nkey='" + strings.TrimSpace(strings.TrimPrefix(string(signer), "beckon ")) + "'\nfrom='https://downloads.example/9.9.9'\n"
	if err != nil || !strings.Contains(string(script), want) {
		t.Errorf("install.sh lacks %s: %v", want, err)
	}
}

// statement is what tests read of an in-toto statement.
type statement struct {
	Type          string `json:"_type"`
	PredicateType string
	Subject       []struct {
		Name   string
		Digest map[string]string
	}
	Predicate struct {
		BuildDefinition struct {
			BuildType            string
			ExternalParameters   map[string]string
			ResolvedDependencies []struct{ Digest map[string]string }
		}
		RunDetails struct{ Builder struct{ ID string } }
	}
}

func readStatement(t *testing.T, b []byte) (s statement) {
	t.Helper()
	err := json.Unmarshal(b, &s)
	d := &s.Predicate.BuildDefinition
	if err != nil || s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" || len(s.Subject) != 1 ||
		len(d.ResolvedDependencies) != 2 || d.BuildType == "" || d.ExternalParameters["ref"] == "" || s.Predicate.RunDetails.Builder.ID == "" {
		t.Fatalf("not a statement of provenance: %v\n%s", err, b)
	}
	return s
}

// The provenance of a file names its digest and the commit, and is the same when made again elsewhere.
func TestProvenance(t *testing.T) {
	for _, tool := range []string{"jq", "openssl", "git"} {
		need.Program(t, tool)
	}
	var made []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "a clone")
		clone(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "beckon_1.tar.gz"), []byte("an archive"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("installer/release/provenance.sh", filepath.Join(dir, "beckon_1.tar.gz"), "made.json")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("provenance.sh: %v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "made.json"))
		if err != nil {
			t.Fatal(err)
		}
		s := readStatement(t, b)
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte("an archive"))); s.Subject[0].Name != "beckon_1.tar.gz" || s.Subject[0].Digest["sha256"] != want {
			t.Errorf("it is of %+v, want the digest %s", s.Subject, want)
		}
		head, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
		if got := s.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"]; err != nil || got != strings.TrimSpace(string(head)) {
			t.Errorf("commit %s, want %s (%v)", got, head, err)
		}
		made = append(made, string(b))
	}
	if made[0] != made[1] {
		t.Errorf("made again:\n%s\nbefore:\n%s", made[1], made[0])
	}
}

// digests lists the files below dir with their SHA-256.
func digests(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(b), rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// clone clones this repository as a release has it, with a commit and no changes, for
// TestReproducible and TestGoreleaser.
func clone(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("git", "clone", "-q", "../..", dir).CombinedOutput(); err != nil {
		t.Fatalf("a release is made of a clone: %v\n%s", err, out)
	}
	// The clone includes uncommitted changes.
	cmd := exec.Command("sh", "-c", `git diff --binary HEAD | git -C "$1" apply --allow-empty && git ls-files -z -o --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$1" && cd "$1" && git add -A &&
		if ! git diff --cached --quiet; then git -c user.name=t -c user.email=t@example.invalid commit -q -m t --date 2026-01-02T03:04:05Z; fi`, "sh", dir)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("copying what is not committed: %v\n%s", err, out)
	}
}

// Two builds of one commit, in two directories, have the same bytes. It is beckon-hook alone that is
// built, with the packages compiled for both at once; with -release all programs are, with only Go
// and the modules in common.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes two clones")
	}
	r := readRelease(t)
	root := t.TempDir()
	var sums []string
	for i, dir := range []string{filepath.Join(root, "a"), filepath.Join(root, "another place", "with a longer name")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		clone(t, dir)
		out := filepath.Join(root, fmt.Sprint("out", i))
		for _, build := range r.Builds {
			if !*whole && build.ID != "beckon-hook" {
				continue
			}
			ldflags := strings.ReplaceAll(strings.Join(build.Ldflags, " "), "{{.Version}}", "9.9.9")
			cmd := exec.Command("go", slices.Concat([]string{"build"}, build.Flags, []string{"-ldflags", ldflags, "-o", filepath.Join(out, build.Binary), build.Main})...)
			cmd.Dir = dir
			cmd.Env = append(append(os.Environ(), "GOFLAGS="), build.Env...) // goreleaser.yaml has all flags
			if i > 0 && *whole {
				cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(root, "cache"))
			}
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", build.ID, err, msg)
			}
			if b, err := os.ReadFile(filepath.Join(out, build.Binary)); err != nil || bytes.Contains(b, []byte(root)) {
				t.Errorf("%s holds the directory that it was built in (%v)", build.ID, err)
			}
		}
		sums = append(sums, digests(t, out))
	}
	if sums[0] != sums[1] || sums[0] == "" {
		t.Errorf("the same commit gives\n%sand\n%s", sums[0], sums[1])
	}
	t.Logf("both times\n%s", sums[0])
}

// The manifests name every archive with its checksum, and have no placeholder left.
func TestManifests(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("releases are made on Unix")
	}
	dist := t.TempDir()
	var sums strings.Builder
	sum := map[string]string{}
	for i, name := range []string{
		"darwin_amd64.tar.gz",
		"darwin_arm64.tar.gz",
		"linux_amd64.deb",
		"linux_amd64.tar.gz",
		"linux_arm64.tar.gz",
		"linux_arm64.rpm",
		"windows_amd64.zip",
		"windows_arm64.zip",
	} {
		sum[name] = strings.Repeat(fmt.Sprint(i), 64)
		fmt.Fprintf(&sums, "%s  beckon_1.2.3_%s\n", sum[name], name)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dist, "checksums.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(sums.String())
	fill := func(from string) error {
		out, err := exec.Command("./manifests.sh", from, dist).CombinedOutput()
		if err != nil && !bytes.HasPrefix(out, []byte("manifests.sh: ")) {
			t.Errorf("%s: %v: %s", from, err, out)
		}
		return err
	}
	for _, from := range []string{"", "http://downloads.example/1", "https://", "https://x.example/$(id)", "https://x.example/a|b", "https://x.example/\"b", "dist"} {
		if fill(from) == nil {
			t.Errorf("%q is an address", from)
		}
	}
	if err := fill("https://downloads.example/beckon/1.2.3/"); err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, name := range []string{"beckon.rb", "beckon.json", "PKGBUILD", "beckon.nix"} {
		b, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil || regexp.MustCompile(`@\w+@`).Match(b) || !bytes.Contains(b, []byte("1.2.3")) {
			t.Fatalf("%s: %v, or something is left open:\n%s", name, err, b)
		}
		text[name] = string(b)
	}
	var scoop struct {
		Version      string
		Architecture map[string]struct{ URL, Hash string }
	}
	if err := json.Unmarshal([]byte(text["beckon.json"]), &scoop); err != nil || scoop.Version != "1.2.3" {
		t.Fatalf("%v: %s", err, text["beckon.json"])
	}
	pkgbuild := sourced(t, filepath.Join(dist, "PKGBUILD"))
	for name, digest := range sum {
		url := "https://downloads.example/beckon/1.2.3/beckon_1.2.3_" + name
		platform, ending, _ := strings.Cut(name, ".")
		archive, windows, linux := ending == "tar.gz", strings.HasPrefix(name, "windows"), strings.HasPrefix(name, "linux")
		pair := scoop.Architecture[map[string]string{"windows_amd64": "64bit", "windows_arm64": "arm64"}[platform]]
		if strings.Contains(text["beckon.rb"], "url \""+url+"\"\n      sha256 \""+digest+"\"\n") != archive {
			t.Errorf("%s in Homebrew's formula: not %t:\n%s", name, archive, text["beckon.rb"])
		}
		if windows && (pair.URL != url || pair.Hash != digest) {
			t.Errorf("%s is not where it belongs:\n%s", name, text["beckon.json"])
		}
		if strings.Contains(pkgbuild, url+" "+digest+"\n") != (archive && linux) {
			t.Errorf("%s in the PKGBUILD: not %t:\n%s", name, archive && linux, pkgbuild)
		}
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if out, err := exec.Command(ruby, "-c", filepath.Join(dist, "beckon.rb")).CombinedOutput(); err != nil {
			t.Errorf("the formula: %v\n%s", err, out)
		}
	}
	t.Run("nix", func(t *testing.T) { evaluated(t, filepath.Join(dist, "beckon.nix"), sum) })
	write(strings.Replace(sums.String(), "linux_arm64.tar.gz", "plan9_arm64.tar.gz", 1))
	if fill("https://downloads.example/") == nil {
		t.Error("a release without linux/arm64 has manifests")
	}
}

// sourced returns the addresses and checksums of a PKGBUILD, as a shell that reads it has them.
func sourced(t *testing.T, path string) string {
	t.Helper()
	bash := need.Program(t, "bash")
	out, err := exec.Command(bash, "-euc", `. "$1"
echo "$pkgname $pkgver"
for a in "${arch[@]}"; do
	eval "echo \"\${source_$a[*]} \${sha256sums_$a[*]}\""
done`, "bash", path).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "beckon-bin 1.2.3\n") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// evaluated checks what Nix makes of its package, on each system and one more.
func evaluated(t *testing.T, path string, sum map[string]string) {
	nix := need.Program(t, "nix-instantiate")
	for system, platform := range map[string]string{
		"x86_64-linux":   "linux_amd64",
		"aarch64-linux":  "linux_arm64",
		"x86_64-darwin":  "darwin_amd64",
		"aarch64-darwin": "darwin_arm64",
		"riscv64-linux":  "",
	} {
		cmd := exec.Command(nix, "--eval", "--strict", "--json", "-E", `import `+path+` {
			lib = { licenses.mit = "MIT"; sourceTypes.binaryNativeCode = "binary"; };
			stdenvNoCC = { hostPlatform.system = "`+system+`"; mkDerivation = d: d; };
			fetchurl = f: f;
			installShellFiles = "installShellFiles";
		}`)
		cmd.Env = append(os.Environ(), "NIX_STATE_DIR="+t.TempDir(), "NIX_STORE_DIR="+t.TempDir(), "HOME="+t.TempDir())
		out, err := cmd.Output()
		if platform == "" {
			if err == nil {
				t.Errorf("%s has the package %s", system, out)
			}
			continue
		}
		var d struct {
			Pname, Version string
			Src            struct{ URL, Sha256 string }
		}
		if err != nil || json.Unmarshal(out, &d) != nil {
			t.Fatalf("%s: %v: %s", system, err, out)
		}
		name := platform + ".tar.gz"
		if d.Pname+d.Version != "beckon1.2.3" || !strings.HasSuffix(d.Src.URL, "_"+name) || d.Src.Sha256 != sum[name] {
			t.Errorf("%s: %+v", system, d)
		}
	}
}

// signingKey makes a publisher's key, and the list of signers with its public half.
func signingKey(t *testing.T) (key, signers string) {
	t.Helper()
	tool := need.Program(t, "ssh-keygen")
	dir := t.TempDir()
	key, signers = filepath.Join(dir, "key"), filepath.Join(dir, "signers")
	if out, err := exec.Command(tool, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(signers, []byte("beckon "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	return key, signers
}

// verify checks a file's signature, as the manual says.
func verify(t *testing.T, signers, path string) error {
	t.Helper()
	line := `ssh-keygen -Y verify -f "$1" -I beckon -n beckon -s checksums.txt.sig < checksums.txt`
	manual, err := os.ReadFile("../../cmd/internal/manual/install.md")
	if err != nil || !bytes.Contains(manual, []byte(strings.ReplaceAll(line, `"$1"`, "KEYS"))) {
		t.Fatalf("the manual has another line than %s: %v", line, err)
	}
	cmd := exec.Command("sh", "-c", line, "sh", signers)
	cmd.Dir = filepath.Dir(path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// What goreleaser signs with a key in its environment is verified with the key's public half,
// and not with another, nor when a byte is changed.
func TestSignature(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("releases are made on Unix")
	}
	r := readRelease(t)
	if len(r.Signs) != 1 || r.Signs[0].Artifacts != "checksum" || r.Signs[0].Signature != "${artifact}.sig" {
		t.Fatalf("goreleaser.yaml signs %+v", r.Signs)
	}
	key, signers := signingKey(t)
	_, others := signingKey(t)
	sums := filepath.Join(t.TempDir(), "checksums.txt")
	if err := os.WriteFile(sums, []byte(strings.Repeat("0", 64)+"  beckon_1.2.3_linux_amd64.tar.gz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{{ .Env.BECKON_SIGNING_KEY }}", key, "$artifact", sums)
	var args []string
	for _, a := range r.Signs[0].Args {
		args = append(args, fill.Replace(a))
	}
	if out, err := exec.Command(r.Signs[0].Cmd, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", r.Signs[0].Cmd, args, err, out)
	}
	if err := verify(t, signers, sums); err != nil {
		t.Error(err)
	}
	if verify(t, others, sums) == nil {
		t.Error("another's key verifies it")
	}
	if err := os.WriteFile(sums, []byte(strings.Repeat("0", 63)+"1  beckon_1.2.3_linux_amd64.tar.gz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if verify(t, signers, sums) == nil {
		t.Error("it is verified with a byte changed")
	}
}
