package doctor

import "fmt"

// limit is a limit of the system that applies to hooks started from here.
type limit struct {
	name string // what is limited, and by what
	max  uint64
	used uint64 // by what runs now
	need uint64 // by a starting hook, as measured (testdata/faults/LIMITS.md)
	unit string
}

// The needs of a hook. A client runs several at once, each below a shell.
const (
	needThreads     = 32
	needDescriptors = 16
	needMegabytes   = 1024
)

// near reports whether a hook may fail for lack of room.
func (l limit) near() bool { return l.max < l.need || l.max-l.need < l.used }

func (l limit) String() string {
	if l.used == 0 {
		return fmt.Sprintf("%s: %d%s", l.name, l.max, l.unit)
	}
	return fmt.Sprintf("%s: %d of %d%s in use", l.name, l.used, l.max, l.unit)
}

// limits warns of limits under which a hook may fail. It checks those of this shell; a session
// started elsewhere may have others.
func (d *doctor) limits(all []limit) {
	for _, l := range all {
		if l.near() {
			d.add(
				resultError,
				"limits",
				"raise it with ulimit or where the session is started; the client goes on without a hook that cannot start",
				"a hook may not start here: %s, and hooks need %d%s",
				l,
				l.need,
				l.unit,
			)
		}
	}
}
