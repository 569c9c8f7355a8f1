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

// There are few keys to know.
func TestFewKeys(t *testing.T) {
	var names []string
	for _, k := range Keys {
		if !k.Old {
			names = append(names, k.Name)
		}
	}
	if len(names) > 22 {
		t.Errorf("%d keys: %v", len(names), names)
	}
}

// The hook reads the settings key by key in its own way: whatever Load accepts, it must read
// to the same values.
func TestAlertReadsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	for _, text := range []string{
		``, `{}`, `{"color": "never"}`, `{"notify": []}`, `{"notify": ["terminal"]}`,
		`{"notify": ["terminal", "desktop", "command", "sound", "title"], "notify_on": ["permission"], "notify_done_after": "1h2m3s",
		  // a comment
		  "notify_again": "0s", "notify_quiet_hours": "22:00-07:30", "notify_command": ["/bin/x", "a, b"], "notify_sound": "/s.wav",}`,
		`{"notify": ["command"], "notify_on": [], "notify_quiet_hours": ""}`,
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
		c.Reach.Token = token
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
		`{"notify_again": "-1s"}`:           `key "notify_again": "-1s" is not a duration`,
		`{"notify_quiet_hours": "22-7"}`:    `key "notify_quiet_hours": no hours of the day`,
		`{"notify_quiet_hours": "24:00-7"}`: `key "notify_quiet_hours": no hours of the day`,
		`{"notify_again": ""}`:              `key "notify_again": "" is not a duration`,
		`{"notify_again": "9999h"}`:         `key "notify_again": "9999h" is not a duration`,
		`{"notify_again": "1h30"}`:          `key "notify_again": "1h30" is not a duration`,
		`{"ntfy_topic": "a b"}`:             `key "ntfy_topic": "a b" is not a topic`,
		`{"ntfy_topic": "a/b"}`:             `key "ntfy_topic": "a" is not an address`,
		`{"ntfy_page": "https://t@x"}`:      `key "ntfy_page": "https://t@x" is not an address`,
		`{"notify_texts": "all"}`:           `key "notify_texts": no such value "all"`,
		`{"notify_actions": 1}`:             `key "notify_actions": not a text`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want ... %s", text, err, want)
		}
	}
}
