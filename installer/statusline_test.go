package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// statusSpec is testSpec with the status line.
var statusSpec = Spec{Command: testSpec.Command, Events: testSpec.Events, StatusLine: "/opt/beckon/bin/beckon"}

// checkStatusRoundTrip checks the promises of Edit and remove with the status line, on
// settings that have nothing of ours.
func checkStatusRoundTrip(t tester, old []byte) {
	t.Helper()
	once, err := Edit(old, statusSpec)
	if err != nil {
		if e, ok := errors.AsType[*settingsError](err); !ok || e.Line < 1 || e.Path != "statusLine" {
			t.Fatalf("Edit(%q): %v", old, err)
		}
		return
	}
	checkEntries(t, once, statusSpec)
	checkStatus(t, old, once)
	if again := mustEdit(t, once, statusSpec); !bytes.Equal(again, once) {
		t.Fatalf("second Edit changed the file:\n%s", Diff(once, again, "settings"))
	}
	moved := mustEdit(t, once, Spec{Command: "/home/me/my bin/beckon-hook", Events: []string{"Stop"}, Shell: true, StatusLine: "/home/me/my bin/beckon"})
	later := mustEdit(t, mustEdit(t, old, testSpec), statusSpec)
	without := statusSpec
	without.NoStatusLine = true
	if got := mustEdit(t, later, without); !bytes.Equal(got, mustEdit(t, old, testSpec)) {
		t.Fatalf("the status line alone did not go:\n%s", got)
	}
	for _, installed := range [][]byte{once, moved, later, mustEdit(t, once, testSpec)} {
		checkRemoved(t, old, mustRemove(t, installed))
	}
	_, was := cutBOM(old)
	if len(bytes.TrimSpace(was)) == 0 {
		was = []byte("{}")
	}
	_, is := cutBOM(once)
	a, b := decodeTop(t, was), decodeTop(t, is)
	delete(a, "statusLine")
	delete(b, "statusLine")
	stripOurs(b, a)
	prune(a)
	prune(b)
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("something else changed:\n%v\n%v", a, b)
	}
}

// checkStatus checks, with encoding/json and our own parsing of the command line, that the
// client would run our status line, and that it would run the previous one.
func checkStatus(t tester, old, settings []byte) {
	t.Helper()
	line, _ := topOf(t, settings)["statusLine"].(map[string]any)
	before, had := topOf(t, old)["statusLine"].(map[string]any)
	command, _ := line["command"].(string)
	words := plainCommand(command)
	if line["type"] != "command" || len(words) < 2 || words[0] != "/opt/beckon/bin/beckon" || words[1] != "statusline" {
		t.Fatalf("status line %q in\n%s", command, settings)
	}
	if !had {
		return
	}
	var runs string
	switch {
	case len(words) == 4 && words[2] == "--wrap":
		runs = words[3]
	case len(words) == 4 && words[2] == "--wrap-json":
		if err := json.Unmarshal([]byte(words[3]), &runs); err != nil {
			t.Fatalf("%q: %v", words[3], err)
		}
	}
	if runs != before["command"] {
		t.Fatalf("it runs %q first, not %q", runs, before["command"])
	}
	delete(line, "command")
	delete(before, "command")
	if !reflect.DeepEqual(line, before) {
		t.Fatalf("the rest of the status line changed: %v, %v", before, line)
	}
}

func topOf(t tester, settings []byte) map[string]any {
	t.Helper()
	_, text := cutBOM(settings)
	if isBlank(text) {
		return nil
	}
	return decodeTop(t, text)
}

// statusCommands are commands that are hard to quote.
var statusCommands = []string{
	`"~/.claude/line.sh"`, `"npx -y ccstatusline@latest"`, `""`, `" "`,
	`"echo 'it''s' \"$HOME\" | sed 's/a/b/' && date +%H:%M"`, `"printf '\\u001b[31m%s' \"$(jq -r .model.id)\""`,
	`"\u0065cho hi"`, `"a\/b"`, `"line\nbreak\ttab"`, `"C:\\Users\\me\\it's here\\line.exe"`, `"\ud83d\ude00 \u00e9"`, `"\ud800"`, `"-x --wrap y"`, `"beckon list"`,
}

func TestStatusLineIsKept(t *testing.T) {
	for _, command := range statusCommands {
		for _, file := range []string{
			`{"statusLine":{"type":"command","command":` + command + `}}`,
			"{\n  \"model\": \"x\",\n  \"statusLine\": {\n    \"padding\": 0,\n    \"command\": " + command + ",\n    \"type\": \"command\"\n  },\n  \"hooks\": {}\n}\n",
		} {
			got := mustEdit(t, []byte(file), statusSpec)
			if !bytes.Contains(got, []byte("beckon statusline --wrap")) {
				t.Errorf("%s is not wrapped:\n%s", command, got)
			}
			checkStatusRoundTrip(t, []byte(file))
		}
	}
}

func TestStatusLineWhereThereWasNone(t *testing.T) {
	got := string(mustEdit(t, []byte("{}\n"), Spec{Command: "/b/beckon-hook", Events: []string{"Stop"}, StatusLine: "/my bin/beckon"}))
	if want := "  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"'/my bin/beckon' statusline\",\n    \"refreshInterval\": 5\n  }\n}\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%swant the end\n%s", got, want)
	}
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) { checkStatusRoundTrip(t, old) })
	}
}

func TestStatusLineRoundTripGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t, rapid.SampledFrom([]string{"", " ", "\n", "\r\n", "\n  ", "mixed"}).Draw(t, "style"),
			rapid.SampledFrom(append([]string{""}, statusCommands...)).Draw(t, "status"), false}
		checkStatusRoundTrip(t, g.settings())
	})
}

func TestStatusLineThatIsNoCommandIsRefused(t *testing.T) {
	for _, line := range []string{`null`, `"x"`, `[]`, `{}`, `{"type": "static", "command": "x"}`, `{"type": "command"}`, `{"type": "command", "command": 1}`} {
		old := []byte("{\n  \"statusLine\": " + line + "\n}\n")
		_, err := Edit(old, statusSpec)
		if e, ok := errors.AsType[*settingsError](err); !ok || e.Line != 2 || e.Path != "statusLine" || e.advice == "" {
			t.Errorf("%s: %v", line, err)
		}
		if back := mustRemove(t, mustEdit(t, old, testSpec)); !bytes.Equal(back, old) {
			t.Errorf("%s: without the status line it is not in the way: %s", line, back)
		}
	}
	if _, err := Edit([]byte(`{"statusLine": {}, "statusLine": {}}`), statusSpec); err == nil {
		t.Error("a status line that is there twice was edited")
	}
}

// Changes that the user makes to our status line stay.
func TestStatusLineKeepsWhatWasAdded(t *testing.T) {
	old := []byte("{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"NO_COLOR=1 exec /opt/beckon/bin/beckon statusline --wrap 'a b'\", \"padding\": 2}\n}\n")
	if got := mustEdit(t, old, statusSpec); !bytes.Contains(got, []byte("NO_COLOR=1 exec /opt/beckon/bin/beckon statusline --wrap 'a b'\", \"padding\": 2}")) {
		t.Errorf("changed to\n%s", got)
	}
	if got := string(mustRemove(t, old)); got != "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"a b\", \"padding\": 2}\n}\n" {
		t.Errorf("removed to\n%s", got)
	}
}

func TestInspectStatusLine(t *testing.T) {
	h := newHome(t).with(`{"statusLine": {"type": "command", "command": "date"}}`)
	h.apply(Install(statusSpec))
	if s := InspectFile(h.Target).Status; s != "/opt/beckon/bin/beckon" {
		t.Errorf("status %+v", s)
	}
	h.apply(Uninstall())
	h.is(`{"statusLine": {"type": "command", "command": "date"}}`)
}

func TestSpecRefusesOtherStatusPrograms(t *testing.T) {
	for _, path := range []string{"beckon", "/x/other", "/x/bec\nkon/beckon"} {
		s := statusSpec
		s.StatusLine = path
		if _, err := Edit(nil, s); err == nil {
			t.Errorf("%q was taken", path)
		}
	}
}
