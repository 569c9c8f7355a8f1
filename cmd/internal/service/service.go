// Package service writes the units of commands that run while the user is logged in.
package service

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"beckon/cmd/internal/cli"
	"beckon/event/home"
	"beckon/event/plainfile"
)

// Unit is a command of this program that runs while the user is logged in.
type Unit struct {
	Name  string // "link" makes beckon-link.service
	About string
	Args  []string
}

// Write writes the unit for systemd, on macOS for launchd, and prints how to start it.
func (u Unit) Write(a *cli.App) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, text, begin, err := u.service(runtime.GOOS, self, a.Getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := plainfile.Write(path, []byte(text), 0o644, true); err != nil {
		return err
	}
	return a.Printf("wrote %s; this starts it:\n  %s\n", path, begin)
}

var (
	//go:embed systemd.service
	systemdUnit string
	//go:embed launchd.plist
	launchdAgent string
)

// service returns a unit, its path, and the command that starts it. The unit runs with the
// directories of this program's environment.
func (u Unit) service(goos, program string, getenv func(string) string) (path, text, begin string, err error) {
	dir := home.Dir(getenv)
	if !filepath.IsAbs(dir) {
		return "", "", "", errors.New("finding where units are: HOME is not set")
	}
	form := ""
	switch goos {
	case "linux":
		base := getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) {
			base = filepath.Join(dir, ".config")
		}
		form, path = systemdUnit, filepath.Join(base, "systemd", "user", "beckon-"+u.Name+".service")
		u.About = strings.ReplaceAll(u.About, "%", "%%")
		begin = "systemctl --user daemon-reload && systemctl --user enable --now beckon-" + u.Name
	case "darwin":
		form, path = launchdAgent, filepath.Join(dir, "Library", "LaunchAgents", "dev.beckon."+u.Name+".plist")
		begin = "launchctl bootstrap gui/" + strconv.Itoa(os.Getuid()) + " " + path
	default:
		advice := "run beckon " + strings.Join(u.Args, " ") + " at login, for instance by the Task Scheduler"
		return "", "", "", cli.Hint(advice, "there is no unit for %s", goos)
	}
	u.Args = append([]string{program}, u.Args...)
	set := slices.DeleteFunc([]string{"BECKON_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"},
		func(name string) bool { return getenv(name) == "" })
	var b strings.Builder
	err = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote, "word": word, "env": getenv}).Parse(form)).
		Execute(&b, struct {
			Unit
			Set []string
		}{u, set})
	return path, b.String(), begin, err
}

// quote quotes s for a systemd unit.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s) + `"`
}

// word quotes a word of a command, in which systemd would replace variables.
func word(s string) string { return strings.ReplaceAll(quote(s), "$", "$$") }
