package run

import (
	"crypto/rand"

	"beckon/event/policy/trust"
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
func Inside(env []string, d trust.Dir) []string {
	return append(env[:len(env):len(env)], Marker+"="+marker(d))
}

// Inside reports whether this process was started by a policy of this user's.
func (Starter) Inside(getenv func(string) string, d trust.Dir) bool {
	value := getenv(Marker)
	return value != "" && value == marker(d)
}

// marker returns the value that is kept, and makes one if there is none yet. Where
// none can be kept it is the same every time.
func marker(d trust.Dir) string {
	if value := d.Read(markerFile); len(value) > 0 {
		return string(value)
	}
	if err := d.Write([]byte(rand.Text()), markerFile); err == nil {
		return string(d.Read(markerFile)) // another process may have been later
	}
	return trust.Sum("marker of " + string(d))[:32]
}
