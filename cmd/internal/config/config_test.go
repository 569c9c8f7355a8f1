package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"beckon/state/alert"
)

// The hook reads the settings key by key in its own way: whatever Load accepts, it must read
// to the same values.
func TestAlertReadsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	for _, text := range []string{
		``, `{}`, `{"color": "never"}`, `{"notify": []}`, `{"notify": ["terminal"]}`,
		`{"notify": ["terminal", "desktop", "command", "sound", "title"], "notify_on": ["permission"], "notify_done_after": "1h2m3s",
		  // a comment
		  "notify_limit": "0s", "notify_quiet_hours": "22:00-07:30", "notify_command": ["/bin/x", "a, b"], "notify_sound": "/s.wav", "notify_terminal": "osc777",}`,
		`{"notify": ["command"], "notify_on": [], "notify_quiet_hours": "", "notify_terminal": "auto"}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want, _, err := Load(path)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := alert.Read(path)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(want.Alert.Channels) == 0 { // off: the rest does not matter
			want.Alert, got = alert.Settings{}, alert.Settings{Channels: got.Channels}
			if len(got.Channels) == 0 {
				got.Channels = nil
			}
		}
		if !reflect.DeepEqual(got, want.Alert) {
			t.Errorf("%s\nalert reads %+v\nconfig      %+v", text, got, want.Alert)
		}
	}
}

// A token is not shown, only the file that has it.
func TestSecretIsNotShown(t *testing.T) {
	i := slices.IndexFunc(Keys, func(k key) bool { return k.Name == "ntfy_token" })
	for token, want := range map[string]string{"": "", "tk_x": "(set)", "~/t": "~/t", "/t": "/t"} {
		c := Default()
		c.Reach.Ntfy.Token = token
		if got := Keys[i].Value(c); got != want {
			t.Errorf("%q is shown as %q", token, got)
		}
	}
}

func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	for text, want := range map[string]string{
		`{"notify": "terminal"}`:            `key "notify": not a list of texts`,
		`{"notify": ["bell"]}`:              `key "notify": no such value "bell"`,
		`{"notify": null}`:                  `key "notify": not a list of texts`,
		`{"notify_on": ["done", "idle"]}`:   `key "notify_on": no such value "idle"`,
		`{"notify_done_after": 30}`:         `key "notify_done_after": not a duration`,
		`{"notify_done_after": "30"}`:       `key "notify_done_after": "30" is not a duration`,
		`{"notify_limit": "-1s"}`:           `key "notify_limit": "-1s" is not a duration`,
		`{"notify_quiet_hours": "22-7"}`:    `key "notify_quiet_hours": no hours of the day`,
		`{"notify_quiet_hours": "24:00-7"}`: `key "notify_quiet_hours": no hours of the day`,
		`{"notify_limit": ""}`:              `key "notify_limit": "" is not a duration`,
		`{"notify_limit": "9999h"}`:         `key "notify_limit": "9999h" is not a duration`,
		`{"notify_limit": "1h30"}`:          `key "notify_limit": "1h30" is not a duration`,
		`{"notify_terminal": "osc8"}`:       `key "notify_terminal": no such value "osc8"`,
		`{"ntfy_topic": "a/b"}`:             `key "ntfy_topic": "a/b" is not a topic`,
		`{"ntfy_server": "ntfy.sh"}`:        `key "ntfy_server": "ntfy.sh" is not an address`,
		`{"ntfy_page": "https://t@x"}`:      `key "ntfy_page": "https://t@x" is not an address`,
		`{"notify_texts": "all"}`:           `key "notify_texts": no such value "all"`,
		`{"notify_actions": 1}`:             `key "notify_actions": not a text`,
		`{"notify_sound": ["a"]}`:           `key "notify_sound": not a text`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want ... %s", text, err, want)
		}
	}
}

// Set changes one value and no other byte.
func TestSet(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, before, after string }{
		{"empty", "", "{\n  \"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"no member", "{}", `{"notify": ["terminal", "desktop"]}`},
		{"one line", `{"color": "never"}`, `{"color": "never", "notify": ["terminal", "desktop"]}`},
		{"comment behind the last", "{\n\t\"color\": \"never\" // quiet\n}\n", "{\n\t\"color\": \"never\", // quiet\n\t\"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"trailing comma", "{\n    \"color\": \"never\", // quiet\n    // end\n}\n", "{\n    \"color\": \"never\", // quiet\n    // end\n    \"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"there already", "// mine\n{\"notify\": /* was */ [], \"color\": \"auto\"}", "// mine\n{\"notify\": /* was */ [\"terminal\", \"desktop\"], \"color\": \"auto\"}"},
		{"the same", `{"notify": ["terminal", "desktop"]}`, `{"notify": ["terminal", "desktop"]}`},
	} {
		path := filepath.Join(dir, c.name, "config.json")
		if c.before != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.before), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		changed, err := Set(path, "notify", []string{"terminal", "desktop"})
		if err != nil || changed != (c.before != c.after) {
			t.Errorf("%s: changed %v, %v", c.name, changed, err)
		}
		got, _ := os.ReadFile(path)
		if string(got) != c.after {
			t.Errorf("%s: %q, want %q", c.name, got, c.after)
		}
		if cfg, _, err := Load(path); err != nil || len(cfg.Alert.Channels) != 2 {
			t.Errorf("%s: what was written reads as %v, %v", c.name, cfg.Alert.Channels, err)
		}
	}
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(`{"color"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Set(broken, "notify", nil); err == nil {
		t.Error("a broken file was taken")
	}
	if got, _ := os.ReadFile(broken); string(got) != `{"color"` {
		t.Errorf("a broken file was changed: %q", got)
	}
}

// Unset restores the file that Set changed, comments included.
func TestUnset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	for _, before := range []string{
		`{"color": "never"}`, "{\n  \"color\": \"never\"\n}\n", "{\n\t\"color\": \"never\" // quiet\n}\n", "// mine\n{\n  \"color\": \"auto\" /* yes */\n}\n",
	} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Set(path, "notify", []string{"terminal"}); err != nil {
			t.Fatal(err)
		}
		if changed, err := Set(path, "notify", nil); err != nil || !changed {
			t.Errorf("%s: changed %v, %v", before, changed, err)
		}
		cfg, set, err := Load(path)
		if err != nil || len(cfg.Alert.Channels) != 0 || strings.Contains(before, "color") != (len(set) == 1) {
			t.Errorf("%s: %v, %v", before, set, err)
		}
		got, _ := os.ReadFile(path)
		if string(got) != before {
			t.Errorf("%q, want %q", got, before)
		}
		if changed, err := Set(path, "notify", nil); err != nil || changed {
			t.Errorf("a second time: %v, %v", changed, err)
		}
	}
	none := filepath.Join(t.TempDir(), "none", "config.json")
	if changed, err := Set(none, "notify", nil); err != nil || changed {
		t.Errorf("without a file: %v, %v", changed, err)
	}
	for _, value := range [][]string{{"terminal"}, nil} {
		if changed, err := Set(none, "notify", value); err != nil || !changed {
			t.Errorf("in a file of its own: %v, %v", changed, err)
		}
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("a file that holds nothing is left: %v", err)
	}
}
