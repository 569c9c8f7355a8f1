package feed

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/store"
)

// A snapshot is current to the point where its stream continues, and has the server's time,
// even if no row has changed for long.
func TestSnapshotIsNew(t *testing.T) {
	h := New(Options{Store: store.Open(t.TempDir()), Meter: NewMeter()})
	begin := time.Now()
	h.change(begin, func() { h.rows["a"] = &shown{} })
	h.snapshotFrame(Filter{})
	later := begin.Add(time.Hour)
	h.change(later, func() { h.report(message{name: "turn_created"}, change{}) })
	b, n := h.snapshotFrame(Filter{})
	id, data, _ := strings.Cut(string(b), "\n")
	if want := "id: " + h.id(n); id != want {
		t.Errorf("it says %q, and goes on from %q", id, want)
	}
	if stamp, _ := json.Marshal(later); !strings.Contains(data, string(stamp)) {
		t.Errorf("an hour later it is of another time:\n%s", data)
	}
}

// A client that reads nothing delays nobody, and gets what it missed when it reads again.
func TestStalledClient(t *testing.T) {
	h, f := New(Options{Store: store.Open(t.TempDir()), Meter: NewMeter()}), Filter{}
	n := h.newest()
	for i := range 2 * window {
		h.change(time.Now(), func() {
			h.report(message{name: "turn_created", session: "a", now: state.Working}, map[string]int{"n": i})
		})
	}
	if _, _, _, ok := h.since(n, f); ok {
		t.Error("a client that fell behind by more than is kept was not told")
	}
	newest := h.newest()
	got, at := 0, newest-window
	for at != newest {
		frames, next, _, ok := h.since(at, f)
		if !ok || next-at > step {
			t.Fatalf("after %d events: %d more, %v", got, next-at, ok)
		}
		got, at = got+strings.Count(string(frames), "event: turn_created\n"), next
	}
	if got != window {
		t.Errorf("it holds %d events", got)
	}
}

// newest returns the number of the newest event.
func (f *Feed) newest() uint64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.n
}

// The limit of streams is reported, and a place that becomes free can be taken.
func TestTooManyClients(t *testing.T) {
	f := New(Options{Store: store.Open(t.TempDir()), Meter: NewMeter(), Timing: Timing{}.OrDefault()})
	for range maxClients {
		if !f.join(1) {
			t.Fatal("refused early")
		}
	}
	status, w := stream(f, "/events")
	if status != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", status, w.Header())
	}
	f.join(-1)
	if status, w = stream(f, "/events"); status != http.StatusOK || !strings.Contains(w.Body.String(), "event: snapshot\n") {
		t.Errorf("%d %s", status, w.Body)
	}
}

// A client that has missed more than is kept for it, or that comes from the future, is told so.
func TestTooOld(t *testing.T) {
	f := New(Options{Store: store.Open(t.TempDir()), Meter: NewMeter(), Timing: Timing{}.OrDefault()})
	for range window + 1 {
		f.change(time.Now(), func() { f.report(message{name: "session_updated", session: "none"}, change{}) })
	}
	for _, n := range []uint64{0, 99999999} {
		if _, w := stream(f, "/events?after="+f.id(n)); !strings.Contains(w.Body.String(), `data: {"reason":"too_old"}`) {
			t.Errorf("after %d: %s", n, w.Body)
		}
	}
}

// stream returns what a stream begins with.
func stream(f *Feed, path string) (status int, w *httptest.ResponseRecorder) {
	over := make(chan struct{})
	close(over)
	w = httptest.NewRecorder()
	err := f.Stream(w, httptest.NewRequest("GET", path, nil), over)
	if fault, ok := errors.AsType[*respond.Fault](err); ok {
		return fault.Status, w
	}
	return w.Code, w
}
