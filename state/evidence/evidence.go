// Package evidence reads what hooks cannot report: which process an agent is and whether it
// still runs, where it sits (terminal, repository), what the client writes in its registry,
// and whether its transcript ends in a halt (read by package transcript). Package live joins
// evidence and sessions for every view; state.Resolve decides what they mean together.
//
// It guarantees: every read is bounded in bytes and steps; what cannot be read, or has an
// unknown form, gives an empty or unknown value, never a guess; nothing it returns holds a
// secret of the environment. It guarantees neither freshness (a reading is as old as its own
// time says) nor an answer in time: it hangs with a file system that hangs, so a caller with a
// deadline needs a timer beside it.
//
// The hook links this package: it imports no regexp, os/exec or net, does no work at start,
// and makes few system calls.
package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"unicode"

	"beckon/event"
)

// Machine is where a reader or hook runs. Processes can be compared only within one machine.
type Machine struct {
	Host string // host name
	Boot string // boot id of the kernel; empty on Windows and if it cannot be read
	NS   string // pid namespace, "pid:[4026531836]"; Linux only

	// ID identifies the installation of the operating system across boots; empty if it cannot
	// be read, as in many containers.
	ID     string
	Booted event.Millis // when this boot began, by the wall clock; 0 if unknown
}

// ThisMachine reads the machine once: a uname, two short files and one link on Linux. Keep the
// value; it does not change while a process runs.
func ThisMachine() Machine {
	host, _ := os.Hostname()
	return Machine{
		Host:   clean(host, event.MaxID),
		Boot:   bootID(),
		NS:     pidNamespace(),
		ID:     digest(machineID()),
		Booted: booted(),
	}
}

// digest returns what is kept of a machine's id, which is confidential.
func digest(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("beckon " + id))
	return hex.EncodeToString(sum[:8])
}

// clean returns s without control characters, as valid UTF-8, cut to max bytes on a rune
// boundary. Everything from the environment or a file passes through it, so that a name cannot
// control a terminal.
func clean(s string, max int) string {
	if !isClean(s) {
		s = strings.Map(visible, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return event.Cut(s, max)
}

func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

func visible(r rune) rune {
	if unicode.IsControl(r) {
		return '?'
	}
	return r
}

// digits reports whether s is a decimal number that fits an int64.
func digits(s string) bool {
	if s == "" || len(s) > 18 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
