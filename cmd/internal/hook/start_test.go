package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"beckon/event/home"
	"beckon/event/policy/trust"
)

// A user without a policy pays three lookups to find that out, and no more.
func TestPoliciedLooksThrice(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	global, local := filepath.Join(home, ".config", "beckon", "policy.json"), filepath.Join(project, ".beckon", "policy.json")
	kept := filepath.Join(home, ".local", "state", "beckon", "policy")
	for name, c := range map[string]struct {
		project string
		err     map[string]error
		looked  []string
		want    bool
	}{
		"none":                       {project, nil, []string{global, local, kept}, false},
		"no project is named":        {"", nil, []string{global, kept}, false},
		"a project's":                {project, map[string]error{local: nil}, []string{global, local}, true},
		"the global one":             {project, map[string]error{global: nil}, []string{global}, true},
		"one that cannot be told of": {project, map[string]error{global: errors.New("denied")}, []string{global}, true},
	} {
		var looked []string
		got := policied(func(name string) string {
			return map[string]string{"HOME": home, "CLAUDE_PROJECT_DIR": c.project}[name]
		},
			func(path string) (os.FileInfo, error) {
				looked = append(looked, path)
				if err, ok := c.err[path]; ok {
					return nil, err
				}
				return nil, fs.ErrNotExist
			})
		if got != c.want || !slices.Equal(looked, c.looked) {
			t.Errorf("%s: %v after looking at %q", name, got, looked)
		}
	}
}

// A fault while finding out whether there is a policy, or what it covers, never makes a hook
// exit with the code that refuses a call.
func TestFaultsBeforeThePolicy(t *testing.T) {
	for looks := range 6 {
		n := 0
		getenv := func(name string) string {
			if n++; n > looks && n < 20 {
				panic("a fault")
			}
			return map[string]string{"HOME": t.TempDir()}[name]
		}
		if !guarded(true, func() bool { return Policied(getenv) }) && n > looks {
			t.Errorf("after %d looks a fault is not a policy", looks)
		}
		n = 0
		if needs, _ := covered(Args{Event: "PreToolUse"}, getenv); needs != trust.Unknown {
			t.Errorf("after %d looks a fault covers %v", looks, needs)
		}
	}
}

// The next version of the programs, at the same place, may have other rules: it finds no
// stored coverage of the policy files.
func TestCoverageOfTheNextVersion(t *testing.T) {
	judge := home.Beside("beckon-hook")
	if err := os.WriteFile(judge, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(judge) })
	getenv := func(string) string { return "" }
	before := Coverage(getenv)
	if before != Coverage(getenv) {
		t.Fatal("the same programs are told apart")
	}
	if err := os.WriteFile(judge, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if before == Coverage(getenv) {
		t.Error("what one version wrote counts for the next")
	}
}
