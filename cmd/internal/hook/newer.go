package hook

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/state/store"
)

// ChosenFor is the file with the client that the events of the installed entries
// were chosen for: its version, or "unknown" when beckon was installed before the
// client was there. `beckon install` writes it, of several settings files for the
// oldest client.
func ChosenFor(stateDir string) string { return filepath.Join(stateDir, "install", "client") }

// CompleteInstall has `beckon install` add what is missing, in a process of its
// own, when e begins a session of a client newer than the one that the installed
// events were chosen for. It costs one small file a session; the hook itself
// never writes into the user's settings.
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
// "claude-code_2-1-330_harness", if the installed events were chosen for an
// older one; else "".
func newerClient(stateDir, agent string) string {
	rest, ok := strings.CutPrefix(agent, "claude-code_")
	if !ok {
		return ""
	}
	dashed, _, _ := strings.Cut(rest, "_")
	version := strings.ReplaceAll(dashed, "-", ".")
	now, ok := numbers(version)
	chosen, err := os.ReadFile(ChosenFor(stateDir))
	if !ok || err != nil {
		return ""
	}
	was, known := numbers(strings.TrimSpace(string(chosen)))
	if known && slices.Compare(now[:], was[:]) <= 0 {
		return ""
	}
	return version
}

// numbers reads three numbers with dots between them.
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
