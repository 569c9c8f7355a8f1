package event

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event/agents"

	"github.com/tidwall/gjson"
)

// Limits on what is stored of a question, in bytes and entries. Claude Code asks at most four
// questions of four options; the rest is spare.
const (
	MaxQuestions = 4
	MaxOptions   = 8
	MaxQuestion  = 300
	MaxLabel     = 80
	MaxPlan      = 1024
)

// Ask is what a call asks of the user, for display: the questions of AskUserQuestion, the plan
// of ExitPlanMode, the fields of an MCP form, the client's suggestions with a permission. All
// texts but the plan are one line.
type Ask struct {
	Questions   []Question `json:"questions,omitempty"`
	Plan        string     `json:"plan,omitempty"`        // its head
	Form        []string   `json:"form,omitempty"`        // "name: type", the required ones marked with *
	Suggestions []string   `json:"suggestions,omitempty"` // what "yes, and ..." would do
}

// Question is one question with its options.
type Question struct {
	Header  string   `json:"header,omitempty"`
	Text    string   `json:"text,omitempty"`
	Multi   bool     `json:"multi,omitempty"` // several options may be chosen
	Options []Option `json:"options,omitempty"`
}

// Option is one answer that can be chosen.
type Option struct {
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
}

// ask reads what the event asks of the user, nil if nothing. asksUser marks a tool whose call
// is only a question.
func (p Members) ask(e *Event, asksUser bool) *Ask {
	var a Ask
	switch {
	case e.Kind == Elicitation:
		a.Form = form(p.last("requested_schema", gjson.Result.IsObject))
		a.Questions = questions(p.list(agents.Questions))
	case e.Kind != PreToolUse && e.Kind != PermissionRequest:
		return nil
	case asksUser:
		a.foreign(p.Input(), e.Tool.Name)
	case e.Tool.Name == "AskUserQuestion":
		a.Questions = questions(p.Input().Get("questions"))
	case e.Tool.Name == "ExitPlanMode":
		a.Plan = Cut(strings.TrimSpace(clean(p.Input().Get("plan").Raw)), MaxPlan)
	}
	if e.Kind == PermissionRequest && len(a.Questions) == 0 && a.Plan == "" {
		a.Suggestions = suggestions(p.list("permission_suggestions"))
	}
	if len(a.Questions)+len(a.Form)+len(a.Suggestions) == 0 && a.Plan == "" {
		return nil
	}
	return &a
}

// answer reads what the user chose: the client adds the answers to the questions in the
// finished call's input.
func (p Members) answer(e *Event) string {
	if e.Kind != PostToolUse || e.Tool.Name != "AskUserQuestion" {
		return ""
	}
	var chosen []string
	p.Input().Get("answers").ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			chosen = append(chosen, line(v, MaxQuestion))
		}
		return len(chosen) < MaxQuestions
	})
	return OneLine(strings.Join(chosen, "; "), MaxQuestion)
}

// eachObject calls f for the first n objects of a list.
func eachObject(list gjson.Result, n int, f func(gjson.Result)) {
	if !list.IsArray() {
		return
	}
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() && n > 0 {
			n--
			f(v)
		}
		return n > 0
	})
}

// line returns a text, redacted, in one line of at most max bytes, "" for anything else.
func line(v gjson.Result, max int) string { return OneLine(clean(v.Raw), max) }

// foreign reads the call of a tool by which another agent asks: a list of questions, else one
// text with a form. It always finds a question.
func (a *Ask) foreign(input gjson.Result, tool string) {
	a.Questions = questions(input.Get("questions"))
	a.Form = form(input.Get("requestedSchema"))
	if len(a.Questions) > 0 {
		return
	}
	text := cmp.Or(line(input.Get("question"), MaxQuestion), line(input.Get("message"), MaxQuestion), tool)
	a.Questions = []Question{{Text: text}}
}

func questions(list gjson.Result) (out []Question) {
	eachObject(list, MaxQuestions, func(v gjson.Result) {
		q := Question{
			Header: line(v.Get("header"), MaxLabel),
			Text:   line(v.Get("question"), MaxQuestion),
			Multi:  v.Get("multiSelect").Type == gjson.True,
		}
		eachObject(v.Get("options"), MaxOptions, func(o gjson.Result) {
			q.Options = append(
				q.Options,
				Option{Label: line(o.Get("label"), MaxLabel), Description: line(o.Get("description"), MaxSummary)},
			)
		})
		out = append(out, q)
	})
	return out
}

// form lists the fields that a form's JSON schema asks for.
func form(schema gjson.Result) (out []string) {
	required := schema.Get("required").Array()
	schema.Get("properties").ForEach(func(key, v gjson.Result) bool {
		mark := ""
		if slices.ContainsFunc(required, func(r gjson.Result) bool { return r.Type == gjson.String && r.Str == key.Str }) {
			mark = "*"
		}
		out = append(out, OneLine(line(key, MaxLabel)+mark+": "+line(v.Get("type"), MaxLabel), MaxLabel))
		return len(out) < MaxOptions
	})
	return out
}

// suggestions describes what the client offers to change along with a yes (CONTRACT.md 11,
// permission updates).
func suggestions(list gjson.Result) (out []string) {
	eachObject(list, MaxQuestions, func(v gjson.Result) {
		kind := line(v.Get("type"), MaxLabel)
		words := []string{cmp.Or(map[string]string{
			"addRules":       "always " + cmp.Or(line(v.Get("behavior"), MaxLabel), "allow"),
			"setMode":        "switch to",
			"addDirectories": "allow the directory",
		}[kind], kind)}
		if mode := line(v.Get("mode"), MaxLabel); mode != "" {
			words = append(words, mode)
		}
		eachObject(v.Get("rules"), MaxOptions, func(r gjson.Result) {
			rule := line(r.Get("toolName"), MaxLabel)
			if content := line(r.Get("ruleContent"), MaxLabel); content != "" {
				rule += "(" + content + ")"
			}
			words = append(words, rule)
		})
		v.Get("directories").ForEach(func(_, d gjson.Result) bool {
			words = append(words, line(d, MaxLabel))
			return len(words) < MaxOptions
		})
		out = append(out, OneLine(strings.Join(words, " "), MaxSummary))
	})
	return out
}
