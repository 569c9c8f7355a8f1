package store

import (
	"errors"
	"io/fs"
	"testing"

	"beckon/state"
)

// A turn of the transcript is folded once, whoever reads it.
func TestSaidOnce(t *testing.T) {
	st := aSession(t, 1)
	turn := state.Turn{Actor: state.SpeakerAgent, Rule: state.TurnProgress, Text: "looking", At: t0 + 10, Source: state.TimeTranscript}
	for range 3 {
		if err := st.Said("s", []state.Turn{turn}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if err := st.Lines(Select{Key: "s", Kind: "turn"}, func(*Line) { n++ }); err != nil || n != 1 {
		t.Errorf("%d turns, %v", n, err)
	}
	if err := st.Said("nobody", []state.Turn{turn}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no session: %v", err)
	}
}
