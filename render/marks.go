package render

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Marks are what the user has chosen for projects: which come first, and what colours
// their names have. A project is named as views name it, or by a pattern of path.Match.
type Marks struct {
	Pins   []string // the first one first
	Colors []string // each as ParseColor reads it
}

// ColorNames are the colours that a project may have.
var ColorNames = []string{"red", "green", "yellow", "blue", "magenta", "cyan"}

// ErrColor says what a project's colour looks like.
var ErrColor = errors.New(`a project's colour looks like "shop=blue": red, green, yellow, blue, magenta or cyan`)

// ParseColor reads "PROJECT=COLOUR".
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

// pin is the place of a row's project among the pins, behind all of them for none.
func (m Marks) pin(r *Row) int {
	if i := slices.IndexFunc(m.Pins, r.of); i >= 0 {
		return i
	}
	return len(m.Pins)
}

// Color is the colour of a row's project, empty for none.
func (m Marks) Color(r *Row) string {
	for _, c := range m.Colors {
		if project, color, err := ParseColor(c); err == nil && r.of(project) {
			return color
		}
	}
	return ""
}

// of reports whether the row is of a project of that name or pattern.
func (r *Row) of(project string) bool {
	ok, _ := path.Match(project, r.Project)
	if !ok && r.Git != nil {
		ok, _ = path.Match(project, r.Git.Repo)
	}
	return ok
}
