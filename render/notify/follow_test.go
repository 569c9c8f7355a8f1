package notify

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/store"
)

// counter is a channel that counts.
type counter struct{ n atomic.Int32 }

func (*counter) Name() string { return "counter" }

func (c *counter) Send(context.Context, Note) error {
	c.n.Add(1)
	return nil
}

// scene is a follower with a clock and one session.
type scene struct {
	t    *testing.T
	st   *store.Store
	f    *Follower
	told *counter
	now  time.Time
	s    state.Session
}

func newScene(t *testing.T) *scene {
	sc := &scene{t: t, st: store.Open(t.TempDir()), told: &counter{}, now: time.Now()}
	sc.f = NewFollower(sc.deliverer())
	return sc
}

func (sc *scene) deliverer() *Deliverer {
	set := alert.Defaults()
	set.Channels = []string{alert.Desktop}
	return &Deliverer{Store: sc.st, Settings: set, Channels: []Channel{sc.told}, By: "watch",
		Start: func([]string) error { return nil }}
}

// event folds an event at the current time.
func (sc *scene) event(e event.Event) {
	e.At, e.SessionID = event.MillisOf(sc.now), "s1"
	sc.s = state.Apply(sc.s, state.Change{At: e.At, Event: &e})
	sc.s.ID = "s1"
}

// look looks after d has passed, and checks how many notifications were sent by then.
func (sc *scene) look(d time.Duration, want int32) {
	sc.t.Helper()
	sc.now = sc.now.Add(d)
	sc.f.Look(context.Background(), []state.Seen{{Session: sc.s}}, sc.now)
	sc.f.Wait()
	if got := sc.told.n.Load(); got != want {
		sc.t.Fatalf("%d told, want %d", got, want)
	}
}

func tool() event.Tool { return event.Tool{Name: "Bash", UseID: "t", Hash: "h", Summary: "Bash: make"} }

// A dialog causes one notification once it has been open for six seconds; one that was open
// before the first look causes none.
func TestFollowDialog(t *testing.T) {
	sc := newScene(t)
	sc.event(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "go"})
	sc.look(0, 0)
	sc.event(event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", Tool: tool()})
	sc.look(100*time.Millisecond, 0)
	sc.look(2*time.Second, 0)
	sc.look(4*time.Second, 1)
	sc.look(time.Second, 1)
	late := NewFollower(sc.deliverer())
	late.Look(context.Background(), []state.Seen{{Session: sc.s}}, sc.now)
	late.Look(context.Background(), []state.Seen{{Session: sc.s}}, sc.now.Add(time.Minute))
	late.Wait()
	if n := sc.told.n.Load(); n != 1 {
		t.Errorf("a second follower made it %d", n)
	}
}

// What a hook has notified of is not notified again.
func TestFollowClaimed(t *testing.T) {
	sc := newScene(t)
	sc.look(0, 0)
	sc.event(event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", Tool: tool()})
	sc.look(0, 0)
	e := state.AlertStateOf(sc.s, state.Evidence{}, event.MillisOf(sc.now)).Alert
	if first, err := sc.st.Claim("s1", e.ID()); err != nil || !first {
		t.Fatal(first, err)
	}
	sc.look(10*time.Second, 0)
}

// A turn that only seems over for a moment causes no notification; its end does. Esc never
// does.
func TestFollowDone(t *testing.T) {
	sc := newScene(t)
	sc.event(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "go", PromptID: "p1"})
	sc.look(0, 0)
	sc.now = sc.now.Add(time.Minute)
	sc.event(event.Event{Kind: event.Stop, Name: "Stop", Message: "Done.", HasBackground: true})
	sc.look(50*time.Millisecond, 0)
	sc.event(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "<task-notification>", FromClient: true})
	sc.look(50*time.Millisecond, 0)
	sc.look(2*time.Second, 0)
	sc.event(event.Event{Kind: event.Stop, Name: "Stop", Message: "Really done.", HasBackground: true})
	sc.look(50*time.Millisecond, 0)
	sc.look(settles(state.Alert{Kind: state.AlertDone}), 1)
	sc.look(time.Minute, 1)
	sc.event(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "again", PromptID: "p2"})
	sc.look(time.Minute, 1)
	sc.s = state.Apply(sc.s, state.Change{At: event.MillisOf(sc.now), Observation: &state.Observed{Source: state.FromRegistry, What: state.SawHalt, At: event.MillisOf(sc.now)}})
	sc.look(time.Second, 1)
	sc.look(time.Minute, 1)
}

// A notification within the limit after another of its kind is sent when the limit is over, if
// it still applies.
func TestFollowLimit(t *testing.T) {
	for _, kind := range []state.AlertKind{state.AlertPermission, state.AlertQuestion, state.AlertFailed, state.AlertDone} {
		t.Run(string(kind), func(t *testing.T) {
			sc := newScene(t)
			sc.f.d.Settings.Limit = time.Hour
			sc.comesTo(kind)
			sc.look(time.Second, 0)
			sc.comesTo(kind)
			sc.look(0, 0)
			sc.look(10*time.Second, 1)
			sc.claimedNow()
			sc.comesTo(kind)
			sc.look(0, 1)
			sc.look(58*time.Minute, 1)
			sc.look(2*time.Minute, 2)
			sc.look(time.Hour, 2)
		})
	}
}

// comesTo begins a turn of the user's and brings it to the state of that kind.
func (sc *scene) comesTo(kind state.AlertKind) {
	sc.event(event.Event{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", Prompt: "go"})
	sc.now = sc.now.Add(time.Minute)
	switch kind {
	case state.AlertPermission:
		call := tool()
		call.UseID = sc.now.String()
		sc.event(event.Event{Kind: event.PermissionRequest, Name: "PermissionRequest", Tool: call})
	case state.AlertQuestion:
		sc.event(event.Event{Kind: event.Stop, Name: "Stop", Message: "Which one do you want?", HasBackground: true})
	case state.AlertFailed:
		sc.event(event.Event{Kind: event.StopFailure, Name: "StopFailure", Reason: "server_error"})
	case state.AlertDone:
		sc.event(event.Event{Kind: event.Stop, Name: "Stop", Message: "Done.", HasBackground: true})
	}
}

// claimedNow sets the claim's time, which is the machine's, to the scene's.
func (sc *scene) claimedNow() {
	sc.t.Helper()
	claims, err := filepath.Glob(filepath.Join(sc.st.Dir, "told", "s1", "*"))
	if err != nil || len(claims) != 1 {
		sc.t.Fatal(claims, err)
	}
	if err := os.Chtimes(claims[0], sc.now, sc.now); err != nil {
		sc.t.Fatal(err)
	}
}
