package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/event"
	"beckon/installer"
	"beckon/state"
)

// The reason why a session has no mod is the first thing that would have to change.
func TestWhyNoMod(t *testing.T) {
	newClient := installer.Version{Major: 2, Minor: 1, Patch: 330}
	all := modSigns{client: newClient, since: 100}
	for want, c := range map[string]struct {
		m     modSigns
		meter string
		start event.Millis
	}{
		"its client is 2.1.197, and mods begin with 2.1.287": {all, "2.1.197", 200},
		"its client is 2.1.286, and mods begin with 2.1.287": {modSigns{client: installer.Version{Major: 2, Minor: 1, Patch: 286}}, "", 200},
		"none is installed": {modSigns{client: newClient}, "2.1.330", 200},
		"your organization allows only its own (/etc/m.json)":          {modSigns{client: newClient, since: 100, managed: "/etc/m.json", off: true}, "", 200},
		"its plugin is switched off":                                   {modSigns{client: newClient, since: 100, off: true}, "", 50},
		"the client refuses it: register.js:1: no such event \"gone\"": {modSigns{client: newClient, since: 100, refused: `register.js:1: no such event "gone"`}, "", 200},
		"it began before the mod was there":                            {all, "", 50},
		"it has not reported yet":                                      {all, "2.1.330", 200},
	} {
		v := state.Seen{Meter: event.Meter{Version: c.meter}, Session: state.Session{Start: state.Mark{At: c.start}}}
		if got, _ := c.m.missing(&v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An organization's setting counts in its own settings, and in the form that the client reads.
func TestManagedMods(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open := write("open.json", `{"pluginConfigs": {"cc-plugin-sec-default@builtin": {"options": {"allowManagedModsOnly": false}}}}`)
	only := write("only.json", `{"pluginConfigs": {"cc-plugin-sec-default@builtin": {"options": {"allowManagedModsOnly": true}}}}`)
	if got := managedMods([]string{filepath.Join(dir, "none"), write("bad.json", "{"), open}); got != "" {
		t.Errorf("%q", got)
	}
	if got := managedMods([]string{open, only}); got != only {
		t.Errorf("%q", got)
	}
}
