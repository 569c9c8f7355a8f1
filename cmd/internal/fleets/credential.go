// Package fleets is what beckon's commands do with other machines: link and
// fleet, and the rows that list, watch, serve, prompt and statusline add to those
// of this machine.
package fleets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/render/fleet"

	"github.com/gofrs/flock"
)

// credentialFile returns the file that link --join writes the access to.
func credentialFile(a *cli.App) string { return home.Config(a.Getenv, "fleet.json") }

// credential returns this machine's access to a fleet: the token in BECKON_FLEET, else the one
// that it joined with. ok is false if it has neither.
func credential(a *cli.App) (acc fleet.Credential, ok bool, err error) {
	if token := a.Getenv("BECKON_FLEET"); token != "" {
		if acc, err = fleet.ReadToken(token); err != nil {
			return acc, false, fmt.Errorf("BECKON_FLEET: %w", err)
		}
		return acc, true, nil
	}
	path := credentialFile(a)
	data, err := plainfile.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return acc, false, nil
	}
	if err != nil {
		return acc, false, err
	}
	if err := json.Unmarshal(data, &acc); err != nil {
		return acc, false, fmt.Errorf("reading %s: %w", path, err)
	}
	return acc, true, acc.Check()
}

// Joined reports whether this machine has an access to a fleet.
func Joined(a *cli.App) bool {
	_, ok, err := credential(a)
	return ok && err == nil
}

// join stores an access for link and --fleet.
func join(a *cli.App, acc fleet.Credential) error {
	path := credentialFile(a)
	if path == "" {
		return errors.New("finding the configuration: HOME is not set")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeJSON(path, acc)
}

// errNoFleet says what to do where there is nothing to show.
var errNoFleet = cli.Hint(`beckon fleet link --join TOKEN joins one, and "hosts": ["ssh:NAME"] in config.json names`+
	` machines to ask by ssh: see beckon help fleet`, "this machine is in no fleet")

// Standing is this machine's relation to its fleet.
type Standing struct {
	URL       string // of the hub; empty for no fleet
	Publishes bool   // its access allows publishing
	Linked    bool   // a link runs
}

// StandingOf tries the hub. The error says why it does not let this machine in, or what is
// wrong with the access.
func StandingOf(a *cli.App) (Standing, error) {
	acc, ok, err := credential(a)
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
	nc, err := fleet.DialOnce(acc)
	if err != nil {
		return s, err
	}
	nc.Close()
	return s, nil
}
