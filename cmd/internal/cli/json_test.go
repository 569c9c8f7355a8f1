package cli

import (
	"bytes"
	"encoding/json"
	"testing"
)

// No control character that a terminal acts on is in the JSON that commands print.
func TestJSONHasNoControls(t *testing.T) {
	const text = "a\x1b\x7f\u0080\u009b31m\u009f\u00a0é\xc2"
	var b bytes.Buffer
	if err := WriteJSON(&b, text); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r < ' ' && r != '\n' || 0x7f <= r && r <= 0x9f {
			t.Errorf("%U is in %q", r, b.String())
		}
	}
	var back string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != "a\x1b\x7f\u0080\u009b31m\u009f\u00a0é\ufffd" {
		t.Errorf("%q, %v", back, err)
	}
}
