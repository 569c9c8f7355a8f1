package event

import (
	"beckon/event/jsonenc"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// seeds returns the recorded payloads and some awkward JSON.
func seeds(f *testing.F) [][]byte {
	all := payloads(f)
	for _, s := range []string{
		``, ` `, `null`, `true`, `[]`, `{}`, `{"a":1}`, `{"a":{"b":[1,-0.5e+3,"\u00e9\ud83d\ude00",null,true,false,{}]}}`,
		`{"session_id":5,"effort":{"level":7},"background_tasks":[1,{"id":2}]}`,
		`{"hook_event_name":"UserPromptSubmit","prompt":" \n<task-notification>"}`,
		`{"hook_event_name":"PostToolUseFailure","error":"a\r\nb","duration_ms":1e3,"is_interrupt":true}`,
		`{"model":{"id":"m"},"tool_name":"mcp__a__b","tool_input":"x","duration_ms":-1}`,
		`{"session_id":"\ud800\u0041\udc00","cwd":"` + "\xff\xc3" + `"}`,
		`{"a":"\x"}`, `{"a":"` + "\x00" + `"}`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":tru}`, `{"a"}`, `{"a":1,}`, `[1,]`, `{} {}`, `{"a":"`, `{"a":"\u12`,
	} {
		all = append(all, []byte(s))
	}
	return all
}

// FuzzParse checks that Parse never panics, reads valid JSON as encoding/json does, and
// otherwise returns an error with an offset that quotes nothing of the input.
func FuzzParse(f *testing.F) {
	for _, p := range seeds(f) {
		f.Add("Stop", p)
	}
	f.Add("\xff", []byte(`{}`))
	f.Add("", []byte("\xef\xe1{}")) // only the first byte of a byte order mark
	f.Fuzz(func(t *testing.T, name string, p []byte) {
		if _, err := ParseEnvelope(p); err != nil {
			checkError(t, p, err)
		}
		e, err := Parse("", name, p)
		if err != nil {
			checkError(t, p, err)
			return
		}
		p = bytes.TrimPrefix(p, []byte(byteOrderMark))
		if e.Agent != ClaudeCode || !json.Valid(p) {
			t.Fatalf("Parse(%.200q) takes it: %+v", p, e)
		}
		if uniqueKeys(p) && len(p) <= MaxString {
			checkParse(t, name, p)
		}
		if again, err := ParseReader("", name, &steps{p, 3}); err != nil || !bytes.Equal(jsonenc.Append(nil, &again), jsonenc.Append(nil, &e)) {
			t.Fatalf("ParseReader gives %+v, %v\nParse %+v", again, err, e)
		}
		for _, agent := range known {
			if _, err := Parse(agent.Name, name, p); err != nil {
				t.Fatalf("as %s: %v", agent.Name, err)
			}
		}
	})
}

func checkError(t *testing.T, p []byte, err error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > int64(len(p)) {
		t.Fatalf("Parse(%.200q): %v", p, err)
	}
	switch syntax.What {
	case "payload is empty", "payload is not an object", "unexpected end", "something after the end", "nesting is too deep",
		"no value where one must be", "no key where one must be", "no colon after a key", "no comma after a value",
		"no such literal", "no such escape", "no hexadecimal digit in an escape", "control character in a string":
	default:
		t.Fatalf("Parse(%.200q): %v: not a text of this package", p, err)
	}
	if want := jsonOffset(p); want >= 0 && want != syntax.Offset && syntax.What != "payload is not an object" && syntax.What != "nesting is too deep" {
		t.Fatalf("Parse(%.200q): %v; encoding/json stops at %d", p, err, want)
	}
}

// uniqueKeys reports whether no object of valid JSON names a member twice.
func uniqueKeys(p []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(p))
	dec.UseNumber()
	var value func() bool
	value = func() bool {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		keys := map[string]bool{}
		for tok == json.Delim('{') && dec.More() {
			key, err := dec.Token()
			if err != nil || keys[key.(string)] {
				return false
			}
			keys[key.(string)] = true
			if !value() {
				return false
			}
		}
		for tok == json.Delim('[') && dec.More() {
			if !value() {
				return false
			}
		}
		if tok == json.Delim('{') || tok == json.Delim('[') {
			_, err = dec.Token()
		}
		return err == nil
	}
	return value()
}

// FuzzElide enlarges a part of the input by repeating it, and reads that with the eliding
// reader, whole and in steps: the result is valid JSON if and only if the input is, stays
// bounded, and an event parsed from it has the fields that encoding/json reads, as far as they
// are kept.
func FuzzElide(f *testing.F) {
	for _, p := range seeds(f) {
		f.Add(p, uint16(len(p)/2), uint8(1), uint16(0), uint16(7))
	}
	msg := []byte(`{"hook_event_name":"Stop","tool_input":{"x":[1,"y"]},"prompt":"é\n","last_assistant_message":"ab\n\"\\😀\ud83d\ude00","session_id":"s"}`)
	for i := range msg {
		f.Add(msg, uint16(i), uint8(i%13), uint16(9000), uint16(501))
	}
	f.Fuzz(func(t *testing.T, p []byte, at uint16, n uint8, times, step uint16) {
		from := min(int(at), len(p))
		to := min(from+int(n), len(p))
		times = min(times, uint16(20_000/max(1, to-from)+900)) // up to 250 KiB
		grown := append(bytes.Clone(p[:from]), bytes.Repeat(p[from:to], int(times))...)
		grown = append(grown, p[from:]...)

		got, err := Read(&steps{grown, int(step) + 1})
		if tooDeep(err) {
			return
		}
		if (err == nil) != json.Valid(bytes.TrimPrefix(grown, []byte(byteOrderMark))) {
			t.Fatalf("Read(%.100q…): %v, encoding/json says %v", grown, err, json.Valid(grown))
		}
		whole, werr := Read(bytes.NewReader(grown))
		if !bytes.Equal(got, whole) || (err == nil) != (werr == nil) {
			t.Fatalf("read in steps %.100q, %v\nas a whole %.100q, %v", got, err, whole, werr)
		}
		if err != nil {
			checkError(t, grown, err)
			return
		}
		if !json.Valid(got) || len(got) > MaxPayload+overshot+reserve {
			t.Fatalf("Read(%.100q…) = %d bytes, valid: %v", grown, len(got), json.Valid(got))
		}
		checkAgainstPlain(t, grown)
	})
}

func tooDeep(err error) bool {
	var syntax *SyntaxError
	return errors.As(err, &syntax) && syntax.What == "nesting is too deep"
}

// checkAgainstPlain compares the text fields of Parse with those that are read without
// elision.
func checkAgainstPlain(t *testing.T, p []byte) {
	t.Helper()
	if len(p) > MaxPayload || !uniqueKeys(p) {
		return // members may be left out, or the last of several equal keys is
	}
	e, err := Parse("", "", p)
	want, ok := reference("", p)
	if !ok {
		return
	}
	if err != nil || e.SessionID != want.SessionID || e.Name != want.Name {
		t.Fatalf("Parse(%.100q…): %v\n got %+v\nwant %+v", p, err, e, want)
	}
	if !bytes.Contains(p, []byte(`\u`)) && (e.Prompt != want.Prompt || e.Message != want.Message) {
		t.Fatalf("Parse(%.100q…)\n got %+v\nwant %+v", p, e, want)
	}
	if !strings.HasPrefix(want.Prompt, e.Prompt) || !strings.HasSuffix(want.Message, e.Message) && want.Name != "Notification" && e.Message != "" && e.Notification == "" && strings.Contains(string(p), "last_assistant") {
		t.Fatalf("Parse(%.100q…)\n got %+v\nwant %+v", p, e, want)
	}
}

var _ io.Reader = (*steps)(nil)
