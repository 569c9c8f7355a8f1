package event

import (
	"beckon/event/jsonenc"
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// anyEvent returns events whose fields are empty or odd: control characters, quotes, U+2028,
// invalid UTF-8, the largest numbers.
func anyEvent() *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		var e Event
		fillAny(t, reflect.ValueOf(&e).Elem())
		return e
	})
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Just(""),
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("\x00\x1b\b\t\n\f\r\"\\/<>&\u007f\u2028\u2029\ufffd😀é{}[]"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// fillAny fills v by reflection, so that a new field of Event is tested without a change here.
func fillAny(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(anyText().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Struct:
		for i := range v.NumField() {
			fillAny(t, v.Field(i))
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillAny(t, v.Index(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		if rapid.Bool().Draw(t, "zero") {
			return
		}
		fillAny(t, v.Elem())
	default:
		t.Fatalf("fillAny: %s", v.Type())
	}
}

// valid returns e with U+FFFD for each byte of invalid UTF-8, as Append writes it;
// encoding/json would write an escape.
func valid(e Event) Event {
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString(string([]rune(v.String())))
		case reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i))
			}
		case reflect.Pointer:
			if !v.IsNil() {
				visit(v.Elem())
			}
		}
	}
	visit(reflect.ValueOf(&e).Elem())
	return e
}

// The table-driven codec encodes and decodes like encoding/json.
func TestCodecIsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent().Draw(t, "event")
		text := jsonenc.Append(nil, &e) // before valid: it shares Background and Origin
		var ref bytes.Buffer
		enc := json.NewEncoder(&ref)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(valid(e)); err != nil {
			t.Fatal(err)
		}
		if want := bytes.TrimSuffix(ref.Bytes(), []byte("\n")); !bytes.Equal(text, want) {
			t.Fatalf("Append        %s\nencoding/json %s", text, want)
		}
		var got, want Event
		ok := jsonenc.Decode(string(text), &got)
		if err := json.Unmarshal(text, &want); !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("Decode        %+v, %t\nencoding/json %+v, %v", got, ok, want, err)
		}
		if again := jsonenc.Append(nil, &got); !bytes.Equal(again, text) {
			t.Fatalf("written again %s\nfirst         %s", again, text)
		}
	})
}

func TestDecodeOfRecordings(t *testing.T) {
	for _, payload := range payloads(t) {
		e, err := Parse("", "", payload)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if ok := jsonenc.Decode(string(jsonenc.Append(nil, &e)), &got); !ok || len(e.Background) > 0 && !reflect.DeepEqual(got, e) {
			t.Fatalf("%t\n got %+v\nwant %+v", ok, got, e)
		}
	}
}
