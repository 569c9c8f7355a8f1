package doctor

import (
	"path/filepath"
	"testing"

	"beckon/cmd/internal/cli"
	"beckon/installer"
	"beckon/state/store"
)

// The hooks of a project count in any directory.
func TestInstalledInProject(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	t.Setenv("PATH", home) // no client
	t.Chdir(home)
	a := &cli.App{Store: store.Open(state), Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	if Installed(a) {
		t.Error("installed without hooks")
	}
	project := installer.Settings(installer.Project, "", t.TempDir(), filepath.Join(state, "install"))
	spec := installer.Spec{Command: "/opt/beckon-hook", Events: []string{"Stop"}}
	if _, err := project.Hooks(spec).Apply(true); err != nil {
		t.Fatal(err)
	}
	if !Installed(a) {
		t.Error("the hooks of a project are not found")
	}
}
