package installer

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the unified diff from old to new of a file called name, "" if they are equal. A
// nil side is a missing file.
func Diff(old, new []byte, name string) string {
	oldName, newName := name, name
	if old == nil {
		oldName = "/dev/null"
	}
	if new == nil {
		newName = "/dev/null"
	}
	text := diff.Diff(oldName, old, newName, new)
	// The first line is "diff OLD NEW", which no tool needs.
	_, text, _ = bytes.Cut(text, []byte("\n"))
	return string(text)
}
