package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/event"
)

// With a policy, an agent that is about to change what restricts it must ask, in whatever form
// it does so. A home directory may contain characters that have a meaning in a pattern.
func TestOwnRules(t *testing.T) {
	t.Run("plain", func(t *testing.T) { ownRules(t, "home", true) })
	t.Run("with wildcards", func(t *testing.T) { ownRules(t, "ho[m]e {a,b}", false) })
}

// ownRules tries them in a home directory. searches says whether a search that begins above
// beckon's directories is recognised as ending in them: in such a path a pattern cannot be
// told from the directory's own characters.
func ownRules(t *testing.T, name string, searches bool) {
	u := newUser(t, on("PreToolUse", `{"type":"rule","decision":"deny","reason":"Not here.","commands":["never"]}`), "")
	home := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Join(home, ".config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(u.dir, ".config", "beckon"), filepath.Join(home, ".config", "beckon")); err != nil {
		t.Fatal(err)
	}
	u.env["HOME"], u.env["BECKON_STATE_DIR"] = home, filepath.Join(home, ".local", "state", "beckon")
	asks := func(tool, input string) bool {
		t.Helper()
		out := u.fire(event.PreToolUse, `,"tool_name":"`+tool+`","tool_use_id":"t1","tool_input":`+input)
		return strings.Contains(out, `"permissionDecision":"ask"`)
	}
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for path, want := range map[string]bool{
		home + "/.config/beckon/policy.json":               true,
		home + "/.config/beckon/config.json":               true,
		home + "/.config/../.config/beckon/policy.json":    true,
		home + "/.claude/settings.json":                    true,
		home + "/.claude/settings.local.json":              true,
		home + "/.local/state/beckon/offers/open/X/answer": true,
		home + "/.config/other/policy.json":                false,
		u.dir + "/settings.json":                           false,
		u.dir + "/home a/.config/beckon/policy.json":       false, // as a pattern the home directory would match
		home + "/.claude/projects/x/memory.md":             false,
	} {
		if got := asks("Write", `{"content":"x","file_path":`+quoted(path)+`}`); got != want {
			t.Errorf("writing %s asks: %v", path, got)
		}
		if asks("Read", `{"file_path":`+quoted(path)+`}`) {
			t.Errorf("reading %s asks", path)
		}
	}
	for line, want := range map[string]bool{
		"rm ~/.config/beckon/policy.json":                          true,
		"echo {} > ~/.config/beckon/policy.json":                   true,
		"cd ~/.config && mv beckon beckon.old":                     true,
		"cp x.json ~/.config/beckon/":                              true,
		"sed -i s/deny/allow/ ~/.config/beckon/policy.json":        true,
		"tar x -C ~/.config/beckon -f a.tar":                       true,
		"find ~/.config -name policy.json -delete":                 searches,
		"find ~/.config -type f -name '*.json' -exec rm {} +":      searches,
		"bash -c 'rm -r ~/.config/beckon'":                         true,
		"beckon answer checkout yes":                               true,
		"env -u CLAUDECODE beckon policy trust":                    true,
		"~/.local/bin/beckon uninstall":                            true,
		"beckon list":                                              false,
		"beckon policy check":                                      false,
		"cat ~/.config/beckon/policy.json":                         false,
		"grep -r beckon src && rm -r build":                        false,
		"find ~/.config/other -name x.json -delete":                false,
		"git commit -m 'beckon policy trust is what nobody wants'": false,
	} {
		if got := asks("Bash", `{"command":`+quoted(line)+`}`); got != want {
			t.Errorf("%s asks: %v", line, got)
		}
	}
}
