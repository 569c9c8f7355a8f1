//go:build linux

package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"beckon/render"
)

// starts are the dialogs at a client's start: how one gets there, what its screen shows, and
// the keys that answer it.
var starts = map[string]struct {
	config func(l *Lab, config fields) error
	shows  string
	keys   []string
}{
	"trust": {func(_ *Lab, config fields) error { delete(config, "projects"); return nil }, "Yes, I trust this folder", []string{"Down", "Enter"}},
	"server": {func(l *Lab, _ fields) error {
		return writeFile(filepath.Join(l.Home.Project, ".mcp.json"), `{"mcpServers":{"shop":{"command":"true"}}}`)
	}, "New MCP server found", []string{"Enter"}},
	"key": {func(_ *Lab, config fields) error { delete(config, "customApiKeyResponses"); return nil }, "Do you want to use this API key", []string{"Up", "Enter"}},
}

// TestAsksAtStart opens each of those dialogs. No hook has run and the client has no record: the
// session is a question in the list all the same, with its pane, until the user has answered.
func TestAsksAtStart(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	for name, c := range starts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				l := equipped(t, V330)
				_, err := beckon(l, nil, "setup", "hooks")
				must(t, err)
				path := filepath.Join(l.Home.Dir, ".claude.json")
				b, err := os.ReadFile(path)
				must(t, err)
				var config fields
				must(t, errors.Join(json.Unmarshal(b, &config), c.config(l, config), writeJSON(path, config)))
				pane, err := l.Tmux.StartClient("asks")
				must(t, err)
				must(t, pane.WaitFor(c.shows, patience))
				row, err := sole(l, "question", patience)
				must(t, err)
				if row.Tmux == nil || row.Tmux.Pane != pane.ID || row.Cwd != l.Home.Project || row.Question == nil || row.Question.Text != "asks at start" {
					t.Errorf("the row is %+v", row)
				}
				time.Sleep(1500 * time.Millisecond) // it ignores keys for a moment
				must(t, pressAll(pane, c.keys))
				must(t, pane.Ready())
				if _, err = sole(l, "idle", patience); err != nil {
					t.Errorf("after the answer: %v\n%s", err, pane.Capture())
				}
			})
		})
	}
}

// TestOffersSummary resumes a session of three hours ago, for which the client of 2.1.250 offers a
// summary before it shows its prompt. Earlier clients report such a session as idle; later ones offer a
// summary that they made before, if they have one.
func TestOffersSummary(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, "2.1.250")
		_, err := beckon(l, nil, "setup", "hooks")
		must(t, err)
		maps.Copy(l.Home.Extra, map[string]string{
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "", // it turns the feature off
			"CLAUDE_CODE_RESUME_TOKEN_THRESHOLD":       "1",
			"HTTPS_PROXY":                              nowhere,
			"NO_PROXY":                                 "127.0.0.1,localhost",
		})
		path := filepath.Join(l.Home.Dir, ".claude.json")
		b, err := os.ReadFile(path)
		must(t, err)
		var config fields
		must(t, json.Unmarshal(b, &config))
		config["cachedGrowthBookFeatures"] = fields{"tengu_gleaming_fair": true}
		must(t, writeJSON(path, config))
		pane, err := l.Tmux.StartClient("first")
		must(t, err)
		must(t, errors.Join(pane.Ready(), pane.Say("lab:hi"), pane.WaitFor("Hi there", patience), pane.Ready()))
		must(t, errors.Join(pane.Say("/exit"), pane.WaitDead(patience)))

		transcripts, err := filepath.Glob(filepath.Join(l.Home.Dir, ".claude", "projects", "*", "*.jsonl"))
		must(t, err)
		past := []byte(time.Now().UTC().Add(-3 * time.Hour).Format(`"timestamp":"2006-01-02T15:04`))
		for _, path := range transcripts {
			b, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, minutes.ReplaceAll(b, past), 0o600))
		}
		pane, err = l.Tmux.StartClient("second", "--continue")
		must(t, err)
		must(t, pane.WaitFor("Resume from summary", patience))
		row, err := sole(l, "question", patience)
		must(t, err)
		if row.Tmux == nil || row.Tmux.Pane != pane.ID || row.Question == nil || row.Question.Text != "asks at start" {
			t.Errorf("the row is %+v", row)
		}
		must(t, errors.Join(pressAll(pane, []string{"Down", "Enter"}), pane.Ready()))
		if _, err = sole(l, "idle", patience); err != nil {
			t.Errorf("after the answer: %v\n%s", err, pane.Capture())
		}
	})
}

// minutes is a timestamp of a transcript, without its seconds.
var minutes = regexp.MustCompile(`"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d`)

// sole waits until the list has one row, of that state.
func sole(l *Lab, want string, within time.Duration) (render.Row, error) {
	return find(l, within, func(rows []render.Row) bool { return len(rows) == 1 && string(rows[0].State) == want })
}

// find waits until the list's rows are as wanted, and returns the first if there are any.
func find(l *Lab, within time.Duration, wanted func(rows []render.Row) bool) (row render.Row, err error) {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var out []byte
		if out, err = beckon(l, nil, "list", "--json"); err != nil {
			return row, err
		}
		var list render.List
		if err = json.Unmarshal(out, &list); err != nil {
			return row, err
		}
		if wanted(list.Sessions) {
			return slices.Concat(list.Sessions, []render.Row{{}})[0], nil
		}
		err = fmt.Errorf("not the rows wanted: %s", out)
	}
	return row, err
}
