package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// release is the part of goreleaser.yaml that this test holds.
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
		Files []string
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	}
}

// TestRelease builds what goreleaser.yaml says, for every platform of it. (The
// goreleaser of today needs a newer Go than this module.)
func TestRelease(t *testing.T) {
	b, err := os.ReadFile("../../goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if r.Version != 2 || len(r.Builds) != 2 || len(r.Archives) != 1 || r.Checksum.NameTemplate == "" {
		t.Fatalf("goreleaser.yaml: %+v", r)
	}
	for _, f := range r.Archives[0].Files {
		if _, err := os.Stat(filepath.Join("../..", f)); err != nil {
			t.Errorf("archive: %v", err)
		}
	}
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
				if testing.Short() {
					continue
				}
				ldflags := strings.ReplaceAll(strings.Join(build.Ldflags, " "), "{{.Version}}", "v0.0.0-test")
				cmd := exec.Command("go", append(append([]string{"build"}, build.Flags...), "-ldflags", ldflags, "-o", filepath.Join(out, build.Binary+goos+goarch), build.Main)...)
				cmd.Dir = "../.."
				cmd.Env = append(append(os.Environ(), build.Env...), "GOOS="+goos, "GOARCH="+goarch)
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s for %s/%s: %v\n%s", build.ID, goos, goarch, err, msg)
				}
			}
		}
	}
}
