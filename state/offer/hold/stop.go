package hold

import (
	"os"
	"path/filepath"

	"beckon/event"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// StopDir has a file for each session that is to stop at its next call.
func StopDir(stateDir string) string { return filepath.Join(stateDir, "offers", "stop") }

// Stop is the user's word that a session is to stop.
type Stop struct {
	At   event.Millis
	By   string // who said it
	From string // and where
}

// TakeStop takes the word that session k is to stop, if there is one that is
// newer than its prompt: of several processes one gets it.
func TakeStop(stateDir string, k store.Key, prompt event.Millis) (s Stop, ok bool) {
	path := filepath.Join(StopDir(stateDir), string(k)+".json")
	b, err := os.ReadFile(path)
	if err != nil {
		return s, false
	}
	v := gjson.ParseBytes(b)
	s = Stop{event.Millis(v.Get("at").Int()), v.Get("by").String(), v.Get("from").String()}
	return s, os.Remove(path) == nil && s.At > prompt
}
