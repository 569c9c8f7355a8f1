//go:build unix

package suite

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// vocabulary is what a version of Claude Code has in its own program: the names that beckon has to know.
type vocabulary struct {
	Version string
	Events  []string // of hooks
	Waiting []string // waitingFor in its registry
	Notices []string // types of notifications
	Dialogs []string // what its notifications say of its dialogs
	Tools   []string // that it offers to the model
}

var literals = map[string]*regexp.Regexp{
	"events":  regexp.MustCompile(`\["PreToolUse","PostToolUse"(?:,"[A-Za-z]+"){25,}\]`),
	"waiting": regexp.MustCompile(`waitingFor:"([a-z ]+)"`),
	"notices": regexp.MustCompile(`notificationType:"([a-z_]+)"`),
	"dialogs": regexp.MustCompile(`notification:\{text:"([^"\\]{8,120})"`),
}

// wordsIn returns the words of a client's program.
func wordsIn(t *testing.T, c Client) vocabulary {
	program, err := os.ReadFile(c.Path)
	must(t, err)
	found := func(what string) (all []string) {
		for _, m := range literals[what].FindAllSubmatch(program, -1) {
			all = append(all, string(m[len(m)-1]))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	w := vocabulary{Version: c.Version, Waiting: found("waiting"), Notices: found("notices"), Dialogs: found("dialogs")}
	longest := slices.MaxFunc(append(found("events"), "[]"), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	must(t, json.Unmarshal([]byte(longest), &w.Events))
	slices.Sort(w.Events)
	l := StartWith(t, c)
	l.Home.Print("lab:hi")
	for _, r := range l.Server.Requests() {
		var asked struct{ Tools []struct{ Name string } }
		_ = json.Unmarshal(r.Body, &asked) // another request has no tools
		for _, tool := range asked.Tools {
			w.Tools = append(w.Tools, tool.Name)
		}
	}
	slices.Sort(w.Tools)
	w.Tools = slices.Compact(w.Tools)
	return w
}

var updateWords = flag.Bool("update-words", false, "make the version of TestNewest the newest known one")

// TestNewest prints what a version of the client has that the newest known one had not, and
// fails if it has hook events that package event does not know. With -update-words it makes that version
// the newest known one:
//
//	go test ./cmd/internal/suite -run TestNewest -v -versions latest [-update-words]
func TestNewest(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole program")
	}
	file := filepath.Join("testdata", "words.json")
	text, err := os.ReadFile(file)
	must(t, err)
	var known vocabulary
	must(t, json.Unmarshal(text, &known))
	newest := cmp.Or(*versions, known.Version)
	got := wordsIn(t, Need(t, newest[strings.LastIndexByte(newest, ',')+1:]))
	for _, e := range got.Events {
		if _, ok := event.Lookup(event.Kind(e)); !ok {
			t.Errorf("%s has a hook event that beckon does not know: %s", got.Version, e)
		}
	}
	for _, list := range []struct {
		name       string
		now, known []string
	}{
		{"hook events", got.Events, known.Events}, {"registry words", got.Waiting, known.Waiting},
		{"types of notifications", got.Notices, known.Notices}, {"dialogs", got.Dialogs, known.Dialogs}, {"tools", got.Tools, known.Tools},
	} {
		if len(list.now) == 0 {
			t.Errorf("no %s found in %s: they are written in another way", list.name, got.Version)
		}
		t.Logf("%s since %s: new %q, gone %q", list.name, known.Version, without(list.now, list.known), without(list.known, list.now))
	}
	if *updateWords {
		must(t, writeJSON(file, got))
	}
}

func without(all, known []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(known, s) })
}

// TestDenyInsteadOfPrompting has the client refuse what it would ask about, by its own setting: no
// dialog opens, and no row is left waiting.
func TestDenyInsteadOfPrompting(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	Need(t, Latest)
	tried(t, func(t testing.TB) {
		l := start(t, Latest, "")
		setting := `{"permissions":{"denyInsteadOfPrompting":true}}`
		pane, err := l.Tmux.StartClient("denies", "--permission-mode", "default", "--settings", setting)
		must(t, err)
		must(t, pane.Ready())
		must(t, pane.Say("lab:write denied.txt"))
		must(t, pane.WaitFor("Wrote the note", patience))
		must(t, idle(l))
		out, err := beckon(l, nil, "list", "--json")
		must(t, err)
		session := gjson.GetBytes(out, "sessions.0")
		if session.Get("state").Str != "idle" {
			t.Errorf("the list says %s", session)
		}
		if _, err := os.Stat(filepath.Join(l.Home.Project, "denied.txt")); err == nil {
			t.Error("the call has run")
		}
	})
}
