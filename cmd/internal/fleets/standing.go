package fleets

import (
	"os"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/render/fleet/bus"

	"github.com/gofrs/flock"
)

// Standing is how this machine stands to its fleet.
type Standing struct {
	URL       string // of the hub; empty for no fleet
	Publishes bool   // its access is to publish, too
	Linked    bool   // a link runs
}

// StandingOf tries the hub. The error says why it does not let this machine in, or what
// is wrong with the access.
func StandingOf(a *cli.App) (Standing, error) {
	acc, ok, err := access(a)
	if !ok || err != nil {
		return Standing{}, err
	}
	s := Standing{URL: acc.URL, Publishes: acc.Host != ""}
	path := filepath.Join(a.Store.Dir, "fleet", "link.lock")
	if _, err := os.Stat(path); err == nil {
		lock := flock.New(path)
		free, err := lock.TryRLock()
		if s.Linked = err == nil && !free; free {
			_ = lock.Unlock()
		}
	}
	nc, err := bus.DialOnce(acc)
	if err != nil {
		return s, err
	}
	nc.Close()
	return s, nil
}
