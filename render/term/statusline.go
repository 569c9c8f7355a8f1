package term

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/render"
	"beckon/state/usage"
)

// StatusFields are the fields of a status-line template, as the manual has them.
var StatusFields = []string{"model", "dir", "branch", "context", "percent", "cost", "limit", "others", "need",
	"working", "unseen", wrapField}

// DefaultStatus is the status line's template unless configured.
const DefaultStatus = "{model}[  {dir}][  {branch}][  {context}][  {cost}][  {limit}]{wrap}{others}"

// ParseStatusFormat parses a status-line template.
func ParseStatusFormat(s string) (Format, error) { return ParseFormat(s, StatusFields) }

// StatusView is what a status line shows.
type StatusView struct {
	Status event.Status
	Home   string        // the user's home directory, for ~
	Branch string        // of the repository in Status.Cwd
	Others []render.Row  // every session but this one
	Usage  usage.Account // the use of the account's limits
}

// level is how narrow a status line is: the most columns of a name, 0 for any, the cells of the
// context's bar, and whether the cost is there.
type level struct {
	name, bar int
	cost      bool
}

var levels = []level{{0, 10, true}, {16, 5, true}, {10, 0, false}}

// StatusLine returns the lines of a session's status line in the first level that fits; what
// is still too wide is cut. Others get a line of their own if they do not fit on the first.
func StatusLine(v StatusView, f Format, st Style) string {
	var lines []string
	for _, level := range levels {
		lines = strings.Split(f.fill(func(field string) string { return st.status(&v, field, level) }, st.Width), "\n")
		if st.Width == 0 || !slices.ContainsFunc(lines, func(l string) bool { return Width(l) > st.Width }) {
			return strings.Join(lines, "\n")
		}
	}
	for i := range lines {
		lines[i] = truncate(lines[i], st.Width, "…")
	}
	return strings.Join(lines, "\n")
}

func (st Style) status(v *StatusView, field string, l level) string {
	s := &v.Status
	switch field {
	case "model":
		return st.Paint("36", l.cut(s.Model))
	case "dir":
		return st.Paint("34", l.cut(shortDir(s, v.Home)))
	case "branch":
		return st.Paint("35", l.cut(v.Branch))
	case "context":
		return st.context(&s.Meter, l.bar)
	case "others":
		return NeedList(v.Others, st)
	case "percent":
		if s.Meter.HasContext {
			return Percent(s.Meter.Percent())
		}
	case "cost":
		if s.Meter.Cost > 0 && l.cost {
			return st.Paint("2", dollars(s.Meter.USD()))
		}
	case "limit":
		w, ok := usage.Nearest([]usage.Account{v.Usage})
		if ok && (l.cost || w.Percent() >= NearlyFull) {
			return st.Paint(fullness(w.Percent()), Limit(w, st.Now, l.name > 0))
		}
	default:
		return count(v.Others, field)
	}
	return ""
}

// context returns a bar with the percentage, coloured by it.
func (st Style) context(m *event.Meter, bar int) string {
	if !m.HasContext {
		return ""
	}
	used := m.Percent()
	sgr := fullness(used)
	percent := st.Paint(sgr, Percent(used))
	if bar == 0 {
		return percent
	}
	on := min(bar, int(math.Ceil(used*float64(bar)/100)))
	return st.Paint(sgr, strings.Repeat("█", on)) + st.Paint("2", strings.Repeat("░", bar-on)) + " " + percent
}

// fullness returns the colour of a percentage: green, from 60 on yellow, nearly full red.
func fullness(used float64) string {
	switch {
	case used >= NearlyFull:
		return "31"
	case used >= 60:
		return "33"
	}
	return "32"
}

// NearlyFull is the percentage from which a context is shown in red: the client compacts
// somewhat above it.
const NearlyFull = 80

// Percent writes a percentage as a whole number.
func Percent(p float64) string { return strconv.Itoa(int(math.Round(p))) + "%" }

// dollars formats a cost with cents, and with a tenth of a cent below ten.
func dollars(usd float64) string {
	digits := 2
	if usd < 0.0995 {
		digits = 3
	}
	return "$" + strconv.FormatFloat(usd, 'f', digits, 64)
}

func (l level) cut(name string) string {
	if name = clean(name); l.name > 0 {
		return truncate(name, l.name, "…")
	}
	return name
}

// shortDir returns the working directory: below the project by its path from there
// ("shop/web"), elsewhere by its last two names.
func shortDir(s *event.Status, home string) string {
	cwd, project := slashed(s.Cwd), slashed(s.Project)
	if cwd == "" {
		return ""
	}
	if cwd == project {
		return path.Base(cwd)
	}
	if rest, ok := strings.CutPrefix(cwd, project+"/"); ok && project != "" {
		return path.Base(project) + "/" + rest
	}
	cwd = Tilde(cwd, home)
	if names := strings.Split(cwd, "/"); len(names) > 3 {
		return strings.Join(names[len(names)-2:], "/")
	}
	return cwd
}

// Tilde returns a path with ~ for the home directory.
func Tilde(dir, home string) string {
	dir, home = slashed(dir), strings.TrimSuffix(slashed(home), "/")
	if home == "" || dir != home && !strings.HasPrefix(dir, home+"/") {
		return dir
	}
	return "~" + dir[len(home):]
}

// slashed converts the separators of a Windows path.
func slashed(dir string) string {
	if len(dir) > 1 && dir[1] == ':' {
		return strings.ReplaceAll(dir, `\`, "/")
	}
	return dir
}
