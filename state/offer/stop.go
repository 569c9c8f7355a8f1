package offer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"beckon/event/atomicfile"
	"beckon/state/offer/hold"
	"beckon/state/store"
)

// Stop leaves word that a session is to end its turn at its next call, and its
// subagents their work at theirs. The word is void for what begins later, and for
// the session once the user has sent it another prompt.
func (d Dir) Stop(record string, from From, by string, now time.Time) error {
	b, err := json.Marshal(struct {
		At   int64  `json:"at"`
		By   string `json:"by,omitempty"`
		From From   `json:"from"`
	}{now.UnixMilli(), by, from})
	if err != nil {
		return err
	}
	dir := hold.StopDir(string(d))
	forget(dir, now)
	return atomicfile.Write(filepath.Join(dir, string(store.KeyOf(record))+".json"), b, fileMode, false)
}

// stands is how long the word to stop is kept.
const stands = 24 * time.Hour

// forget removes words that are old.
func forget(dir string, now time.Time) {
	names, _ := os.ReadDir(dir) // unreadable: nothing to remove
	for _, n := range names {
		if info, err := n.Info(); err == nil && now.Sub(info.ModTime()) > stands {
			_ = os.Remove(filepath.Join(dir, n.Name()))
		}
	}
}
