package event

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"beckon/event/jsonenc"
)

// Every text of an event is valid UTF-8, whatever the payload is: two copies of one event are equal before
// and after one of them was written.
func TestEventsAreUTF8(t *testing.T) {
	files, err := filepath.Glob("../testdata/recordings/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	check := func(name string, e Event, err error) {
		if err != nil {
			return
		}
		jsonenc.Each(&e, func(v reflect.Value) {
			if v.Kind() == reflect.String && !utf8.ValidString(v.String()) {
				t.Errorf("%s: %q", name, v.String())
			}
		})
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"\xff", "\xe9x", "\xf0\x9f"} {
			text := bytes.ReplaceAll(data, []byte(`":"`), []byte(`":"`+bad))
			for line := range bytes.Lines(text) {
				for _, agent := range []string{"", "codex", "gemini"} {
					e, err := Parse(agent, "", line)
					check(strings.TrimSpace(agent+" "+file), e, err)
				}
				e, err := ParseEnvelope(line)
				check("envelope "+file, e, err)
			}
		}
	}
}
