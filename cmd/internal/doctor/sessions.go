package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/event/plainfile"
	"beckon/installer"
	"beckon/render/term"
	"beckon/state"

	"github.com/tidwall/gjson"
)

// silence looks for live sessions that began after the install but sent no hook: the client
// has the hooks and does not run them.
func (d *doctor) silence() {
	if d.unseen != nil {
		d.fail("sessions", "", "%v", d.unseen)
		return
	}
	newer := 0 // this version leaves them alone, and its hooks add nothing to them
	for _, p := range d.Unread {
		if errors.Is(p.Err, state.ErrNewerSchema) {
			newer++
		}
	}
	if newer > 0 {
		d.fail("version", cli.UpdateAdvice, "%s of a newer beckon than this one (%s), left as they are",
			term.Plural(newer, "live session"), cli.Version())
	}
	since := d.installedAt()
	heard, before, silent := 0, 0, 0
	for _, v := range d.seen {
		switch {
		case v.Session.Seq > 0:
			heard++
		case v.Session.Created < since:
			before++
		default:
			silent++
		}
	}
	if before > 0 {
		d.warn("sessions", "they are heard when they do something; restart those that stay silent",
			"%s began before the install, and no hook was heard yet", term.Plural(before, "live session"))
	}
	if silent > 0 {
		d.fail("sessions", "in the client, /hooks shows what it will run; a folder that is not trusted runs none",
			"present but silent: %s began after the install, and no hook was ever heard", term.Plural(silent, "live session"))
	}
	if heard > 0 || silent == 0 {
		d.ok("sessions", "%s heard", term.Plural(heard, "live session"))
	}
}

// installedAt is when the newest settings file with our entries was written.
func (d *doctor) installedAt() event.Millis {
	var newest time.Time
	for _, f := range d.report.Files {
		if info, err := os.Stat(cmp.Or(f.Real, f.Path)); err == nil && len(f.Entries) > 0 && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return event.MillisOf(newest)
}

// sources lists for each live session which sources report on it, and why the mod is not among
// them: one line for all sessions with the same sources.
func (d *doctor) sources() {
	m := d.lookForMod()
	var lines []*finding
	for _, v := range d.seen {
		var from []string
		for name, is := range map[string]bool{
			"hooks":      v.Session.Seq > 0,
			"mod":        v.Session.Mod() != "",
			"registry":   v.Evidence.Registry.Status != "",
			"transcript": readable(v.Session.Transcript),
		} {
			if is {
				from = append(from, name)
			}
		}
		slices.Sort(from)
		what, fix := cmp.Or(strings.Join(from, ", "), "nothing"), ""
		if v.Session.Mod() == "" {
			var why string
			why, fix = m.missing(&v)
			what += "; no mod: " + why
		}
		i := slices.IndexFunc(lines, func(f *finding) bool { return strings.HasPrefix(f.What, what+" (") && f.Fix == fix })
		id := cli.ShortID(v.Session.ID) + ")"
		if i < 0 {
			lines = append(lines, d.add(resultOK, "sources", fix, "%s (%s", what, id))
			continue
		}
		lines[i].What = strings.TrimSuffix(lines[i].What, ")") + ", " + id
	}
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// modSigns are the facts that explain why a session has no mod.
type modSigns struct {
	client  installer.Version
	since   event.Millis // when the mod's file was written; zero if there is none
	off     bool         // the client lists the plugin as switched off
	managed string       // the settings file by which an organization allows only its own mods
	refused string       // the client's first complaint about it
}

func (d *doctor) lookForMod() modSigns {
	client := d.client
	m := modSigns{client: client.Version, managed: managedMods(installer.ManagedFiles(runtime.GOOS))}
	dir := setup.ModPlugin(d.App).Dir
	on := client.PluginDirs(context.Background())
	for _, other := range on {
		if installer.IsMod(other) {
			dir = other
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "hooks", "register.js")); err == nil && installer.IsMod(dir) {
		m.since = event.MillisOf(info.ModTime())
		m.off = client.Path != "" && !slices.Contains(on, dir)
		if client.Version.RunsMods() {
			m.refused = refusal(client, dir)
		}
	}
	return m
}

// refusal returns the client's first complaint about the mod in dir, or "" if it would load
// it.
func refusal(client installer.Client, dir string) string {
	out, err := client.Ask(context.Background(), "plugin", "validate", dir)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	_, errs, _ := strings.Cut(string(out), "✘")
	if _, first, ok := strings.Cut(errs, "❯ "); ok {
		first, _, _ = strings.Cut(first, "\n")
		return strings.TrimSpace(first)
	}
	return "claude plugin validate " + dir + " says why"
}

// managedMods returns the first of the files in which an organization allows only its own
// mods, or "".
func managedMods(files []string) string {
	const only = "pluginConfigs.cc-plugin-sec-default@builtin.options.allowManagedModsOnly"
	for _, path := range files {
		data, err := plainfile.ReadFile(path)
		if err == nil && gjson.ValidBytes(data) && gjson.GetBytes(data, only).Type == gjson.True {
			return path
		}
	}
	return ""
}

// missing returns why a session has no mod, and what helps.
func (m modSigns) missing(v *state.Seen) (why, advice string) {
	version := installer.ParseVersion(v.Meter.Version)
	if !version.Known() {
		version = m.client
	}
	switch {
	case version.Known() && !version.RunsMods():
		return "its client is " + version.String() + ", and mods begin with " + installer.ModSince.String(), ""
	case m.since == 0:
		return "none is installed", "beckon setup mod"
	case m.managed != "":
		return "your organization allows only its own (" + m.managed + ")", ""
	case m.off:
		return "its plugin is switched off", "claude plugin enable beckon@skills-dir"
	case m.refused != "":
		return "the client refuses it: " + m.refused, "beckon setup mod writes it again"
	case cmp.Or(v.Session.Start.At, v.Session.Created) < m.since:
		return "it began before the mod was there", "restart it"
	}
	return "it has not reported yet", "claude --debug writes to its log why a mod is not loaded"
}
