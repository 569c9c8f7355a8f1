package term

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/render"
	"beckon/state"
)

const maxName = 24

// Waiting returns the rows that need the user, in the order of rows.
func Waiting(rows []render.Row) (waiting []render.Row) {
	for i := range rows {
		if rows[i].NeedsYou {
			waiting = append(waiting, rows[i])
		}
	}
	return waiting
}

// names returns a name for each row: the user's, else its project, after the machine's name
// for a row of another machine. Equal names get their branch, and if that is equal too, the
// beginning of the session's id.
func names(rows []render.Row) []string {
	out := make([]string, len(rows))
	for _, part := range []func(*render.Row) string{
		func(r *render.Row) string { return where(r).name },
		func(r *render.Row) string { return where(r).branch },
		func(r *render.Row) string { return truncate(clean(r.SessionID), 4, "") },
	} {
		count := map[string]int{}
		for _, n := range out {
			count[n]++
		}
		for i, n := range out {
			if count[n] > 1 || n == "" {
				out[i] = strings.TrimSpace(n + " " + part(&rows[i]))
			}
		}
	}
	for i := range out {
		out[i] = truncate(out[i], maxName, "…")
	}
	return out
}

// answerWidth is the width from which a NeedList says how to answer.
const answerWidth = 60

// NeedList lists the sessions that wait for the user, the first of rows first: "2 need you:
// api permission 3m, web question". It takes at most width columns (0: unlimited) and is empty
// if none waits.
func NeedList(rows []render.Row, st Style) string {
	waiting := Waiting(rows)
	if len(waiting) == 0 {
		return ""
	}
	head := "1 needs you"
	if len(waiting) > 1 {
		head = strconv.Itoa(len(waiting)) + " need you"
	}
	if st.Answer != "" && (st.Width == 0 || st.Width >= answerWidth) {
		head += " (" + st.Answer + ")"
	}
	head = st.Paint("1;31", head+":") + " "
	var entries []string
	for i, name := range names(waiting) {
		entries = append(entries, st.entry(name, &waiting[i]))
	}
	line := head + strings.Join(entries, ", ")
	if st.Width == 0 {
		return line
	}
	for n := min(len(entries)-1, st.Width/4); n > 0 && Width(line) > st.Width; n-- { // an entry takes more than 4
		line = head + strings.Join(entries[:n], ", ") + ", +" + strconv.Itoa(len(entries)-n)
	}
	return truncate(line, st.Width, "…")
}

// entry returns one session of a NeedList: name, what it needs, for how long. An age under a
// minute is left out, since it says little and changes all the time.
func (st Style) entry(name string, r *render.Row) string {
	text := name + " " + st.Paint(lookOf(r.State).sgr, string(r.State))
	if age := st.Now.Sub(r.Since); age >= time.Minute {
		text += st.Paint("2", " "+Age(age))
	}
	return text
}

func clean(s string) string { return render.OneLine(s) }

// count returns how many rows a field of a template counts, "" for none.
func count(rows []render.Row, field string) string {
	n := 0
	for i := range rows {
		r := &rows[i]
		if field == string(r.State) || field == "total" || field == "need" && r.NeedsYou || field == "unseen" && r.Unseen {
			n++
		}
	}
	return strings.TrimPrefix(strconv.Itoa(n), "0")
}

// PromptFields are the fields of a prompt's template, as the manual has them.
var PromptFields = []string{"permission", "question", "failed", "working", "compacting", "idle", "backburner",
	"unknown", "unseen", "need", "total", "first", "state", "age", "names"}

// DefaultPrompt is the prompt's default template: empty if no session needs the user.
const DefaultPrompt = "[!{permission} ][?{question} ][x{failed}]"

// Escapes make a value literal where a prompt's text goes. Values are never trusted: a branch may
// be called #(rm -rf ~).
var Escapes = map[string]*strings.Replacer{
	"plain": strings.NewReplacer(),
	"zsh":   strings.NewReplacer("%", "%%"), // in PROMPT
	"tmux":  strings.NewReplacer("#", "##"), // in status-right
	// polybar has no escape: a character without width keeps "%" and "{" apart.
	"polybar":  strings.NewReplacer("%", "%\u200b", "{", "\u200b{"),
	"swiftbar": strings.NewReplacer("|", "¦"),                               // it begins parameters, such as a command
	"pango":    strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"), // the markup of waybar
}

// Prompt returns one line about the sessions, empty if the template's groups are.
func Prompt(rows []render.Row, f Format, to string, st Style) string {
	line := f.fill(func(field string) string { return Escapes[to].Replace(promptField(rows, field, st)) }, 0)
	return strings.ReplaceAll(line, "\n", " ")
}

func promptField(rows []render.Row, field string, st Style) string {
	waiting := Waiting(rows)
	switch {
	case field == "names":
		_, list, _ := strings.Cut(NeedList(rows, Style{Now: st.Now}), ": ")
		return list
	case !slices.Contains([]string{"first", "state", "age"}, field):
		return count(rows, field)
	case len(waiting) == 0:
		return ""
	case field == "first":
		return names(waiting)[0]
	case field == "state":
		return string(waiting[0].State)
	}
	return Age(st.Now.Sub(waiting[0].Since))
}

// Bar is a status bar's module, in the format of waybar's custom modules.
type Bar struct {
	Text    string   `json:"text"`
	Alt     string   `json:"alt"` // the most urgent state, or "quiet"
	Tooltip string   `json:"tooltip"`
	Class   []string `json:"class"` // the states present, "needs-you" or "quiet"
}

// BarOf returns the module's content: the prompt, and a line for each waiting session in the
// tooltip. waybar reads both as Pango markup.
func BarOf(rows []render.Row, f Format, st Style) Bar {
	b := Bar{Text: Prompt(rows, f, "pango", st), Alt: "quiet", Class: []string{"quiet"}}
	waiting := Waiting(rows)
	if len(waiting) > 0 {
		b.Alt, b.Class[0] = string(waiting[0].State), "needs-you"
	}
	for _, s := range state.States {
		if count(rows, string(s)) != "" {
			b.Class = append(b.Class, string(s))
		}
	}
	var lines []string
	for i, name := range names(waiting) {
		entry := Style{Now: st.Now}.entry(name, &waiting[i])
		if what := waiting[i].What(); what != "" {
			entry += ": " + clean(what)
		}
		lines = append(lines, Escapes["pango"].Replace(entry))
	}
	b.Tooltip = strings.Join(lines, "\n")
	return b
}
