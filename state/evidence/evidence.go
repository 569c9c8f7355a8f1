// Package evidence reads what hooks cannot report: which process an agent is and
// whether it still runs, where it sits (terminal, repository), what the client says
// of itself in its registry, and whether its transcript ends in a halt (package
// transcript reads that). Package live puts evidence and sessions together for
// every view; what the two come to is state.Resolve's.
//
// It guarantees: every read is bounded in bytes and steps; whatever cannot be
// read, or is of a shape that is not known, gives an empty or unknown value and
// never a guess; nothing it returns holds a secret of the environment. It does
// not guarantee freshness (a reading is as old as its own time says), nor an
// answer in time: a file system that hangs makes it hang, so a caller with a
// deadline needs a timer beside it.
//
// The hook links this package: it imports no regexp, os/exec or net, does no
// work at start, and makes few system calls.
package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"unicode"

	"beckon/event"
)

// Machine is the place a reader or hook runs in. Two processes can be compared
// only inside one machine.
type Machine struct {
	Host string // host name
	Boot string // boot id of the kernel; empty on Windows and when not readable
	NS   string // pid namespace, "pid:[4026531836]"; Linux only

	// ID stands for the installation of the operating system, which outlives a
	// boot; empty when it cannot be read, as in many containers.
	ID     string
	Booted event.Millis // when this boot began, by the wall clock; 0 when not known
}

// ThisMachine reads the machine once: a uname, two short files and one link on
// Linux. Keep the value; it does not change while a process runs.
func ThisMachine() Machine {
	host, _ := os.Hostname()
	return Machine{Host: clean(host, event.MaxID), Boot: bootID(), NS: pidNamespace(), ID: digest(machineID()), Booted: booted()}
}

// digest is what is kept of a machine's id, which is confidential.
func digest(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("beckon " + id))
	return hex.EncodeToString(sum[:8])
}

// clean returns s without control characters, as valid UTF-8 and cut to max
// bytes on a rune boundary. Everything taken from the environment or from a
// file goes through it, so that a name cannot drive a terminal.
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
