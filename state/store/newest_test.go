package store

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"beckon/event"
	"beckon/state"
)

// Newest gives the whole events in the tail: none that is cut, none of another kind.
func TestNewest(t *testing.T) {
	st := Open(t.TempDir())
	for i := range 50 {
		e := event.Event{Kind: event.PreToolUse, Name: "PreToolUse", SessionID: "s", At: event.Millis(i + 1), Prompt: fmt.Sprint(i)}
		if _, err := st.Fold("s", Update{Change: state.Change{At: e.At, Event: &e}, Elapsed: func() int64 { return int64(i + 1) }}); err != nil {
			t.Fatal(err)
		}
	}
	all := func(size int64) (us []int64) {
		if err := st.Newest("s", size, func(l Line) { us = append(us, l.Us) }); err != nil {
			t.Fatal(err)
		}
		return us
	}
	info, err := os.Stat(st.journal("s"))
	if err != nil {
		t.Fatal(err)
	}
	whole := all(1 << 30)
	if len(whole) != 50 || whole[0] != 1 || whole[49] != 50 {
		t.Fatalf("%v", whole)
	}
	for size := int64(0); size <= info.Size(); size += 97 {
		got := all(size)
		if !slices.Equal(got, whole[50-len(got):]) {
			t.Fatalf("the last %d bytes give %v", size, got)
		}
		if size > 2000 && len(got) == 0 {
			t.Fatalf("the last %d bytes give nothing", size)
		}
	}
	if err := st.Newest("none", 1000, func(Line) { t.Error("a session that is not there") }); err != nil {
		t.Error(err)
	}
}
