package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strconv"
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

func readOffset(t *testing.T, p []byte) ([]byte, int64) {
	t.Helper()
	b, _, err := elideBytes(p)
	if err == nil {
		return b, -1
	}
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("Read(%q): %v is no SyntaxError", p, err)
	}
	return nil, syntax.Offset
}

// Every text over small alphabets that reach every state of the grammar is accepted or
// rejected as by encoding/json, with the same offset, and is compacted as by json.Compact.
func TestReadIsValidAndCompact(t *testing.T) {
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
			got, offset := readOffset(t, p)
			if want := jsonOffset(p); offset != want {
				t.Fatalf("Read(%q) refuses at %d, encoding/json at %d (-1: accepts)", p, offset, want)
			}
			if offset < 0 {
				var want bytes.Buffer
				_ = json.Compact(&want, p)
				if !bytes.Equal(got, want.Bytes()) {
					t.Fatalf("Read(%q) = %q, want %q", p, got, want.Bytes())
				}
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

// The result does not depend on how the input arrives.
func readAllWays(t *testing.T, p []byte) []byte {
	t.Helper()
	want, err := Read(bytes.NewReader(p))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(bytes.NewReader(p)),
		"halves":   iotest.HalfReader(bytes.NewReader(p)),
		"data err": iotest.DataErrReader(bytes.NewReader(p)),
		"sevens":   &steps{p, 7},
		"4099":     &steps{p, 4099},
	} {
		if got, err := Read(r); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read by %s: %v, %.100q\nelse %.100q", name, err, got, want)
		}
	}
	if got, _, err := elideBytes(p); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("elideBytes: %v, %.100q\nRead %.100q", err, got, want)
	}
	if !json.Valid(want) {
		t.Fatalf("result is no JSON: %.200q", want)
	}
	return want
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

// textUnits lists pieces of JSON text: a string may be cut between two pieces, but not inside
// one.
var textUnits = []string{"a", "0123456789abcdef", "é", "€", "😀", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\ud83d\ude00`, `\uD800`, `\uDC00`, `\\u0041`}

func anyLongText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for b.Len() < MaxString-100 || rapid.IntRange(0, 9).Draw(t, "more") > 0 {
			unit := rapid.SampledFrom(textUnits).Draw(t, "unit")
			b.WriteString(strings.Repeat(unit, rapid.IntRange(1, 3000/len(unit)).Draw(t, "times")))
			b.WriteString(strings.Repeat(`\`, 2*rapid.IntRange(0, 20).Draw(t, "backslashes")))
		}
		return b.String()
	})
}

// A long string keeps a head and a tail of the documented length, and a mark with the number
// of missing bytes and the whole length.
func TestReadElidesLongStrings(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		raw := anyLongText().Draw(r, "text")
		got := string(readAllWays(t, []byte(` { "k" : "`+raw+`", "n":1}`)))
		got, ok := strings.CutPrefix(got, `{"k":"`)
		got, ok2 := strings.CutSuffix(got, `","n":1}`)
		if !ok || !ok2 {
			r.Fatalf("got %.50q…", got)
		}
		if len(raw) <= MaxString {
			if got != raw {
				r.Fatalf("a string of %d bytes is changed", len(raw))
			}
			return
		}
		checkElided(r, raw, got)
	})
}

// Next to half a surrogate pair a cut moves behind the next character, never into it.
func TestReadElidesBesideSurrogates(t *testing.T) {
	for _, unit := range []string{`\uD800😀`, `\uD800€`, `\uD800é`, `\uD800\uD800`, `\uD800\uD800😀`} {
		for shift := range len(unit) {
			raw := strings.Repeat("a", shift) + strings.Repeat(unit, 2*MaxString/len(unit))
			got := string(readAllWays(t, []byte(`"`+raw+`"`)))
			checkElided(t, raw, got[1:len(got)-1])
		}
	}
}

func checkElided(t interface{ Fatalf(string, ...any) }, raw, got string) {
	head, tail, found := cutMark(got)
	if !found || !strings.HasPrefix(raw, head) || !strings.HasSuffix(raw, tail) {
		t.Fatalf("%d bytes give %d: %.60q … %.60q", len(raw), len(got), head, tail)
	}
	if len(head) < headKept || len(head) > headKept+16 || len(tail) > tailKept || len(tail) < tailKept-markEvery-16 {
		t.Fatalf("head of %d bytes, tail of %d", len(head), len(tail))
	}
	var h hash
	h.write([]byte(raw))
	if mark := string(appendMark(nil, int64(len(raw)-len(head)-len(tail)), h.sum())); got != head+mark+tail {
		t.Fatalf("mark %q, want %q", got[len(head):len(got)-len(tail)], mark)
	}
	whole := jsonenc.Unescape(raw, -1)
	if !strings.HasPrefix(whole, jsonenc.Unescape(head, -1)) || !strings.HasSuffix(whole, jsonenc.Unescape(tail, -1)) {
		t.Fatalf("cut inside a character: …%q and %q…", head[len(head)-12:], tail[:12])
	}
	if n := len(jsonenc.Unescape(tail, -1)); n < MaxMessage && !strings.Contains(tail, `\u`) {
		t.Fatalf("a tail of %d bytes of text", n)
	}
}

// Text that resembles such a mark is not taken for one.
func TestTextAboutMarksStaysWhole(t *testing.T) {
	mark := string(appendMark(nil, 12, 34))
	for _, text := range []string{mark, strings.Repeat("x", headKept-1) + mark + "end", strings.Repeat("x ", 2000) + mark + strings.Repeat("y ", 4000) + mark} {
		p, _ := json.Marshal(map[string]any{"last_assistant_message": text, "prompt": text, "hook_event_name": "UserPromptSubmit"})
		checkParse(t, "", p)
	}
}

// Elements and members that do not fit are left out whole, and counted.
func TestReadBoundsWhatIsMany(t *testing.T) {
	ones := "[" + strings.Repeat("1,", 150_000) + "1]"
	deep := strings.Repeat(`{"a":[`, 400) + strings.Repeat("7,", 100_000) + "7" + strings.Repeat("]}", 400)
	var members strings.Builder
	for i := range 50_000 {
		members.WriteString(`"k` + strconv.Itoa(i) + `":null,`)
	}
	keys := "{" + members.String() + `"z":0}`
	for name, c := range map[string]struct {
		in   string
		most int
		has  string // what is still read after it
	}{
		"array":        {`{"a":` + ones + `,"tool_use_id":"t"}`, MaxMember + 200, `,"tool_use_id":"t"}`},
		"object":       {`{"a":` + keys + `,"tool_use_id":"t"}`, MaxMember + 200, `":null},"tool_use_id":"t"}`},
		"deep":         {`{"a":` + deep + `,"tool_use_id":"t"}`, MaxMember + 3000, `,"tool_use_id":"t"}`},
		"several":      {`{"a":` + ones + `,"b":` + ones + `,"c":` + ones + `,"tool_use_id":"t"}`, 3*MaxMember + 400, `,"tool_use_id":"t"}`},
		"members":      {keys, MaxPayload + 200, `":null}`},
		"top array":    {ones, MaxPayload + 200, `]…"]`},
		"array first":  {`{"a":[[` + ones + `]],"tool_use_id":"t"}`, MaxMember + 200, `]…"]]],"tool_use_id":"t"}`},
		"long strings": {`{"a":["` + strings.Repeat(strings.Repeat("x", 100_000)+`","`, 15) + `"],"tool_use_id":"t"}`, MaxMember + MaxString, `,"tool_use_id":"t"}`},
		"big number":   {`{"a":` + strings.Repeat("1", 200_000) + `,"b":-0.` + strings.Repeat("0", 2000) + `e5}`, 20, `{"a":null,"b":null}`},
		"number kept":  {`{"a":` + strings.Repeat("1", 1024) + `}`, 1030, `11}`},
		"space":        {`{"a":` + strings.Repeat(" \n\t\r", 50_000) + `1}`, 7, `{"a":1}`},
		"little left":  {`{"a":[` + strings.Repeat("1,", MaxMember/2) + `2],"b":3}`, MaxMember + 100, `]…"],"b":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(readAllWays(t, []byte(c.in)))
			if len(got) > c.most || !strings.HasSuffix(got, c.has) {
				t.Errorf("%d bytes, at most %d: …%q", len(got), c.most, got[max(0, len(got)-100):])
			}
		})
	}
}

// Bytes left out of a container are counted and hashed without the white space between them.
func TestSkipCountsWhatIsLeftOut(t *testing.T) {
	kept := `{"a":[` + strings.Repeat("10,", 30_000)
	got := string(readAllWays(t, []byte(kept+" 22 , [3,\n4] ] , \"b\" : 1 }")))
	i := strings.Index(got, markStart)
	left := (kept + "22,[3,4]]")[i-1:] // the container's end is counted too
	var h hash
	h.write([]byte(left))
	if want := (kept + `"`)[:i-1] + `"` + string(appendMark(nil, int64(len(left)), h.sum())) + `"],"b":1}`; got != want {
		t.Errorf("got  …%q\nwant …%q", got[i-20:], want[i-20:])
	}
}

// Even the worst case stays below the documented amount of memory.
func TestReadBoundsMemory(t *testing.T) {
	for name, unit := range map[string]string{"one string": "x", "escapes": `\u00e9`, "newlines": `some code here\n`} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, err := Read(io.MultiReader(strings.NewReader(`{"a":"`), &repeat{unit, 8 << 20}, strings.NewReader(`"}`)))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 450<<10 || len(b) > MaxString {
			t.Errorf("%s: %v, %d bytes of result, %d allocated", name, err, len(b), n)
		}
	}
}

// repeat reads n bytes of repeated unit.
type repeat struct {
	unit string
	n    int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	if len(p) < len(r.unit) {
		return 0, errors.New("asked for too little")
	}
	n := 0
	for n+len(r.unit) <= len(p) && r.n > 0 {
		n += copy(p[n:], r.unit)
		r.n = max(0, r.n-len(r.unit))
	}
	return n, nil
}

func TestScan(t *testing.T) {
	naive := func(p []byte) int {
		for i := 0; i < len(p); i++ {
			switch c := p[i]; {
			case c == '\\' && i+1 < len(p) && strings.IndexByte(`"\/bfnrt`, p[i+1]) >= 0:
				i++
			case c < ' ' || c == '"' || c == '\\':
				return i
			}
		}
		return len(p)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.SampledFrom([]byte("aaaa \x1f!\"#[\\\\]n\x7f\x80\x9f\xa0\xa2\xdc\xff")), 0, 40).Draw(t, "p")
		if got, want := scan(p), naive(p); got != want {
			t.Fatalf("scan(%q) = %d, want %d", p, got, want)
		}
	})
}

func TestHashDoesNotDependOnWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOf(rapid.Byte()).Draw(t, "p")
		var whole, parts hash
		whole.write(p)
		for rest := p; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			parts.write(rest[:n])
			rest = rest[n:]
		}
		if whole.sum() != parts.sum() || hashOf(string(p)) != string(appendHex(nil, whole.sum())) {
			t.Fatalf("hash of %q depends on how it is written", p)
		}
	})
}
