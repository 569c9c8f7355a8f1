package render

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Marks are the user's settings for projects: which come first, and the colours of their
// names. A project is given by the name that views show, or by a pattern of path.Match.
type Marks struct {
	Pins   []string // the first one first
	Colors []string // in the format of ParseColor
}

// ColorNames are the colours that a project may have.
var ColorNames = []string{"red", "green", "yellow", "blue", "magenta", "cyan"}

// ErrColor shows the format of a project's colour.
var ErrColor = errors.New(`a project's colour looks like "shop=blue": red, green, yellow, blue, magenta or cyan`)

// ParseColor parses "PROJECT=COLOUR".
func ParseColor(s string) (project, color string, err error) {
	i := strings.LastIndexByte(s, '=')
	if i <= 0 || !slices.Contains(ColorNames, s[i+1:]) {
		return "", "", ErrColor
	}
	return s[:i], s[i+1:], CheckPin(s[:i])
}

// CheckPin reports what is wrong with the name or pattern of a project.
func CheckPin(s string) error {
	_, err := path.Match(s, "")
	return err
}

// pin returns the index of a row's project among the pins, or their number if it is none of
// them.
func (m Marks) pin(r *Row) int {
	if i := slices.IndexFunc(m.Pins, r.of); i >= 0 {
		return i
	}
	return len(m.Pins)
}

// Color returns the colour of a row's project, "" for none.
func (m Marks) Color(r *Row) string {
	for _, c := range m.Colors {
		if project, color, err := ParseColor(c); err == nil && r.of(project) {
			return color
		}
	}
	return ""
}

// of reports whether the row's project has that name or matches that pattern.
func (r *Row) of(project string) bool {
	ok, _ := path.Match(project, r.Project)
	if !ok && r.Git != nil {
		ok, _ = path.Match(project, r.Git.Repo)
	}
	return ok
}
