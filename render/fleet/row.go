package fleet

import (
	"math"
	"strings"
	"time"

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
	maxAge       = 10 * 365 * 24 * time.Hour // of a state
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

// permitted returns a copy of the members of a row that may leave a host, with bounded names, and
// texts as text allows them. The receiver uses it, too: a host could send anything.
func permitted(r *render.Row, text func(string) string) render.Row {
	p := render.Row{
		SessionID:  word(r.SessionID),
		Part:       word(r.Part),
		SeatID:     word(r.SeatID),
		Agent:      word(r.Agent),
		Project:    word(r.Project),
		State:      r.State,
		Reason:     word(r.Reason),
		Since:      r.Since,
		Group:      r.Group,
		NeedsYou:   r.NeedsYou,
		Unseen:     r.Unseen,
		Source:     state.Source(word(string(r.Source))),
		Confidence: state.Confidence(word(string(r.Confidence))),
		Name:       text(r.Name),
		Title:      text(r.Title),
		Model:      word(r.Model),
		CostUSD:    math.Round(100*max(0, min(r.CostUSD, 1e9))) / 100,
		Background: r.Background,
	}
	if r.Git != nil {
		p.Git = &event.Git{Branch: word(r.Git.Branch), Worktree: word(r.Git.Worktree)}
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
		p.Subagents = append(p.Subagents, render.Subagent{State: a.State})
	}
	return p
}

// word makes a name safe to send or show.
func word(s string) string { return cut(render.OneLine(s), maxWord) }

func cut(s string, n int) string { return strings.TrimRight(event.Cut(s, n), " ") }
