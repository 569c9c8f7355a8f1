package alert

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/store"

	"github.com/gofrs/flock"
)

// Due is an alert that a hook leaves to the process that notifies: `beckon notify wait`, of which one sleeps
// per user while anything is due. Each is an empty file whose name says it all.
type Due struct {
	Key   store.Key // of the session
	Alert string    // ID of the alert
	Mode  DueMode
}

// Due returns the alert as one that is left to that process.
func (c Case) Due(mode DueMode) Due {
	return Due{Key: store.KeyOf(c.Session.Record()), Alert: c.Alert.ID(), Mode: mode}
}

// DueMode says what the hook knows about an alert that is due.
type DueMode string

// The modes.
const (
	Undecided DueMode = ""
	Still     DueMode = "still" // the client has just reported that nobody has typed for six seconds
	// Claimed means that the hook has notified through the terminal: only the other channels are left.
	Claimed DueMode = "claimed"
	Watched DueMode = "watched" // a program that stays up has seen it: no hook may report of it again
	Again   DueMode = "again"   // the user was notified of a dialog, and is once more if it stays open
)

// dueDir is the directory of the alerts that are due. It is there only while there may be some.
func dueDir(stateDir string) string { return filepath.Join(stateDir, "notify", "due") }

// WaitLock is the lock of the process that notifies.
func WaitLock(stateDir string) *flock.Flock {
	return flock.New(filepath.Join(stateDir, "notify", "lock"), flock.SetPermissions(0o600))
}

// AnyDue reports whether an alert may be due. It costs one system call.
func AnyDue(stateDir string) bool { return plainfile.Exists(dueDir(stateDir)) }

func (d Due) path(stateDir string) string {
	return filepath.Join(dueDir(stateDir), strings.Join([]string{string(d.Key), d.Alert, string(d.Mode)}, "."))
}

// Attend starts the process that notifies, if an alert may be due and none waits for it.
func Attend(stateDir string, start func(args []string) error) error {
	lock := WaitLock(stateDir)
	if !AnyDue(stateDir) {
		return nil
	}
	if free, err := lock.TryLock(); !free || errors.Join(err, lock.Unlock()) != nil {
		return nil
	}
	return start([]string{"notify", "wait"})
}

// Return has the user notified when a session comes back that is set aside until a time.
func (s Settings) Return(stateDir, record string, until event.Millis, start func(args []string) error) error {
	if until <= 0 || !s.Has(Terminal) && !s.Away() {
		return nil
	}
	d := Due{Key: store.KeyOf(record), Alert: state.Alert{Kind: state.AlertBack, At: until}.ID()}
	return cmp.Or(d.Leave(stateDir), Attend(stateDir, start))
}

// Leave adds d to what is due.
func (d Due) Leave(stateDir string) (err error) {
	for range 3 { // the process that notifies removes the directory when it is empty
		if err = os.MkdirAll(dueDir(stateDir), 0o700); err != nil {
			return err
		}
		if err = os.WriteFile(d.path(stateDir), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// Remove takes d off what is due. Of several processes, one gets true.
func (d Due) Remove(stateDir string) bool { return os.Remove(d.path(stateDir)) == nil }

// Dues lists what is due. When nothing is, it removes the directory.
func Dues(stateDir string) (list []Due) {
	files, _ := os.ReadDir(dueDir(stateDir))
	for _, f := range files {
		parts := strings.Split(f.Name(), ".")
		if _, ok := state.ParseAlert(parts[min(1, len(parts)-1)]); !ok || len(parts) != 3 {
			_ = os.Remove(filepath.Join(dueDir(stateDir), f.Name())) // none of ours
			continue
		}
		list = append(list, Due{store.Key(parts[0]), parts[1], DueMode(parts[2])})
	}
	if len(list) == 0 {
		_ = os.Remove(dueDir(stateDir)) // it fails if another hook has just left something
	}
	return list
}
