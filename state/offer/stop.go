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

// Stop leaves word that a session is to end its turn at its next call. The word
// is void once the user has sent it another prompt.
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
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, string(store.KeyOf(record))+".json"), b, fileMode, false)
}
