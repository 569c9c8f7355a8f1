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
		if _, err := st.Fold("s", Update{Turns: []state.Turn{turn}}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if err := st.Lines(Select{Key: "s", Kind: "turn"}, func(*Line) { n++ }); err != nil || n != 1 {
		t.Errorf("%d turns, %v", n, err)
	}
	_, err := st.Fold("nobody", Update{Turns: []state.Turn{turn}})
	if _, unknown := st.Load("nobody"); err != nil || !errors.Is(unknown, fs.ErrNotExist) {
		t.Errorf("of no session: %v, %v", err, unknown)
	}
}
