package store

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

// If many processes claim one alert, exactly one gets it.
func TestClaimOnce(t *testing.T) {
	st := Open(t.TempDir())
	e := state.Alert{Kind: state.AlertPermission, At: 17}
	var got atomic.Int32
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			first, err := Open(st.Dir).Claim("k", e.ID())
			if err != nil {
				t.Error(err)
			}
			if first {
				got.Add(1)
			}
		})
	}
	wait.Wait()
	if got.Load() != 1 {
		t.Errorf("%d have the edge", got.Load())
	}
	if all := st.Claims("k"); len(all) != 1 || time.Since(all[e.ID()].Time()) > time.Minute {
		t.Errorf("claimed: %v", all)
	}
	info, err := os.Stat(filepath.Join(st.Dir, "told", "k", "permission-17"))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the claim: %v, %v", info, err)
	}
}

func TestDecisions(t *testing.T) {
	st := Open(t.TempDir())
	if all, err := st.Decisions(); err != nil || len(all) != 0 {
		t.Errorf("none yet: %v, %v", all, err)
	}
	want := Decided{At: 5, Session: "s\"1", Kind: state.AlertDone, AlertAt: 4, Verdict: state.Never, Reason: "why, \x1b", By: "hook", Channels: "a, b"}
	if err := st.Decide(want); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(st.DecisionsFile(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("{\"at\":6,\nnothing\n")
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if all, err := st.Decisions(); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%+v, %v; want %+v", all, err, want)
	}
}

// The size of the log is bounded, and the newest decisions are always in it.
func TestDecisionsAreBounded(t *testing.T) {
	st := Open(t.TempDir())
	for i := range 2500 {
		if err := st.Decide(Decided{At: event.Millis(i + 1), Session: "s", Reason: strings.Repeat("r", 100)}); err != nil {
			t.Fatal(err)
		}
	}
	size := int64(0)
	for _, name := range []string{st.DecisionsFile(), st.DecisionsFile() + ".1"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	all, err := st.Decisions()
	if err != nil || size > 2*maxDecisions+1024 || len(all) < 500 || all[len(all)-1].At != 2500 {
		t.Errorf("%d bytes, %d decisions, %v", size, len(all), err)
	}
}

func TestPruneTold(t *testing.T) {
	st := Open(t.TempDir())
	for _, k := range []Key{"gone", "live"} {
		fold(t, st, tool(string(k), "c", t0))
		if _, err := st.Claim(k, "done-1"); err != nil {
			t.Fatal(err)
		}
	}
	archive(t, st, "gone")
	if err := st.Prune(time.Now().Add(15 * 24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if plainfile.Exists(st.path(claimsDir, "gone")) || !plainfile.Exists(st.path(claimsDir, "live")) {
		t.Error("pruned the wrong one")
	}
}
