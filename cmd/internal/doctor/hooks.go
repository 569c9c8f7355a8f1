package doctor

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/event/agents"
	"beckon/event/plainfile"
	"beckon/event/typed"
	"beckon/installer"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/evidence"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"
)

// claude reports which Claude Code is installed.
func (d *doctor) claude() {
	c := d.client
	switch {
	case c.Path == "":
		d.add(warn, "client", "", "no claude on PATH: its version is not known")
	case !c.Version.Known():
		d.add(warn, "client", "", "%s does not say its version", c.Path)
	case !slices.Contains(installer.Events(c.Version, installer.CoreEvents), string(event.PermissionRequest)):
		d.add(fail, "client", "update Claude Code", "%s is version %s: too old to report permissions",
			c.Path, c.Version)
	default:
		d.add(ok, "client", "", "%s, version %s", c.Path, c.Version)
	}
}

// inspect reads the settings of all scopes.
func (d *doctor) inspect() {
	d.hooks, d.elsewhere = setup.Hooks(d.App, d.client)
	var targets []installer.Target
	for _, scope := range []installer.Scope{installer.User, installer.Project, installer.Local} {
		targets = append(targets, setup.Settings(d.App, scope))
	}
	for _, path := range installer.ManagedFiles(runtime.GOOS) {
		targets = append(targets, installer.Target{Scope: installer.Managed, Path: path})
	}
	for _, t := range targets {
		f := installer.InspectFile(t)
		// In the home directory the project's file is the user's own.
		if f.Real == "" || !slices.ContainsFunc(d.settings, func(g installer.File) bool { return g.Real == f.Real }) {
			d.settings = append(d.settings, f)
		}
	}
}

// inspectPlugins reads the plugins that have our hooks; the client takes a while to list them.
func (d *doctor) inspectPlugins() {
	d.plugins = d.client.PluginDirs()
	for _, dir := range d.plugins {
		if f := installer.InspectPlugin(dir); len(f.Entries) > 0 {
			d.settings = append(d.settings, f)
		}
	}
}

// Installed reports whether any settings or plugins have the hooks, those of a project elsewhere, too; those
// of Claude Code that cannot be read count as having them.
func Installed(a *cli.App) bool {
	d := &doctor{App: a}
	d.inspect()
	has := func(f installer.File) bool { return len(f.Entries) > 0 || f.Err != nil }
	on := func(s setup.Step) bool { return s.On }
	if len(d.elsewhere) > 0 || slices.ContainsFunc(d.settings, has) || slices.ContainsFunc(d.hooks, on) {
		return true
	}
	d.client = installer.FindClient(a.ClaudeDir())
	d.inspectPlugins()
	return slices.ContainsFunc(d.settings, has)
}

// entered returns the files with our hooks.
func (d *doctor) entered() []installer.File {
	return slices.DeleteFunc(slices.Clone(d.settings), func(f installer.File) bool { return len(f.Entries) == 0 })
}

// entries distinguishes: never installed, removed later, disabled, incomplete.
func (d *doctor) entries() {
	installed, answers := 0, false
	for _, f := range d.settings {
		answers = answers || slices.ContainsFunc(f.Entries, installer.Entry.Answers)
		switch {
		case f.Err != nil:
			d.add(fail, "settings", typed.HintOf(f.Err), "%v", f.Err)
		case len(f.Entries) > 0:
			installed++
			d.add(ok, "hooks", "", "%d entries in %s", len(f.Entries), f.Path)
			old := func(s setup.Step) bool { return s.Old && s.File.Path == f.Path }
			if d.client.Version.Known() && slices.ContainsFunc(d.hooks, old) {
				d.add(warn, "hooks", "beckon doctor --repair",
					"the entries in %s are not those that setup writes for Claude Code %s",
					f.Path, d.client.Version).repair = d.install
			}
			if f.Status != "" {
				d.add(ok, "status line", "", "beckon's")
			} else if f.Plugin == "" { // which cannot have one
				d.add(off, "status line", "beckon setup statusline",
					"not beckon's, which names the other sessions that need you")
			}
		case f.Recorded:
			d.add(fail, "hooks", "beckon doctor --repair",
				"removed later: %s had beckon's hooks, something took them out", f.Path).repair = d.install
			installed++
		}
	}
	if installed == 0 && slices.ContainsFunc(d.hooks, func(s setup.Step) bool { return s.On }) {
		d.add(off, "hooks", "beckon setup hooks", "Claude Code has none")
		return
	}
	if installed == 0 {
		d.add(fail, "hooks", "beckon setup", "never installed")
		return
	}
	if answers {
		d.add(ok, "answers", "", "what sessions ask can be answered from elsewhere (beckon answer)")
	}
	d.switches()
	d.duplicates()
}

// switches reports the settings that switch all hooks off. The last file with one decides: d.settings begins
// with the user's, and the organization's are behind all others.
func (d *doctor) switches() {
	decided := false
	for _, f := range slices.Backward(d.settings) {
		all, managed := setting(f.Path, "disableAllHooks"), setting(f.Path, "allowManagedHooksOnly")
		if all.Type == gjson.True && !decided {
			d.add(off, "hooks", "take disableAllHooks out of it", "switched off: disableAllHooks is set in %s", f.Path)
		}
		decided = decided || all.IsBool()
		if f.Scope == installer.Managed && managed.Type == gjson.True {
			d.add(off, "hooks", "ask whoever manages this machine", "switched off: %s allows managed hooks only",
				f.Path)
		}
	}
}

// install puts the hooks into the user's settings.
func (d *doctor) install() error {
	return (&setup.Cmd{Step: []string{"hooks"}, Scope: installer.User}).Run(d.App)
}

// programs checks the files that the entries name, and sends a real event through each.
func (d *doctor) programs() {
	entries := map[string]installer.Entry{} // by program, that of a session's start before others
	for _, f := range d.settings {
		for _, e := range append(f.Entries, installer.Entry{Program: f.Status}) {
			if _, has := entries[e.Program]; e.Program != "" && !has || e.Event == string(event.SessionStart) {
				entries[e.Program] = e
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		info, err := os.Stat(path)
		switch {
		case !filepath.IsAbs(path):
			d.add(fail, "program", "beckon setup hooks", "wrong path: %q is not absolute", path)
		case err != nil:
			d.add(fail, "program", "beckon setup hooks, or go install ./cmd/beckon ./cmd/beckon-hook",
				"wrong path: %s is not there, and every tool call prints an error", path)
		case !installer.Runnable(path, info):
			d.add(fail, "program", "chmod +x "+path, "wrong path: %s cannot be executed", path).
				repair = func() error { return os.Chmod(path, 0o755) }
		default:
			d.add(ok, "program", "", "%s", path)
			if e := entries[path]; e.Event == string(event.SessionStart) {
				d.tryOut(e)
			}
		}
	}
}

// duplicates reports events for which the client runs the hook more than once. Each still counts
// once when the copies have different origins. Of equal entries in settings the client runs one.
func (d *doctor) duplicates() {
	const fix = "keep one: beckon setup --undo hooks, for a project's with --scope project or local, " +
		"or claude plugin uninstall " + installer.PluginName + "@" + installer.PluginName
	places, runs := []string(nil), map[string]bool{}
	for _, f := range d.entered() {
		place := "in " + f.Path
		if f.Plugin != "" {
			place = "as a plugin in " + f.Plugin
		}
		places, runs[f.Plugin+"\x00"+f.Entries[0].Program] = append(places, place), true
	}
	paired := 0 // such as with a plugin that one session was given (--plugin-dir), which the client lists nowhere
	for _, v := range d.seen {
		if slices.ContainsFunc(v.Session.Recent, func(r state.Recent) bool { return r.Paired }) {
			paired++
		}
	}
	slices.Sort(places) // a plugin first
	what := "installed twice, " + strings.Join(places, " and ")
	if len(runs) < 2 {
		what = "every event comes twice in " + term.Plural(paired, "live session")
	}
	if len(runs) > 1 || paired > 0 {
		d.add(warn, "hooks", fix, "%s: each event counts once and is paid for twice", what)
	}
}

// others checks the hooks in other accounts of Claude Code, and those of other agents: that have them, had
// them, or could.
func (d *doctor) others() {
	var without []string
	for _, s := range d.hooks {
		f, setting := s.File, switchedOff(s.File.Path)
		switch {
		case s.Name == "hooks":
		case s.Agent == nil && s.On:
			d.add(ok, "hooks", "", "%d entries in %s, another account", len(f.Entries), f.Path)
		case s.Agent == nil:
			d.add(off, "hooks", "beckon setup", "the account in %s has none", filepath.Dir(f.Path))
		case f.Err != nil && (f.Recorded || s.On):
			d.add(fail, s.Name, typed.HintOf(f.Err), "%v", f.Err)
		case s.On && setting != "":
			d.add(off, s.Name, "", "switched off: %s, so none of its hooks run", setting)
		case s.On:
			d.agent(s)
		case f.Recorded:
			d.add(fail, s.Name, "beckon setup --agent "+s.Name,
				"removed later: %s had beckon's hooks, something took them out", f.Path)
		case s.Absent == "":
			without = append(without, s.Name)
		}
	}
	if len(without) > 0 {
		d.add(off, "agents", "beckon setup", "without hooks: %s", strings.Join(without, ", "))
	}
}

// agent checks the entries of an agent.
func (d *doctor) agent(s setup.Step) {
	if s.Old {
		d.add(fail, s.Name, "beckon setup --agent "+s.Name, "the hooks in %s are not as this version writes them",
			s.File.Path)
	}
	e := s.File.Entries[0]
	e.Args = []string{"SessionStart", "--agent", s.Name}
	if took, _, err := roundTrip(e); err != nil {
		d.broken(s.Name, e.Program, err)
	} else {
		d.add(ok, s.Name, "",
			"%shooks in %s; an event reached its session in %.1f ms (median of %d); measured with %s %s",
			installed(s.Agent), s.File.Path, millis(took), trips, s.Name, s.Agent.Measured)
	}
	if s.Then != "" {
		d.add(warn, s.Name, "", "%s", s.Then)
	}
}

// setting returns a member of an agent's settings; a file that cannot be read has none.
func setting(path, name string) gjson.Result {
	text, _ := plainfile.ReadFile(path)
	plain, _ := hujson.Standardize(text)
	return gjson.GetBytes(plain, name)
}

// switchedOff returns the agent's own setting that switches all its hooks off, or "": a member of
// the settings with the hooks, or Codex's feature in the config.toml beside them.
func switchedOff(path string) string {
	for name, off := range map[string]bool{"disableAllHooks": true, "hooksConfig.enabled": false, "hooks.enabled": false} {
		if v := setting(path, name); v.IsBool() && v.Bool() == off {
			return fmt.Sprintf("%s is %v in %s", name, off, path)
		}
	}
	path = filepath.Join(filepath.Dir(path), "config.toml")
	if text, _ := plainfile.ReadFile(path); regexp.MustCompile(hooksOff).Match(text) {
		return "features.hooks is false in " + path
	}
	return ""
}

// hooksOff matches Codex's feature switched off: in its table, by its whole name, or in a table on one line.
const hooksOff = `(?m)(?:^\s*\[features\].*\n(?:\s*[^\[\s].*\n|\s*\n)*\s*|` +
	`^\s*features\.|^\s*features\s*=\s*\{.*\b)hooks\s*=\s*false\b`

// installed returns which version of an agent is installed, if known.
func installed(ag *agents.Agent) string {
	if program, err := exec.LookPath(ag.Install.Program); err == nil {
		if v := evidence.ProgramVersion(ag, program); v != "" {
			return "version " + v + ", "
		}
	}
	return ""
}
