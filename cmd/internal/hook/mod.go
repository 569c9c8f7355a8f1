package hook

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// ModFlag, as the first argument, makes beckon-hook fold what the mod inside a client saw:
//
//	beckon-hook --mod WHAT SESSION MILLISECONDS DETAIL
//
// None of it contains what is said in the session.
const ModFlag = "--mod"

const (
	// modWait is how long a report, which is not sent again, waits for the session's lock.
	modWait = 1500 * time.Millisecond
	// modLate is the maximum age of a report.
	modLate = 10 * time.Second
)

// Mod folds one report of the mod. Its exit code is always 0.
func Mod(args []string, getenv func(string) string, now time.Time) int {
	within(getenv, "a report of the mod may be lost: the disk did not answer", func(st *store.Store) error {
		if len(args) != 4 {
			args = make([]string, 4) // of a mod that is newer or older
		}
		at, err := strconv.ParseInt(args[2], 10, 64)
		what := state.Seeing(strings.ReplaceAll(args[0], "-", " "))
		known := slices.Contains([]state.Seeing{state.SawLoaded, state.SawHalt, state.SawFailed, state.SawGoesOn}, what)
		if err != nil || !known || args[1] == "" || len(args[3]) > 64 {
			return errors.New("a report of the mod is not understood: run beckon setup mod again")
		}
		t := event.MillisOf(now)
		if age := t - event.Millis(at); age >= 0 && age < event.Millis(modLate.Milliseconds()) {
			t = event.Millis(at) // a report by another clock would close what is open now
		}
		k := store.KeyOf(args[1])
		s, err := st.Load(k)
		if err != nil || s.Seq == 0 {
			return nil // no hook has reported the session, so there is nothing to add to
		}
		seen := state.Observed{Source: state.FromMod, What: what, At: t, Detail: args[3]}
		_, err = st.Fold(k, store.Update{
			Change: state.Change{At: t, Observation: &seen},
			Alive:  evidence.Presence,
			Other:  func(owner event.Process) event.Process { return evidence.Other(s.Agent, owner, getenv) },
			Wait:   modWait,
		})
		return err
	})
	return 0
}
