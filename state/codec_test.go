package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"beckon/event"
	"beckon/event/jsonenc"

	"pgregory.net/rapid"
)

// anySession generates sessions with arbitrary fields.
func anySession() *rapid.Generator[Session] {
	return rapid.Custom(func(t *rapid.T) Session {
		var s Session
		fill(t, reflect.ValueOf(&s).Elem())
		s.Schema = Schema
		return s
	})
}

// fill sets v and everything in it to arbitrary values. Empty slices are nil, as the codec
// decodes them.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"\x00\x1f\"\\", "é\u2028", "</a>&"})).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "number"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 2).Draw(t, "len")
		for range n {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(t, e)
			v.Set(reflect.Append(v, e))
		}
	}
}

func plainJSON(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func TestCodecIsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySession().Draw(t, "session")
		got := AppendJSON(nil, &s)
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if want := bytes.TrimSuffix(b.Bytes(), []byte("\n")); !bytes.Equal(got, want) {
			t.Fatalf("AppendJSON\n got %s\nwant %s", got, want)
		}
		var want Session
		if err := json.Unmarshal(got, &want); err != nil {
			t.Fatal(err)
		}
		back, err := decodeJSON(got)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, want) {
			t.Fatalf("DecodeJSON\n got %+v\nwant %+v", back, want)
		}
	})
}

func TestDecodeAnyOrderAndUnknownMembers(t *testing.T) {
	in := `{"later":{"a":[1]},"last":{"reason":"Stop","at":7},"agent":"codex","schema":1,"actors":[{"x":1,"active":5}]}`
	s, err := decodeJSON([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := Session{Schema: 1, Agent: "codex", Last: Mark{At: 7, Reason: "Stop"}, Actors: []Actor{{Active: 5}}}
	if !reflect.DeepEqual(s, want) {
		t.Fatalf("got %+v, want %+v", s, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for in, want := range map[string]error{
		``: ErrNotSession, `{`: ErrNotSession, `[]`: ErrNotSession, `{}`: ErrNotSession, `null`: ErrNotSession,
		`{"schema":"1"}`: ErrNotSession, `{"schema":2}`: ErrNewerSchema, `{"schema":1}x`: ErrNotSession,
	} {
		if _, err := decodeJSON([]byte(in)); err != want {
			t.Errorf("decodeJSON(%q) = %v, want %v", in, err, want)
		}
	}
}

func TestJournalBodies(t *testing.T) {
	o := Observed{Source: FromRegistry, What: SawHalt, At: 5, Detail: "idle"}
	if got, want := jsonenc.Append(nil, &o), plainJSON(t, o); !bytes.Equal(got, want) {
		t.Errorf("observation %s, want %s", got, want)
	}
	a := Action{Kind: ActBackburner, Until: event.Millis(9)}
	if got, want := jsonenc.Append(nil, &a), plainJSON(t, a); !bytes.Equal(got, want) {
		t.Errorf("action %s, want %s", got, want)
	}
}

func decodeJSON(data []byte) (s Session, err error) {
	err = s.DecodeJSON(data)
	return s, err
}
