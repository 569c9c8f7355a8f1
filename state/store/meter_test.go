package store

import (
	"os"
	"sync"
	"testing"

	"beckon/event"
)

func TestMeter(t *testing.T) {
	st := Open(t.TempDir())
	if m := st.Meter("s"); m != nil {
		t.Errorf("of nothing it reads %+v", m)
	}
	want := event.Meter{At: 5, Model: "m\"\x01", Version: "2", Context: 4321, HasContext: true, Cost: 1_500_000}
	if err := st.SetMeter("s", want); err != nil {
		t.Fatal(err)
	}
	if m := st.Meter("s"); m == nil || *m != want {
		t.Errorf("read back %+v", m)
	}
	for _, junk := range []string{"", "{", "[]", "null"} {
		if err := os.WriteFile(st.path(meterDir, "s.json"), []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		if m := st.Meter("s"); m != nil {
			t.Errorf("%q reads as %+v", junk, m)
		}
	}
}

// Simultaneous reports leave one of them, whole, and nothing else.
func TestMetersAtOnce(t *testing.T) {
	st := Open(t.TempDir())
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			if err := st.SetMeter("s", event.Meter{At: event.Millis(i + 1), Cost: int64(i + 1)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if m := st.Meter("s"); m == nil || m.Cost != int64(m.At) {
		t.Errorf("left %+v", m)
	}
	if left, err := readNames(st.path(tmpDir, "")); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %q %v", left, err)
	}
}
