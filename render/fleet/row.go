package fleet

import (
	"bytes"
	"cmp"
	"encoding/json"
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

// limits are how many bytes of a text the levels allow; any other level none.
var limits = map[Level]int{Short: shortText, Full: fullText}

// wire is a row on the wire: everything that leaves a host.
type wire struct {
	Schema     int                `json:"v"`
	Run        string             `json:"run"` // of the program that put it
	Session    string             `json:"session,omitempty"`
	Part       string             `json:"part,omitempty"`
	Seat       string             `json:"seat,omitempty"`
	Agent      string             `json:"agent,omitempty"`
	Project    string             `json:"project,omitempty"`
	Branch     string             `json:"branch,omitempty"`
	Worktree   string             `json:"worktree,omitempty"`
	State      state.State        `json:"state,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	Age        int64              `json:"since_age_ms,omitempty"`
	Unseen     bool               `json:"unread,omitempty"`
	Source     state.Source       `json:"source,omitempty"`
	Confidence state.Confidence   `json:"confidence,omitempty"`
	Context    *float64           `json:"ctx_pct,omitempty"`
	Cost       float64            `json:"cost,omitempty"`
	Model      string             `json:"model,omitempty"`
	Terminal   string             `json:"terminal,omitempty"` // its kind, to know whether one can jump to it
	Tool       string             `json:"tool,omitempty"`     // its name alone
	Subagents  []state.State      `json:"subagents,omitempty"`
	Background *render.Background `json:"background,omitempty"`
	Level      Level              `json:"texts_level"`
	Texts      *texts             `json:"texts,omitempty"`
}

// texts are what a Level limits.
type texts struct {
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	Ask   string `json:"ask,omitempty"`
}

// wireOf returns the part of a row that may leave the host. Secrets are removed before texts
// are cut.
func wireOf(r *render.Row, level Level) wire {
	w := wire{
		Schema: schema, Session: word(r.SessionID), Part: word(r.Part), Seat: word(r.SeatID), Agent: word(r.Agent), Project: word(r.Project),
		State: r.State, Reason: word(r.Reason), Unseen: r.Unseen, Source: r.Source, Confidence: r.Confidence,
		Cost: r.CostUSD, Model: word(r.Model), Background: r.Background, Level: level,
	}
	if r.Git != nil {
		w.Branch, w.Worktree = word(r.Git.Branch), word(r.Git.Worktree)
	}
	if r.Context != nil {
		w.Context = &r.Context.UsedPercentage
	}
	if r.Terminal != nil {
		w.Terminal = word(r.Terminal.Kind)
	}
	if r.Tool != nil {
		w.Tool = word(r.Tool.Name)
	}
	for _, a := range r.Subagents[:min(len(r.Subagents), 50)] {
		w.Subagents = append(w.Subagents, a.State)
	}
	if n := limits[level]; n > 0 {
		may := func(s string) string { return cut(render.OneLine(redact.Text(s)), n) }
		t := texts{Name: may(r.Name), Title: may(r.Title)}
		switch {
		case r.Question != nil:
			t.Ask = may(r.Question.Text)
		case r.Tool != nil:
			t.Ask = may(r.Tool.Summary)
		}
		if t != (texts{}) {
			w.Texts = &t
		}
	}
	return w
}

// word makes a name safe to send or show.
func word(s string) string { return cut(render.OneLine(s), maxWord) }

// cut returns at most n bytes of s, without cutting a character.
func cut(s string, n int) string { return strings.TrimRight(event.Cut(s, n), " ") }

// decode parses JSON of at most MaxMessage bytes; unknown members are a newer version's.
func decode(data []byte, v any) bool {
	return len(data) <= MaxMessage && utf8.Valid(data) && bytes.HasPrefix(data, []byte("{")) && json.Unmarshal(data, v) == nil
}

// readWire parses a row from an untrusted sender.
func readWire(data []byte) (w wire, ok bool) {
	if !decode(data, &w) || w.Schema < 1 {
		return w, false
	}
	if w.Session = word(w.Session); w.Session == "" {
		return w, false
	}
	for _, s := range []*string{&w.Run, &w.Part, &w.Seat, &w.Agent, &w.Project, &w.Branch, &w.Worktree, &w.Reason, &w.Model, &w.Terminal, &w.Tool, (*string)(&w.Source), (*string)(&w.Confidence)} {
		*s = word(*s)
	}
	if !slices.Contains(state.States[:], w.State) {
		w.State, w.Reason = state.Unknown, "state "+word(string(w.State))
	}
	if w.Age < 0 || w.Age > int64(10*365*24*time.Hour/time.Millisecond) {
		w.Age = 0
	}
	if w.Context != nil {
		*w.Context = max(0, min(*w.Context, 100))
	}
	w.Cost = max(0, min(w.Cost, 1e9))
	if t := w.Texts; t != nil {
		t.Name, t.Title, t.Ask = cut(render.OneLine(t.Name), fullText), cut(render.OneLine(t.Title), fullText), cut(render.OneLine(t.Ask), fullText)
	}
	w.Subagents = w.Subagents[:min(len(w.Subagents), 50)]
	for i, s := range w.Subagents {
		if !slices.Contains(state.States[:], s) {
			w.Subagents[i] = state.Unknown
		}
	}
	return w, true
}

// readPresence parses a host's presence.
func readPresence(data []byte) (p presence, ok bool) {
	if !decode(data, &p) || p.Schema < 1 {
		return presence{}, false
	}
	for _, s := range []*string{&p.Run, &p.User, &p.Host, &p.Version} {
		*s = word(*s)
	}
	return p, p.Host != ""
}

// row returns a view's row for what a host reported at a time.
func (w *wire) row(at time.Time) render.Row {
	at = at.UTC()
	since := at.Add(-time.Duration(w.Age) * time.Millisecond)
	r := render.Row{
		SessionID: w.Session, Part: w.Part, SeatID: w.Seat, Agent: w.Agent, Project: w.Project,
		State: w.State, Reason: w.Reason, Since: since, NeedsYou: w.State.NeedsYou(), Unseen: w.Unseen, Source: w.Source, Confidence: w.Confidence,
		Model: w.Model, CostUSD: w.Cost, Background: w.Background, CreatedAt: since, FirstSeen: since, UpdatedAt: at,
	}
	if w.Branch+w.Worktree != "" {
		r.Git = &render.Git{Branch: w.Branch, Worktree: w.Worktree}
	}
	if w.Context != nil {
		r.Context = &render.Context{UsedPercentage: *w.Context}
	}
	if w.Terminal != "" {
		r.Terminal = &render.Terminal{Kind: w.Terminal}
	}
	ask := ""
	if w.Texts != nil {
		r.Name, r.Title, ask = w.Texts.Name, w.Texts.Title, w.Texts.Ask
	}
	if w.Tool != "" {
		r.Tool = &render.Tool{Name: w.Tool, Summary: ask}
	}
	if ask != "" && r.NeedsYou {
		r.Question = &render.Question{Text: ask}
	}
	for _, s := range w.Subagents {
		r.Subagents = append(r.Subagents, render.Subagent{State: s})
	}
	r.Group = render.GroupOf(&r)
	return r
}

// seatOf returns the part of a key that identifies a row.
func seatOf(r *render.Row) string {
	return token(cmp.Or(r.SeatID, strings.TrimSpace(r.Record()), "none"))
}
