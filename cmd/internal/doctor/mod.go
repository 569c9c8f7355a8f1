package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/event/plainfile"
	"beckon/installer"
	"beckon/state"
)

// heard is what reports on a session, and advice where the mod does not.
type heard struct{ what, advice string }

// sources lists for each live session which sources report on it, and why the mod is not among
// them: one line for all sessions with the same sources.
func (d *doctor) sources() {
	seen, _, err := d.Look(false)
	if err != nil {
		return // silence reports it
	}
	m := d.lookForMod()
	var kinds []heard
	of := map[heard][]string{}
	for _, v := range seen {
		var from []string
		for _, source := range []struct {
			name string
			is   bool
		}{
			{"hooks", v.Session.Seq > 0},
			{"mod", v.Session.Mod() != ""},
			{"registry", v.Evidence.Registry.Status != ""},
			{"transcript", readable(v.Session.Transcript)},
		} {
			if source.is {
				from = append(from, source.name)
			}
		}
		s := heard{what: cmp.Or(strings.Join(from, ", "), "nothing")}
		if v.Session.Mod() == "" {
			var why string
			why, s.advice = m.missing(&v)
			s.what += "; no mod: " + why
		}
		if of[s] == nil {
			kinds = append(kinds, s)
		}
		of[s] = append(of[s], cli.ShortID(v.Session.ID))
	}
	for _, s := range kinds {
		d.add(resultOK, "sources", s.advice, "%s (%s)", s.what, strings.Join(of[s], ", "))
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
	info, err := os.Stat(filepath.Join(dir, "hooks", "register.js"))
	if err != nil || !installer.IsMod(dir) {
		return m
	}
	m.since = event.MillisOf(info.ModTime())
	m.off = client.Path != "" && !slices.Contains(on, dir)
	if client.Version.RunsMods() {
		m.refused = refusal(client, dir)
	}
	return m
}

// managedMods returns the first of the files in which an organization allows only its own
// mods, or "".
func managedMods(files []string) string {
	for _, path := range files {
		var s struct {
			Plugins map[string]struct {
				Options struct {
					Only bool `json:"allowManagedModsOnly"`
				} `json:"options"`
			} `json:"pluginConfigs"`
		}
		data, err := plainfile.ReadFile(path)
		if err == nil && json.Unmarshal(data, &s) == nil && s.Plugins["cc-plugin-sec-default@builtin"].Options.Only {
			return path
		}
	}
	return ""
}

// refusal returns the client's first complaint about the mod in dir, or "" if it would load
// it.
func refusal(client installer.Client, dir string) string {
	out, err := client.Ask(context.Background(), "plugin", "validate", dir)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	failed := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		failed = failed || strings.HasPrefix(line, "✘")
		if what, ok := strings.CutPrefix(line, "❯ "); ok && failed {
			return what
		}
	}
	return "claude plugin validate " + dir + " says why"
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
	case v.Session.Start.At != 0 && v.Session.Start.At < m.since || v.Session.Start.At == 0 && v.Session.Created < m.since:
		return "it began before the mod was there", "restart it"
	}
	return "it was not heard of yet", "claude --debug writes to its log why a mod is not loaded"
}
