package hook

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state/store"
)

// ChosenFor returns the file with the client version that the events of the installed entries
// were chosen for, or "unknown" if beckon was installed before the client. `beckon install`
// writes it; with several settings files it names the oldest client.
func ChosenFor(stateDir string) string { return filepath.Join(stateDir, "install", "client") }

// CompleteInstall starts `beckon install` in the background to add missing events, when e
// begins a session of a client newer than the one that the installed events were chosen for.
// It costs one small file per session; the hook itself never writes to the user's settings.
func CompleteInstall(st *store.Store, e *event.Event, getenv func(string) string) {
	if e.Kind != event.SessionStart {
		return
	}
	if v := newerClient(st.Dir, getenv("AI_AGENT")); v != "" {
		if err := StartBeckon(st.Dir, []string{"install", "--complete", v}); err != nil {
			st.Log(errors.New("completing the install: " + err.Error()))
		}
	}
}

// newerClient returns the version of the client that agent names, as in
// "claude-code_2-1-330_harness", if the installed events were chosen for an older one; else
// "".
func newerClient(stateDir, agent string) string {
	rest, ok := strings.CutPrefix(agent, "claude-code_")
	if !ok {
		return ""
	}
	dashed, _, _ := strings.Cut(rest, "_")
	version := strings.ReplaceAll(dashed, "-", ".")
	now, ok := numbers(version)
	chosen, err := plainfile.ReadFile(ChosenFor(stateDir))
	if !ok || err != nil {
		return ""
	}
	was, known := numbers(strings.TrimSpace(string(chosen)))
	if known && slices.Compare(now[:], was[:]) <= 0 {
		return ""
	}
	return version
}

// numbers parses three numbers separated by dots.
func numbers(version string) (n [3]int, ok bool) {
	parts := strings.Split(version, ".")
	if len(parts) != len(n) {
		return n, false
	}
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 {
			return n, false
		}
		n[i] = v
	}
	return n, true
}
