package run

import (
	"os"
	"testing"
	"time"

	"beckon/event/policy/trust"
)

// A server that failed to answer counts as down for half a minute, in every process, unless it
// answers meanwhile.
func TestHealth(t *testing.T) {
	d := trust.Dir(t.TempDir())
	of := func(url string) health { return healthOf(url, d) }
	h, other := of("http://a"), of("http://b")
	asked := func(h health) bool { may, _ := h.ask(); return may }
	if !asked(h) {
		t.Error("down before it was asked")
	}
	h.note(false)
	if asked(h) || asked(of("http://a")) || !asked(other) {
		t.Error("what did not answer is not down, or another is")
	}
	old := time.Now().Add(-downFor)
	if err := os.Chtimes(d.Path(downDir, h.name), old, old); err != nil {
		t.Fatal(err)
	}
	if may, once := h.ask(); !may || !once {
		t.Error("down for ever, or asked with all patience")
	}
	if asked(h) {
		t.Error("two try at the same time")
	}
	if h.note(true); !asked(h) {
		t.Error("down though it answered")
	}
}

// A server that is down is not skipped longer when the clock is set back.
func TestHealthOfTheFuture(t *testing.T) {
	h := health{trust.Dir(t.TempDir()), "a"}
	h.note(false)
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(h.state.Path(downDir, h.name), later, later); err != nil {
		t.Fatal(err)
	}
	if may, once := h.ask(); !may || !once {
		t.Errorf("asked %t, once %t", may, once)
	}
}
