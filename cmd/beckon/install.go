package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"beckon/cmd/internal/config"
	"beckon/installer"
)

type installCmd struct {
	Scope  string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	Events string   `enum:"core,all" default:"core" help:"core is what the states need; all adds the rest."`
	Hook   string   `help:"The beckon-hook program to name (default: the one beside this program)." placeholder:"PATH"`
	Notify []string `enum:"terminal,desktop,command,sound,title" help:"Channels that tell you when a session needs you: terminal, desktop, command, sound, title." placeholder:"CHANNEL"`
	Status bool     `name:"statusline" help:"Also make beckon the status line; one that is there is kept and runs first."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
}

type uninstallCmd struct {
	Scope  string `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	DryRun bool   `help:"Print what would change as a diff, and change nothing."`
}

func (c *installCmd) Run(a *app) error {
	program, err := a.hookProgram(c.Hook)
	if err != nil {
		return err
	}
	client := installer.ClientVersion(context.Background(), exec.LookPath)
	spec := installer.Spec{
		Command: program, Form: client.Version.Form(),
		Events: installer.Events(client.Version, installer.Set(c.Events)),
	}
	if c.Status {
		if spec.StatusLine, err = a.beside(program, "beckon"); err != nil {
			return err
		}
	}
	change, err := a.edit(c.Scope, installer.Install(spec), c.DryRun)
	if err == nil && len(c.Notify) > 0 {
		err = a.chooseChannels(c.Notify, c.DryRun)
	}
	if err != nil || c.DryRun {
		return err
	}
	if change.Noop() {
		fmt.Fprintf(a.stdout, "hooks are installed already in %s\n", change.File)
		return nil
	}
	fmt.Fprintf(a.stdout, "installed %d hooks in %s (client %s)\n", len(spec.Events), change.File, client.Version)
	if !client.Version.Known() {
		fmt.Fprintln(a.stdout, "  no client was found to ask for its version: only the events that every client knows are registered")
	}
	if c.Status {
		fmt.Fprintln(a.stdout, "  the status line names the other sessions that need you")
	}
	fmt.Fprintln(a.stdout, "  sessions that run already take the hooks up within seconds; until then beckon lists them from the client's registry")
	return nil
}

// chooseChannels writes the channels into the configuration.
func (a *app) chooseChannels(channels []string, dryRun bool) error {
	path, err := config.Path(a.getenv)
	if err != nil {
		return err
	}
	if dryRun {
		fmt.Fprintf(a.stdout, "would set notify to %s in %s\n", strings.Join(channels, ", "), path)
		return nil
	}
	changed, err := config.Set(path, "notify", channels)
	if changed {
		fmt.Fprintf(a.stdout, "notify is %s in %s\n", strings.Join(channels, ", "), path)
	}
	return err
}

func (c *uninstallCmd) Run(a *app) error {
	change, err := a.edit(c.Scope, installer.Uninstall(), c.DryRun)
	if err != nil || c.DryRun {
		return err
	}
	if change.Noop() {
		fmt.Fprintf(a.stdout, "no hooks of beckon in %s\n", change.File)
		return nil
	}
	fmt.Fprintf(a.stdout, "took the hooks out of %s\n", change.File)
	return nil
}

// edit plans or applies one change of a settings file.
func (a *app) edit(scope string, op installer.Op, dryRun bool) (installer.Change, error) {
	t, err := a.settings(installer.Scope(scope))
	if err != nil {
		return installer.Change{}, err
	}
	if !dryRun {
		return installer.Apply(context.Background(), t, op)
	}
	change, err := installer.Plan(t, op)
	if err == nil {
		fmt.Fprint(a.stdout, change.Diff())
	}
	return change, err
}

// settings finds the settings file of a scope. Backups and records of edits
// lie in the state directory, where nothing else prunes them.
func (a *app) settings(scope installer.Scope) (installer.Target, error) {
	dir, err := os.Getwd()
	if err != nil {
		return installer.Target{}, err
	}
	config, err := filepath.Abs(a.claudeDir())
	if err != nil {
		return installer.Target{}, err
	}
	dirs := installer.Dirs{Config: config, Project: projectRoot(dir), Keep: filepath.Join(a.st.Dir, "install")}
	return dirs.Target(scope)
}

// projectRoot is the directory whose .claude the client reads: the nearest
// one that has a .claude or a .git, else dir.
func projectRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		for _, mark := range []string{".claude", ".git"} {
			if _, err := os.Stat(filepath.Join(d, mark)); err == nil {
				return d
			}
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// hookProgram is the program that the entries name: the one asked for, else
// beckon-hook beside this program.
func (a *app) hookProgram(asked string) (string, error) {
	path := asked
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("finding this program: %w", err)
		}
		path = filepath.Join(filepath.Dir(self), "beckon-hook"+exeSuffix())
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return installer.StablePath(path, installer.Places{Home: a.getenv("HOME"), Temp: os.TempDir(), GoCache: a.goCache()})
}

// beside is the program of that name in the directory of another one.
func (a *app) beside(program, name string) (string, error) {
	path := filepath.Join(filepath.Dir(program), name+exeSuffix())
	return installer.StablePath(path, installer.Places{Home: a.getenv("HOME"), Temp: os.TempDir(), GoCache: a.goCache()})
}

// goCache is where `go run` puts programs, empty when there is no go.
func (a *app) goCache() string {
	if d := a.getenv("GOCACHE"); d != "" {
		return d
	}
	if d, err := os.UserCacheDir(); err == nil {
		return filepath.Join(d, "go-build")
	}
	return ""
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
