package event

import (
	"beckon/event/jsonenc"
	"bytes"
	"encoding/json"
	"slices"
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
	f.Add("Stop", []byte(`{"session_id":"s","cwd":"/w",x": 1}`)) // a string that does not end
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
		if e.Agent != ClaudeCode || !json.Valid(p) && !endsCut(&e, p) {
			t.Fatalf("Parse(%.200q) takes it: %+v", p, e)
		}
		if !json.Valid(p) {
			return
		}
		if uniqueKeys(p) && len(p) <= maxClean {
			checkParse(t, name, p)
		}
		if again, err := ParseReader("", name, &steps{p, 3}); err != nil || !bytes.Equal(jsonenc.Append(nil, &again), jsonenc.Append(nil, &e)) {
			t.Fatalf("ParseReader gives %+v, %v\nParse %+v", again, err, e)
		}
		for _, agent := range Agents() {
			if _, err := Parse(agent.Name, name, p); err != nil {
				t.Fatalf("as %s: %v", agent.Name, err)
			}
		}
	})
}

// endsCut reports whether p lacks its end and is about the end of a turn or a session, which counts
// nevertheless.
func endsCut(e *Event, p []byte) bool {
	d := documentOf(p)
	return d.check() == cutShort && slices.Contains([]Kind{Stop, StopFailure, SubagentStop, SessionEnd}, e.Kind)
}

func checkError(t *testing.T, p []byte, err error) {
	t.Helper()
	switch err {
	case isEmpty, notObject, cutShort, tooDeep, notJSON:
	default:
		t.Fatalf("Parse(%.200q): %v: not a text of this package", p, err)
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
