package hook

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/event/policy/wire"
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
	chosen, err := plainfile.ReadFile(ChosenFor(stateDir))
	was := strings.TrimSpace(string(chosen))
	if err != nil || !isVersion(version) || isVersion(was) && !wire.Older(was, version) {
		return ""
	}
	return version
}

// isVersion reports whether a text is three numbers separated by dots.
func isVersion(text string) bool {
	parts := strings.Split(text, ".")
	return len(parts) == 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.Trim(p, "0123456789") != ""
	})
}
