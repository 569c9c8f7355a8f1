package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// jsonOffset is encoding/json's verdict on p: -1 if it is valid, else the
// offset of the byte that is wrong, len(p) if the end is.
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
	// At the end of a literal or number it reports the space it makes up.
	atEnd := strings.HasPrefix(syntax.Error(), "invalid character ' '") && !bytes.HasSuffix(p, []byte(" "))
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

// Every text over small alphabets that reach every state of the grammar is
// accepted and refused as encoding/json does, at the same offset, and comes
// out as json.Compact writes it.
func TestReadIsValidAndCompact(t *testing.T) {
	for _, c := range []struct {
		alphabet []string
		length   int
	}{
		{[]string{"{", "}", "[", "]", ",", ":", `"a"`, "1", " "}, 6},
		{[]string{"-", "0", "1", ".", "e", "E", "+", ","}, 7},
		{[]string{`"`, `\`, "u", "0", "F", "n", "\x1f", "é", "\xff"}, 6},
		{[]string{"t", "r", "u", "e", "null", "false", " ", "\n", "\x00"}, 6},
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
