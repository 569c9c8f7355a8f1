package doctor

import (
	"strings"
	"testing"

	"beckon/installer"
)

// The first scope that says whether hooks run decides; only an organization may allow its own alone.
func TestSwitches(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		files []installer.File
		want  string
	}{
		"none":                  {[]installer.File{{Scope: installer.User}}, ""},
		"user":                  {[]installer.File{{Scope: installer.User, Path: "u", DisableAllHooks: &yes}}, "set in u"},
		"project over user":     {[]installer.File{{Scope: installer.User, DisableAllHooks: &yes}, {Scope: installer.Project, DisableAllHooks: &no}}, ""},
		"local over project":    {[]installer.File{{Scope: installer.Project, DisableAllHooks: &no}, {Scope: installer.Local, Path: "l", DisableAllHooks: &yes}}, "set in l"},
		"managed over all":      {[]installer.File{{Scope: installer.Local, DisableAllHooks: &yes}, {Scope: installer.Managed, DisableAllHooks: &no}}, ""},
		"managed only":          {[]installer.File{{Scope: installer.Managed, Path: "m", ManagedOnly: true}}, "m allows managed hooks only"},
		"not the user's to say": {[]installer.File{{Scope: installer.User, ManagedOnly: true}}, ""},
	} {
		d := &doctor{settings: c.files}
		d.switches()
		got := ""
		for _, f := range d.findings {
			got += f.What
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
