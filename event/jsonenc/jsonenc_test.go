package jsonenc_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// marshal is the reference: encoding/json without HTML escaping.
func marshal(t interface{ Fatal(...any) }, v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// anyText returns strings with control characters, escapes, odd Unicode and invalid UTF-8.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("\x00\x07\b\t\n\f\r\x1f\"\\/<>&\u007f\u2028\u2029\ufffd\ufeff😀é"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// valid returns s with U+FFFD for each byte of invalid UTF-8.
func valid(s string) string { return string([]rune(s)) }

func TestAppendStringIsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		if got, want := string(jsonenc.AppendString(nil, s)), marshal(t, valid(s)); got != want {
			t.Fatalf("AppendString(%q) = %s, encoding/json writes %s", s, got, want)
		}
	})
}

func TestUnquoteIsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkUnquote(t, marshal(t, anyText().Draw(t, "s"))) })
	rapid.Check(t, func(t *rapid.T) { // escapes of every kind, paired and lone surrogates
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			`\ud83d`, `\ude00`, `\uD83D\uDE00`, `\u0041`, `\u0000`, `\n`, `\"`, `\\`, `\/`, "a", "é", "😀", "\xff", "\xc3",
		})).Draw(t, "parts")
		checkUnquote(t, `"`+strings.Join(parts, "")+`"`)
	})
}

func checkUnquote(t *rapid.T, raw string) {
	var want string
	if err := json.Unmarshal([]byte(raw), &want); err != nil {
		t.Fatal(err)
	}
	if got := jsonenc.Unquote(raw, -1); got != want {
		t.Fatalf("Unquote(%q) = %q, encoding/json reads %q", raw, got, want)
	}
	max := rapid.IntRange(0, len(want)+2).Draw(t, "max")
	got := jsonenc.Unquote(raw, max)
	if len(got) > max || !strings.HasPrefix(want, got) || !utf8.ValidString(got) {
		t.Fatalf("Unquote(%q, %d) = %q: not a head of %q", raw, max, got, want)
	}
	if rest := want[len(got):]; rest != "" {
		if _, n := utf8.DecodeRuneInString(rest); len(got)+n <= max {
			t.Fatalf("Unquote(%q, %d) = %q: one more character fits", raw, max, got)
		}
	}
}

// FuzzUnquote checks that no token, valid or not, causes a panic.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"`, ``, `"\`, `"\"`, `"\u12"`, `"\ud83d\u"`, `nul`, `{"a":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := jsonenc.Unquote(raw, -1)
		var want string
		if json.Unmarshal([]byte(raw), &want) == nil && raw[0] == '"' && raw[len(raw)-1] == '"' && got != want {
			t.Fatalf("Unquote(%q) = %q, want %q", raw, got, want)
		}
	})
}

type inner struct {
	S string `json:"s,omitempty"`
	N int    `json:"n,omitempty"`
}

type record struct {
	S     string   `json:"s,omitempty"`
	N     int64    `json:"n,omitempty"`
	B     bool     `json:"b,omitempty"`
	Inner inner    `json:"inner,omitzero"`
	List  []inner  `json:"list,omitempty"`
	Words []string `json:"words,omitempty"`
	Maybe *inner   `json:"maybe,omitempty"`
}

func anyInner() *rapid.Generator[inner] {
	return rapid.Custom(func(t *rapid.T) inner {
		return inner{valid(anyText().Draw(t, "s")), rapid.IntRange(-1, 1).Draw(t, "n")}
	})
}

func TestRecordIsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record{
			S: valid(anyText().Draw(t, "s")), N: rapid.Int64().Draw(t, "n"), B: rapid.Bool().Draw(t, "b"),
			Inner: anyInner().Draw(t, "inner"),
			List:  rapid.SliceOfN(anyInner(), 0, 3).Draw(t, "list"), Words: rapid.SliceOfN(rapid.Map(anyText(), valid), 0, 3).Draw(t, "words"),
		}
		if rapid.Bool().Draw(t, "pointer") {
			in := anyInner().Draw(t, "maybe")
			r.Maybe = &in
		}
		text := string(jsonenc.Append(nil, &r))
		if want := marshal(t, r); text != want {
			t.Fatalf("by table %s\nencoding/json %s", text, want)
		}
		var got, want record
		if !jsonenc.Decode(text, &got) {
			t.Fatalf("Decode refuses %s", text)
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("Decode %+v\nencoding/json %+v, %v", got, want, err)
		}
	})
}

// FuzzDecode checks that Decode accepts what encoding/json accepts, and finds the same
// members.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"s":"a\u00e9\n","n":-12,"b":true,"inner":{"s":"x","n":1},"list":[{"n":2},{}],"words":["a","b"],"maybe":{}}`,
		` { "s" : "x" , "n" : 0 } `, `{"n":1.5e3,"b":null,"x":[[],{},-0.1E+2,false]}`, `{"n":01}`, `{"s":"\q"}`, `{"s":"\ud83d\ude00"}`,
		`{"a":1,}`, `{"a" 1}`, `{}{}`, `{"n":9223372036854775808}`, "{\"s\":\"\x01\"}", `{"n":-}`, `{"b":tru}`, `[`, ``, `{"list":[1,{"n":1}],"words":{"a":"b"}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want record
		valid := json.Valid([]byte(text)) && gjson.Parse(text).IsObject()
		if ok := jsonenc.Decode(text, &got); ok != valid {
			t.Fatalf("Decode(%q) = %t, want %t", text, ok, valid)
		}
		// encoding/json ignores letter case in keys, clears a member that is null, and fails
		// at one of another type.
		plain := !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' })
		if !valid || !plain || strings.Contains(text, `\u`) || strings.Contains(text, "null") || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		if got, want := jsonenc.Append(nil, &got), jsonenc.Append(nil, &want); !bytes.Equal(got, want) {
			t.Fatalf("Decode(%q) gives %s, encoding/json %s", text, got, want)
		}
	})
}

// Deeply nested brackets are rejected at some depth, and do not crash the process.
func TestDecodeOfDeepText(t *testing.T) {
	for _, brackets := range []string{"[]", "{}"} {
		for depth, want := range map[int]bool{100: true, 9_999: true, 10_000: false, 1_000_000: false} {
			open := map[string]string{"[]": "[", "{}": `{"a":`}[brackets]
			text := `{"x":` + strings.Repeat(open, depth) + "1" + strings.Repeat(brackets[1:], depth) + "}"
			if got := jsonenc.Decode(text, new(record)); got != want {
				t.Errorf("%d of %s: %t, want %t", depth, brackets, got, want)
			}
		}
	}
}

// Members of other types and unknown members leave the rest readable.
func TestDecodeSkipsWhatItCannotUse(t *testing.T) {
	var r record
	text := `{"s":5,"new":{"a":[1,{"s":"x"}]},"n":"7","b":null,"inner":[1],"list":{"s":"x"},"words":["a",1,"b"],"maybe":[]}`
	if !jsonenc.Decode(text, &r) {
		t.Fatal("refused")
	}
	if want := (record{Words: []string{"a", "b"}}); !reflect.DeepEqual(r, want) {
		t.Fatalf("got %+v, want %+v", r, want)
	}
	if jsonenc.Decode(`[1]`, &r) || jsonenc.Decode(`null`, &r) {
		t.Fatal("took an array or null for an object")
	}
}
