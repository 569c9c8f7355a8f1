package installer

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// testStatus is the program of the status line.
const testStatus = "/opt/beckon/bin/beckon"

// statusIn returns settings with the program as status line, without the line if it is empty.
func statusIn(old []byte, program string) ([]byte, error) {
	return Target{}.StatusLine(program).edit(old, program != "")
}

// mustStatus returns settings with testSpec's entries and the program as status line, without the line if
// it is empty.
func mustStatus(t tester, old []byte, program string) []byte {
	t.Helper()
	got, err := statusIn(old, program)
	if err != nil {
		t.Fatalf("statusIn(%q): %v", old, err)
	}
	return got
}

// checkStatusRoundTrip checks the promises of Edit and remove with the status line, on
// settings that have nothing of ours.
func checkStatusRoundTrip(t tester, old []byte) {
	t.Helper()
	once, err := statusIn(mustEdit(t, old, testSpec), testStatus)
	if err != nil {
		if line, _, what := placeOf(err); line < 1 || !strings.HasPrefix(what, "statusLine: ") {
			t.Fatalf("Edit(%q): %v", old, err)
		}
		return
	}
	checkEntries(t, once, testSpec)
	checkStatus(t, old, once)
	if again := mustStatus(t, mustEdit(t, once, testSpec), testStatus); !bytes.Equal(again, once) {
		t.Fatalf("second Edit changed the file:\n%s", Change{Old: once, New: again}.Diff())
	}
	moved := mustStatus(t, once, "/home/me/my bin/beckon")
	if got := mustStatus(t, once, ""); !reflect.DeepEqual(topOf(t, got), topOf(t, mustEdit(t, old, testSpec))) {
		t.Fatalf("the status line alone did not go:\n%s", got)
	}
	for _, installed := range [][]byte{once, moved, mustEdit(t, once, testSpec)} {
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
			got := mustStatus(t, []byte(file), testStatus)
			if !bytes.Contains(got, []byte("beckon statusline --wrap")) {
				t.Errorf("%s is not wrapped:\n%s", command, got)
			}
			checkStatusRoundTrip(t, []byte(file))
		}
	}
}

func TestStatusLineWhereThereWasNone(t *testing.T) {
	got := string(mustStatus(t, []byte("{}\n"), "/my bin/beckon"))
	if want := "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"'/my bin/beckon' statusline\", \"refreshInterval\": 5}\n}\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
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
		_, err := statusIn(old, testStatus)
		if line, _, what := placeOf(err); line != 2 || !strings.HasPrefix(what, "statusLine: ") {
			t.Errorf("%q: %v", old, err)
		}
		if back := mustRemove(t, mustEdit(t, old, testSpec)); !bytes.Equal(back, old) {
			t.Errorf("%s: without the status line it is not in the way: %s", line, back)
		}
	}
}

// Changes that the user makes to our status line stay.
func TestStatusLineKeepsWhatWasAdded(t *testing.T) {
	old := []byte("{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"NO_COLOR=1 exec /opt/beckon/bin/beckon statusline --wrap 'a b'\", \"padding\": 2}\n}\n")
	if got := mustStatus(t, old, testStatus); !bytes.Contains(got, []byte("NO_COLOR=1 exec /opt/beckon/bin/beckon statusline --wrap 'a b'\", \"padding\": 2}")) {
		t.Errorf("changed to\n%s", got)
	}
	if got := string(mustRemove(t, old)); got != "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"a b\", \"padding\": 2}\n}\n" {
		t.Errorf("removed to\n%s", got)
	}
}

func TestInspectStatusLine(t *testing.T) {
	h := newHome(t).with(`{"statusLine": {"type": "command", "command": "date"}}`)
	h.apply(StatusLine(testStatus))
	if s := InspectFile(h.Target).Status; s != "/opt/beckon/bin/beckon" {
		t.Errorf("status %+v", s)
	}
	h.apply(Uninstall())
	h.is(`{"statusLine": {"type": "command", "command": "date"}}`)
}
