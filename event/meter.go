package event

import (
	"cmp"
	"math"

	"github.com/tidwall/gjson"
)

// Meter is what only an agent's status line reports of its session: the use of its context and
// its cost. The status line stores it next to the session, and a Stop carries it into the
// history.
type Meter struct {
	At      Millis `json:"at,omitempty"`    // when it was reported
	Model   string `json:"model,omitempty"` // the model's id
	Version string `json:"version,omitempty"`
	// Context is how much of the context window is used, in hundredths of a
	// percent. The client reports none before the first answer and just after a
	// compaction: then HasContext is false.
	Context    int64 `json:"context,omitempty"`
	HasContext bool  `json:"has_context,omitempty"`
	// Cost is what the session has cost so far, in millionths of a US dollar. The client
	// continues the count when it resumes a session.
	Cost int64 `json:"cost,omitempty"`
}

// Percent returns how much of the context window is used, in percent.
func (m *Meter) Percent() float64 { return float64(m.Context) / 100 }

// USD returns the cost in US dollars.
func (m *Meter) USD() float64 { return float64(m.Cost) / 1e6 }

// Status is one payload of the client's status-line command, reduced to what is shown or
// stored. The client runs the command at its start, after each reply, when its width or mode
// changes, and every refreshInterval seconds.
type Status struct {
	SessionID string
	Cwd       string
	Project   string  // the directory the client was started in
	Model     string  // the model's name for people
	Meter     Meter   // the caller sets At
	Limits    []Limit // the use of the account's limits, if it has any
}

// Limit is how much of a usage limit is used: of a subscription's time window, or of a spend
// limit.
type Limit struct {
	Name   string `json:"name"`   // five_hour, seven_day or spend_limit
	Used   int64  `json:"used"`   // in hundredths of a percent
	Resets Millis `json:"resets"` // when it begins anew
}

// limits reads the limits that the client reports: none before the account's first answer, or
// if it pays by use. One without its end is left out.
func limits(v gjson.Result) (list []Limit) {
	for _, name := range [...]string{"five_hour", "seven_day", "spend_limit"} { // as the client orders them
		one := v.Get(name)
		used, resets := one.Get("used_percentage"), scaled(one.Get("resets_at"), 1000)
		if used.Type == gjson.Number && resets > 0 {
			list = append(list, Limit{Name: name, Used: scaled(used, 100), Resets: Millis(resets)})
		}
	}
	return list
}

// ParseStatus parses a status-line payload. It is total: members that are absent or of another
// type are zero, and ok is false for bytes that are not a JSON object.
func ParseStatus(payload []byte) (s Status, ok bool) {
	if !gjson.ValidBytes(payload) {
		return Status{}, false
	}
	doc := gjson.ParseBytes(payload)
	if !doc.IsObject() {
		return Status{}, false
	}
	text := func(path string, max int) string { return member(doc, path, max) }
	s = Status{
		SessionID: text("session_id", MaxID),
		Cwd:       cmp.Or(text("workspace.current_dir", MaxPath), text("cwd", MaxPath)),
		Project:   text("workspace.project_dir", MaxPath),
		Model:     text("model.display_name", MaxID),
		Meter: Meter{
			Model:   text("model.id", MaxID),
			Version: text("version", MaxID),
			Cost:    scaled(doc.Get("cost.total_cost_usd"), 1e6),
		},
	}
	if used := doc.Get("context_window.used_percentage"); used.Type == gjson.Number {
		s.Meter.Context, s.Meter.HasContext = min(scaled(used, 100), 100_00), true
	}
	s.Limits = limits(doc.Get("rate_limits"))
	return s, true
}

// scaled returns a number times factor, rounded; 0 for anything that is not a
// number from 0 to what a counter can hold.
func scaled(v gjson.Result, factor float64) int64 {
	n := v.Num * factor
	if v.Type != gjson.Number || !(n > 0) || n > 1<<53 {
		return 0
	}
	return int64(math.Round(n))
}
