package trust

import (
	"testing"
	"time"
)

// A call that the user allowed passes once, in each copy of its event: if one copy refused it,
// the call would be refused.
func TestTakenByCopies(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	call := CallName("s", "/w", "Bash", []byte(`{"command":"make"}`))
	allow := func() {
		t.Helper()
		code, err := d.Refuse(Refused{Call: call, Tool: "Bash"}, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Allow(code, now); err != nil {
			t.Fatal(err)
		}
	}
	takes := func(call, use string, now time.Time) bool {
		_, ok := d.Take(call, use, now)
		return ok
	}
	if takes(call, "t1", now) {
		t.Error("nobody allowed it")
	}
	allow()
	for range 2 {
		if !takes(call, "t2", now) {
			t.Error("a copy was refused")
		}
	}
	if takes(call, "t3", now) || takes(CallName("s", "/w", "Bash", nil), "t2", now) || takes(call, "t2", now.Add(time.Hour)) {
		t.Error("it passes again")
	}
	allow()
	if !takes(call, "", now) || takes(call, "", now) {
		t.Error("a firing without a name does not take it once")
	}
}
