package hold

import (
	"os"
	"path/filepath"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state/store"
)

// StopDir has a file for each session that is to stop at its next call.
func StopDir(stateDir string) string { return filepath.Join(stateDir, "offers", "stop") }

// Stop is the user's word that a session is to stop.
type Stop struct {
	At   event.Millis `json:"at"`
	By   string       `json:"by"`   // who said it
	From string       `json:"from"` // and where
}

// StopOf is the user's word that session k is to stop, if there is one newer
// than since: when the actor that asks last began. It stands until then, for the
// session and for each of its subagents.
func StopOf(stateDir string, k store.Key, since event.Millis) (s Stop, ok bool) {
	b, err := os.ReadFile(filepath.Join(StopDir(stateDir), string(k)+".json"))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return Stop{}, false
	}
	return s, s.At > since
}
