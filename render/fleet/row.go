package fleet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"beckon/event"
	"beckon/event/redact"
	"beckon/render"
	"beckon/state"
)

// Level says how much text about its sessions a host publishes: the user's name for one, the
// prompt, the request.
type Level string

// The levels, with the words of the setting texts.
const (
	Off   Level = "off"
	Short Level = "short"
	Full  Level = "full"
)

// The longest text of each level, in bytes.
const (
	shortText = 120
	fullText  = 600
	maxWord   = 120 // of a name
)

const (
	maxSubagents = 50
	maxAge       = 10 * 365 * 24 * time.Hour
)

// limits are how many bytes of a text the levels allow; any other level none.
var limits = map[Level]int{Short: shortText, Full: fullText}

// text returns what the level allows of a text. Secrets are removed before it is cut.
func (l Level) text(s string) string {
	if n := limits[l]; n > 0 {
		return cut(render.OneLine(redact.Text(s)), n)
	}
	return ""
}

type wire struct {
	Schema int        `json:"v"`
	Run    string     `json:"run"` // of the program that put it
	Age    int64      `json:"since_age_ms,omitempty"`
	Row    render.Row `json:"row"`
}

// permitted returns a copy of the members of a row that may leave a host, with bounded names, and
// texts as text allows them. The receiver uses it, too: a host could send anything.
func permitted(r *render.Row, text func(string) string) render.Row {
	p := render.Row{
		SessionID:  word(r.SessionID),
		Part:       word(r.Part),
		SeatID:     word(r.SeatID),
		Agent:      word(r.Agent),
		Project:    word(r.Project),
		State:      known(r.State),
		Reason:     word(r.Reason),
		Unseen:     r.Unseen,
		Source:     state.Source(word(string(r.Source))),
		Confidence: state.Confidence(word(string(r.Confidence))),
		Name:       text(r.Name),
		Title:      text(r.Title),
		Model:      word(r.Model),
		CostUSD:    math.Round(100*max(0, min(r.CostUSD, 1e9))) / 100,
		Background: r.Background,
	}
	if p.State != r.State {
		p.Reason = "state " + word(string(r.State))
	}
	p.NeedsYou = p.State.NeedsYou()
	if r.Git != nil {
		p.Git = &render.Git{Branch: word(r.Git.Branch), Worktree: word(r.Git.Worktree)}
	}
	if r.Context != nil {
		p.Context = &render.Context{UsedPercentage: math.Round(max(0, min(r.Context.UsedPercentage, 100)))}
	}
	if r.Terminal != nil {
		p.Terminal = &render.Terminal{Kind: word(r.Terminal.Kind)}
	}
	if r.Tool != nil {
		p.Tool = &render.Tool{Name: word(r.Tool.Name), Summary: text(r.Tool.Summary)}
	}
	if r.Question != nil {
		if ask := text(r.Question.Text); ask != "" {
			p.Question = &render.Question{Text: ask}
		}
	}
	for _, a := range r.Subagents[:min(len(r.Subagents), maxSubagents)] {
		p.Subagents = append(p.Subagents, render.Subagent{State: known(a.State)})
	}
	p.Group = render.GroupOf(&p)
	return p
}

func known(s state.State) state.State {
	if slices.Contains(state.States[:], s) {
		return s
	}
	return state.Unknown
}

// word makes a name safe to send or show.
func word(s string) string { return cut(render.OneLine(s), maxWord) }

func cut(s string, n int) string { return strings.TrimRight(event.Cut(s, n), " ") }

// decode parses JSON of at most MaxMessage bytes; unknown members are a newer version's.
func decode(data []byte, v any) bool {
	return len(data) <= MaxMessage && utf8.Valid(data) && bytes.HasPrefix(data, []byte("{")) &&
		json.Unmarshal(data, v) == nil
}

// readRow parses a row that an untrusted host sent, and that the server received at a time.
func readRow(data []byte, at time.Time) (h copied, ok bool) {
	var w wire
	if !decode(data, &w) || w.Schema < 1 {
		return h, false
	}
	if w.Age < 0 || w.Age > maxAge.Milliseconds() {
		w.Age = 0
	}
	r := permitted(&w.Row, func(s string) string { return cut(render.OneLine(s), fullText) })
	r.Since, r.UpdatedAt = at.Add(-time.Duration(w.Age)*time.Millisecond), at
	return copied{word(w.Run), r, at}, r.SessionID != ""
}

func readPresence(data []byte) (p presence, ok bool) {
	if !decode(data, &p) || p.Schema < 1 {
		return presence{}, false
	}
	for _, s := range []*string{&p.Run, &p.User, &p.Host} {
		*s = word(*s)
	}
	return p, p.Host != ""
}

// seatOf returns the part of a key that identifies a row.
func seatOf(r *render.Row) string {
	return token(cmp.Or(r.SeatID, strings.TrimSpace(r.Record()), "none"))
}
