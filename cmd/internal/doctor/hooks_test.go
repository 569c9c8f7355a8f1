package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/installer"
)

// The first scope that says whether hooks run decides; only an organization may allow its own alone.
func TestSwitches(t *testing.T) {
	const (
		off, on = `{"disableAllHooks": true}`, "\xef\xbb\xbf{\n\"disableAllHooks\": false, \"hooks\": 1}"
		managed = `{"allowManagedHooksOnly": true}`
	)
	type texts = map[installer.Scope]string
	for name, c := range map[string]struct {
		files texts
		want  string
	}{
		"none":                  {texts{installer.User: `{}`}, ""},
		"user":                  {texts{installer.User: off}, "set in user"},
		"project over user":     {texts{installer.User: off, installer.Project: on}, ""},
		"local over project":    {texts{installer.Project: on, installer.Local: off}, "set in local"},
		"managed over all":      {texts{installer.Local: off, installer.Managed: on}, ""},
		"managed only":          {texts{installer.Managed: managed}, "managed allows managed hooks only"},
		"not the user's to say": {texts{installer.User: managed}, ""},
		"no switch":             {texts{installer.User: `{"disableAllHooks": 1}`}, ""},
	} {
		dir := t.TempDir()
		d := &doctor{}
		for _, scope := range []installer.Scope{installer.User, installer.Project, installer.Local, installer.Managed} {
			if text := c.files[scope]; text != "" {
				path := filepath.Join(dir, string(scope))
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				d.settings = append(d.settings, installer.File{Scope: scope, Path: path})
			}
		}
		d.switches()
		got := ""
		for _, f := range d.findings {
			got += strings.ReplaceAll(f.What, dir+string(filepath.Separator), "")
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
