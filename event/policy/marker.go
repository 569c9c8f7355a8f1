package policy

import (
	"crypto/rand"
	"os"
)

// Marker is set in the environment of everything that a policy starts. What
// sees it is inside a handler: it may apply rules, and must not start another
// handler, or an agent that judges an agent would never end.
const Marker = "BECKON_POLICY_HANDLER"

// markerFile has the marker's value, which nobody can guess: a project's
// settings can set variables for the client and its hooks, and must not switch
// the user's handlers off with one.
const markerFile = "marker"

// Inside returns env with the marker.
func (d Dir) Inside(env []string) []string {
	return append(env[:len(env):len(env)], Marker+"="+d.marker())
}

// IsInside reports whether a value of the marker is this user's.
func (d Dir) IsInside(value string) bool { return value != "" && value == d.marker() }

// marker is the value that is kept, made when there is none. Where none can be
// kept it is one that is the same every time.
func (d Dir) marker() string {
	if value := d.kept(); value != "" {
		return value
	}
	if err := d.write([]byte(rand.Text()), markerFile); err == nil {
		return d.kept() // another process may have been later
	}
	return sumOf([]byte("marker of " + string(d)))[:32]
}

func (d Dir) kept() string {
	data, _ := os.ReadFile(d.path(markerFile)) // what cannot be read is made again
	return string(data)
}
