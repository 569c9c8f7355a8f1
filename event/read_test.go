package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"beckon/event/jsonenc"

	"pgregory.net/rapid"
)

// jsonOffset returns -1 if encoding/json accepts p, else the offset of the wrong byte, or
// len(p) if p ends too early.
func jsonOffset(p []byte) int64 {
	if json.Valid(p) {
		return -1
	}
	var v any
	err := json.Unmarshal(p, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return -2
	}
	// At the end of a literal or number encoding/json reports a space that is not in the text.
	atEnd := strings.HasPrefix(syntax.Error(), "invalid character ' '") &&
		syntax.Offset == int64(len(p)) && p[len(p)-1] != ' '
	if atEnd || strings.HasPrefix(syntax.Error(), "unexpected end") {
		return int64(len(p))
	}
	return syntax.Offset - 1
}

// Every text over small alphabets that reach every state of the grammar is accepted or
// rejected as by encoding/json, and is compacted as by json.Compact.
func TestCheckIsValidAndCompact(t *testing.T) {
	for _, c := range []struct {
		alphabet []string
		length   int
	}{
		{[]string{"{", "}", "[", "]", ",", ":", `"a"`, "1", " "}, 5},
		{[]string{"-", "0", "1", ".", "e", "E", "+", ","}, 5},
		{[]string{`"`, `\`, "u", "0", "F", "n", "\x1f", "é", "\xff"}, 5},
		{[]string{"t", "r", "u", "e", "null", "false", " ", "\n", "\x00"}, 5},
	} {
		n := c.length
		if testing.Short() {
			n -= 2
		}
		each(c.alphabet, n, func(p []byte) {
			got, err := Check(p)
			want := jsonOffset(p)
			if (err == nil) != (want < 0) {
				t.Fatalf("Check(%q): %v, encoding/json refuses at %d (-1: accepts)", p, err, want)
			}
			if err != nil {
				checkError(t, p, err)
				return
			}
			var compact bytes.Buffer
			_ = json.Compact(&compact, p)
			if !bytes.Equal(got, compact.Bytes()) {
				t.Fatalf("Check(%q) = %q, want %q", p, got, compact.Bytes())
			}
		})
	}
}

// each calls f with every text of up to n words of the alphabet.
func each(alphabet []string, n int, f func([]byte)) {
	var visit func(p []byte, n int)
	visit = func(p []byte, n int) {
		f(p)
		if n == 0 {
			return
		}
		for _, word := range alphabet {
			visit(append(p[:len(p):len(p)], word...), n-1)
		}
	}
	visit(nil, n)
}

// textUnits are pieces of JSON text that matter to who looks for the end of a string.
var textUnits = []string{"a", "0123456789abcdef", "é", "😀", `\n`, `\"`, `\\`, `\\\"`, `\u00e9`, `\ud83d\ude00`, "{", "}", "[", ","}

// However a payload arrives, its end is found, and the event is the same.
func TestReadInPieces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(textUnits)).Draw(r, "text"), "")
		text += strings.Repeat(rapid.SampledFrom(textUnits).Draw(r, "unit"), rapid.IntRange(0, 3000).Draw(r, "times"))
		p := []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"` + text + `", "cwd":"/p"}`)
		want, err := Parse("", "", p)
		if err != nil || want.Cwd != "/p" {
			r.Fatalf("%+v, %v", want, err)
		}
		more := append(p, rapid.SampledFrom([]string{"", "\n", " and more", "}"}).Draw(r, "after")...)
		n := rapid.IntRange(1, 5000).Draw(r, "step")
		for name, in := range map[string]io.Reader{
			"one byte": iotest.OneByteReader(bytes.NewReader(more)),
			"data err": iotest.DataErrReader(bytes.NewReader(more)),
			"steps":    &steps{more, n},
		} {
			got, err := ParseReader("", "", in)
			if err != nil || !bytes.Equal(jsonenc.Append(nil, &got), jsonenc.Append(nil, &want)) {
				r.Fatalf("read by %s: %v\n got %+v\nwant %+v", name, err, got, want)
			}
		}
	})
}

type steps struct {
	p []byte
	n int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.p) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.p[:min(s.n, len(s.p))])
	s.p = s.p[n:]
	return n, nil
}

// A payload may be large: what follows a long text or a list of many elements is read.
func TestLargePayloads(t *testing.T) {
	for name, input := range map[string]string{
		"text":   `"` + strings.Repeat(`some code {\n\t\"here\"`, 100_000) + `"`,
		"list":   `[` + strings.Repeat("1,", 500_000) + `1]`,
		"object": `{` + strings.Repeat(`"k":null,`, 100_000) + `"z":0}`,
		"number": strings.Repeat("1", 200_000),
		"space":  strings.Repeat(" \n\t\r", 100_000) + "1",
	} {
		p := []byte(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"x":` + input + `},"tool_use_id":"u"}`)
		e, err := ParseReader("", "", &pipe{p})
		if err != nil || e.Tool.UseID != "u" || e.Tool.Hash == "" {
			t.Errorf("%s: %+v, %v", name, e.Tool, err)
		}
	}
}

// The hash is that of the input's tokens: the space between them does not count.
func TestHashOfInput(t *testing.T) {
	hash := func(input string) string {
		e, err := Parse("", "PreToolUse", []byte(`{"tool_name":"T","tool_input":`+input+`}`))
		if err != nil || len(e.Tool.Hash) != 16 {
			t.Fatalf("%s: %+v, %v", input, e.Tool, err)
		}
		return e.Tool.Hash
	}
	a := hash(`{"command":"ls  -l","n":[1,2]}`)
	if b := hash("{ \"command\" :\t\"ls  -l\",\n\"n\": [ 1, 2 ] }"); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if b := hash(`{"command":"ls -l","n":[1,2]}`); a == b {
		t.Error("another command has the same hash")
	}
}

// Of a payload of more than 64 MiB the event, its ids and its tool are known, whatever follows,
// and the event says that it was cut.
func TestTooLargePayload(t *testing.T) {
	const head = `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"`
	for name, tail := range map[string]string{"whole": `"},"tool_use_id":"t"}`, "without its end": ""} {
		in := func() io.Reader {
			return io.MultiReader(strings.NewReader(head), &repeat{`some code {\n\t\"here\"`, MaxPayload + 5<<20}, strings.NewReader(tail))
		}
		e, err := ParseReader("", "", in())
		if err != nil || e.SessionID != "s" || e.Cwd != "/p" || e.Kind != PreToolUse || e.Tool.Name != "Write" {
			t.Fatalf("%s: %+v, %v", name, e, err)
		}
		if e.Tool.Summary != "Write: "+overLarge || e.Details != overLarge {
			t.Errorf("%s: says %q, %q", name, e.Tool.Summary, e.Details)
		}
		whole, _ := io.ReadAll(in())
		if again, err := Parse("", "", whole); err != nil || !bytes.Equal(jsonenc.Append(nil, &again), jsonenc.Append(nil, &e)) {
			t.Errorf("%s: Parse gives %+v, %v", name, again, err)
		}
	}
	r, w := io.Pipe()
	go func() { // a client that keeps its end open
		_, _ = io.Copy(w, io.MultiReader(strings.NewReader(head), &repeat{"x", MaxPayload}, strings.NewReader(`"},"tool_use_id":"t"}`)))
	}()
	if e, err := ParseReader("", "", r); err != nil || e.Tool.Name != "Write" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := ParseReader("", "", io.MultiReader(strings.NewReader(`{"x":"`), &repeat{"x", MaxPayload}, strings.NewReader(`"}`))); err == nil {
		t.Error("a payload that names no session before its end is accepted")
	}
}

// repeat reads n bytes of repeated unit.
type repeat struct {
	unit string
	n    int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	if r.n <= 0 {
		return 0, io.EOF
	}
	for n < len(p) && r.n > 0 {
		m := copy(p[n:min(len(p), n+r.n)], r.unit[len(r.unit)-1-(r.n-1)%len(r.unit):])
		n, r.n = n+m, r.n-m
	}
	return n, nil
}

// Brackets nested a million deep are refused, and do not end the process.
func TestDeepPayload(t *testing.T) {
	for _, unit := range []string{"[", `{"a":`} {
		for _, end := range []string{"", "1"} {
			_, err := ParseReader("", "", io.MultiReader(strings.NewReader(`{"session_id":"s","x":`), &repeat{unit, 20 << 20}, strings.NewReader(end)))
			if err != tooDeep {
				t.Errorf("%s: %v", unit, err)
			}
		}
	}
}
