// Package render turns sessions and their verdicts into rows, in the order that people and
// programs want them. It is pure; its subpackages draw.
//
// It has no rules about states: a row's state is state.Resolve's.
package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// ListSchema is the number of the `list --json` format. Members are only ever added.
const ListSchema = 1

// List is what `list --json` prints.
type List struct {
	Schema      int       `json:"schema"`
	GeneratedAt time.Time `json:"generated_at"`
	Sessions    []Row     `json:"sessions"`
}

// Row is one session as views show it. Times are UTC; a member without a value is omitted.
type Row struct {
	SessionID  string           `json:"session_id"`
	Part       string           `json:"part,omitempty"` // of the session: see Record
	Agent      string           `json:"agent"`
	SeatID     string           `json:"seat_id"`
	ProjectID  string           `json:"project_id,omitempty"`
	State      state.State      `json:"state"`
	Reason     string           `json:"reason,omitempty"`
	Since      time.Time        `json:"since"`
	Phase      string           `json:"phase,omitempty"` // the state in the words of the Agent Client Protocol
	Group      Group            `json:"group"`           // what the user can do about it (GroupOf)
	NeedsYou   bool             `json:"needs_you"`
	Unseen     bool             `json:"unseen"`
	Source     state.Source     `json:"source"`
	Confidence state.Confidence `json:"confidence"`
	Name       string           `json:"name,omitempty"`  // that the user gave the session
	Label      string           `json:"label,omitempty"` // words that the user put on the session
	Title      string           `json:"title,omitempty"` // the newest prompt, one line
	Cwd        string           `json:"cwd,omitempty"`
	Project    string           `json:"project,omitempty"` // name for people
	Git        *event.Git       `json:"git,omitempty"`
	Terminal   *Terminal        `json:"terminal,omitempty"`
	Tmux       *event.Tmux      `json:"tmux,omitempty"`
	Process    *Process         `json:"process,omitempty"`
	Job        *Job             `json:"job,omitempty"` // set for a session that the client runs in the background
	Host       string           `json:"host,omitempty"`
	Model      string           `json:"model,omitempty"`
	Mode       string           `json:"permission_mode,omitempty"`
	Version    string           `json:"version,omitempty"` // of the client
	Context    *Context         `json:"context,omitempty"`
	CostUSD    float64          `json:"cost_usd,omitempty"` // of the session so far
	Tool       *Tool            `json:"tool,omitempty"`
	Question   *Question        `json:"question,omitempty"`
	Turn       *Turn            `json:"turn,omitempty"`
	Subagents  []Subagent       `json:"subagents,omitempty"`
	Background *Background      `json:"background,omitempty"`
	Refused    int              `json:"refused,omitempty"`  // calls of this turn that the client itself refused
	Refusals   []Refusal        `json:"refusals,omitempty"` // the newest of them
	CreatedAt  time.Time        `json:"created_at"`
	Busy       *int64           `json:"busy_seconds,omitempty"` // at work since local midnight; only if requested
	FirstSeen  time.Time        `json:"first_seen_at"`          // of the seat: it outlives /clear and resume
	UpdatedAt  time.Time        `json:"updated_at"`
	Remote     *Remote          `json:"remote,omitempty"` // the row comes from another host

	// Pane is everything known about where the session is; a jump needs it.
	Pane event.Terminal `json:"-"`

	message string    // the newest final message, for the one-line summary
	looked  time.Time // when the user last looked at the session
}

// Remote describes where a row of another host comes from. AsOf is this machine's time of that
// host's last good answer.
type Remote struct {
	// the name given to --host, an alias or address for ssh; or the name in the fleet
	Name  string    `json:"name"`
	User  string    `json:"user,omitempty"` // its user, in a fleet
	AsOf  time.Time `json:"as_of"`
	Stale bool      `json:"stale"` // the host has not answered since

	// Asked is set for a host that was asked by ssh, whose name the user gave. A host of a fleet
	// names itself, so a command must not go to that name.
	Asked bool `json:"-"`
}

// Host is another machine's status.
type Host struct {
	Name  string     `json:"name"`
	User  string     `json:"user,omitempty"`  // its user, in a fleet
	AsOf  *time.Time `json:"as_of,omitempty"` // this machine's time of the last good answer
	Stale bool       `json:"stale"`           // it is silent, or did not answer the last request
	Error string     `json:"error,omitempty"` // why, in the words of ssh or of the program there
}

// Context is how full the model's context window is, 0 to 100.
type Context struct {
	UsedPercentage float64 `json:"used_percentage"`
}

// Terminal identifies the pane that a session is in.
type Terminal struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
}

// Job identifies a session that the client runs in the background, without a terminal of its
// own: `claude attach ID` shows it.
type Job struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Process is the agent's own process. Alive is omitted if unknown.
type Process struct {
	Pid   int   `json:"pid"`
	Alive *bool `json:"alive,omitempty"`
}

// Tool is the call that a session runs or waits for.
type Tool struct {
	Name    string `json:"name"`
	Summary string `json:"summary,omitempty"`
}

// Question is what a session asks the user: Text in one line, and what is known about the
// answers. Further questions asked at once are in More.
type Question struct {
	Text        string           `json:"text"`
	Header      string           `json:"header,omitempty"`
	Multi       bool             `json:"multi_select,omitempty"` // several options may be chosen
	Options     []event.Option   `json:"options,omitempty"`
	More        []event.Question `json:"more,omitempty"`
	Plan        string           `json:"plan,omitempty"`        // the head of a plan to approve
	Form        []string         `json:"form,omitempty"`        // the fields of a form; * marks the required ones
	Suggestions []string         `json:"suggestions,omitempty"` // what the client offers to change along with a yes
}

// Turn is the newest turn that the user began. Task is the state of its task: idle after you
// have looked at the result.
type Turn struct {
	Number    int64           `json:"number"`
	Task      state.TaskState `json:"task"`
	StartedAt time.Time       `json:"started_at"`
}

// Subagent is one subagent of a session: working, permission, question or idle.
type Subagent struct {
	AgentID string      `json:"agent_id"`
	Type    string      `json:"type,omitempty"`
	State   state.State `json:"state"`
}

// Background is what runs in addition to the turn.
type Background struct {
	Agents int `json:"agents"`
	Shells int `json:"shells"`
	Crons  int `json:"crons"`
}

// Refusal is a call that the client refused by itself, as auto mode does.
type Refusal struct {
	At      time.Time `json:"at"`
	AgentID string    `json:"agent_id,omitempty"`
	Tool    string    `json:"tool"`
	Summary string    `json:"summary,omitempty"`
	Reason  string    `json:"reason,omitempty"` // in the client's words
	Code    string    `json:"code,omitempty"`   // for beckon policy allow, within ten minutes
}

// Line returns the refusal in one line.
func (d *Refusal) Line() string {
	what := cmp.Or(d.Summary, d.Tool)
	if d.Reason != "" {
		what += ": " + d.Reason
	}
	if d.Code != "" {
		what += " (beckon policy allow " + d.Code + ")"
	}
	return OneLine(what)
}

// usual is the queue that is in force without a configuration.
var usual = Queue{PermissionFirst: true}

// Rows is Queue.Rows without a configuration.
func Rows(seen []state.Seen, all bool) []Row { return usual.Rows(seen, all) }

// Rows returns one row per seat, for the session that represents it (state.Fronts), in the
// order of Arrange. Sessions that are not Listed are left out unless all is set.
func (q Queue) Rows(seen []state.Seen, all bool) []Row {
	fronts := state.Fronts(seen)
	shown := make([]*state.Seen, 0, len(seen))
	for i := range seen {
		v := &seen[i]
		if front, seated := fronts[v.Session.Seat]; (!seated || front == i) && (all || v.Listed()) {
			shown = append(shown, v)
		}
	}
	rows := make([]Row, len(shown))
	store.Parallel(len(rows), func(i int) { rows[i] = row(shown[i]) })
	return q.Arrange(rows)
}

// pointers returns pointers to sort: a Row is too large to be moved at every step.
func pointers(rows []Row) []*Row {
	order := make([]*Row, len(rows))
	for i := range rows {
		order[i] = &rows[i]
	}
	return order
}

func row(v *state.Seen) Row {
	s, st := &v.Session, v.Status
	r := Row{
		SessionID: s.ID, Part: s.Part, Agent: s.Agent, SeatID: s.Seat, ProjectID: s.ProjectID,
		State: st.State, Phase: phaseOf(st.State), Reason: st.Reason, Since: st.Since.Time(),
		NeedsYou: st.NeedsYou, Unseen: st.Unseen,
		Source: st.Source, Confidence: st.Confidence,
		Name: OneLine(s.Name), Label: OneLine(s.Label), Title: OneLine(s.Prompt.Text), Cwd: s.Cwd,
		Project: s.ProjectName(), Host: s.Origin.Host,
		Model: cmp.Or(v.Meter.Model, s.Model), Mode: s.Mode, Version: cmp.Or(v.Meter.Version, OneLine(v.Evidence.Version)),
		CostUSD:   v.Meter.USD(),
		CreatedAt: s.Created.Time(), UpdatedAt: s.Updated.Time(), FirstSeen: cmp.Or(s.Origin.SeatAt, s.Created).Time(),
		Pane:    s.Origin.Terminal,
		message: s.Stop.Message,
		looked:  s.Seen.Time(),
	}
	if v.Meter.HasContext {
		r.Context = &Context{v.Meter.Percent()}
	}
	if id := v.Evidence.Registry.Background(); id != "" {
		r.Job = &Job{id, v.Evidence.Registry.Name}
	}
	r.Group = GroupOf(&r)
	where(&r, s, v.Evidence.Process)
	doing(&r, s, st)
	return r
}

func where(r *Row, s *state.Session, alive state.Presence) {
	o := &s.Origin
	if g := o.Git; g != (event.Git{}) {
		r.Git = &event.Git{Branch: cmp.Or(g.Branch, g.Head), Repo: g.Repo, Worktree: g.Worktree}
	}
	if t := o.Terminal; t.Kind != "" {
		r.Terminal = &Terminal{Kind: t.Kind, ID: t.ID}
		if t.Tmux.Pane != "" {
			r.Tmux = &event.Tmux{Socket: t.Tmux.Socket, Pane: t.Tmux.Pane, Session: t.Tmux.Session}
		}
	}
	if o.Process.Pid != 0 {
		r.Process = &Process{Pid: o.Process.Pid}
		if alive != state.Unread {
			is := alive == state.Alive
			r.Process.Alive = &is
		}
	}
}

func doing(r *Row, s *state.Session, st state.Status) {
	if c := st.Call; c.At != 0 {
		r.Tool = &Tool{Name: c.Name, Summary: c.Summary}
	}
	if st.NeedsYou && st.State != state.Failed {
		r.Question = question(s, st)
	}
	if s.Prompt.First != 0 {
		r.Turn = &Turn{Number: s.Counts.Turns, Task: s.TaskState(), StartedAt: s.Prompt.First.Time()}
	}
	for _, a := range s.Subagents() {
		r.Subagents = append(r.Subagents, Subagent{AgentID: a.ID, Type: a.Type, State: a.State()})
	}
	b := Background{Crons: s.Stop.Crons}
	b.Agents, b.Shells = s.Background()
	if b != (Background{}) {
		r.Background = &b
	}
	r.Refused = s.Denied.Count
	for _, d := range s.Denied.Calls {
		r.Refusals = append(r.Refusals, Refusal{d.At.Time(), d.Actor, d.Tool, d.Summary, d.Reason, d.Code})
	}
}

// question returns the question of the deciding call, or of the turn's final text.
func question(s *state.Session, st state.Status) *Question {
	c := st.Call
	if c.At == 0 {
		switch {
		case st.Rule == state.RuleAsked:
			return &Question{Text: s.Stop.Question}
		case st.Asks != "":
			return &Question{Text: st.Asks}
		}
		return nil // only the registry shows that something is open
	}
	q := &Question{Text: c.Summary}
	a := c.Ask
	if a == nil {
		return q
	}
	q.Plan, q.Form, q.Suggestions = a.Plan, a.Form, a.Suggestions
	if len(a.Questions) > 0 {
		first := a.Questions[0]
		q.Text, q.Header, q.Multi, q.Options, q.More = cmp.Or(first.Text, c.Summary), first.Header, first.Multi,
			first.Options, a.Questions[1:]
	}
	return q
}

// ShownName returns the row's name for people: the user's name for the session, else its project.
func (r *Row) ShownName() string { return cmp.Or(r.Name, r.Project) }

// What returns in one line what the session does, wants or did: the call it waits for or runs,
// the reason it failed, else its last words or the prompt.
func (r *Row) What() string {
	switch {
	case (r.State == state.Question || r.Tool == nil && r.State == state.Permission) && r.Question.asks() != "":
		return OneLine(r.Question.asks())
	case r.Tool != nil:
		return cmp.Or(r.Tool.Summary, r.Tool.Name)
	case r.State == state.Failed:
		return strings.ReplaceAll(r.Reason, "_", " ")
	case r.State == state.Idle && r.Reason == state.Done && r.message != "":
		return OneLine(state.LastLine(r.message))
	}
	return r.Title
}

// asks returns a question in one line; "" if it has no text.
func (q *Question) asks() string {
	switch {
	case q == nil:
		return ""
	case q.Plan != "":
		head, _, _ := strings.Cut(strings.TrimLeft(q.Plan, "#\n "), "\n")
		return "the plan: " + head
	case len(q.More) > 0:
		return q.Text + " [" + strconv.Itoa(len(q.More)) + " more]"
	}
	return q.Text
}

// Record returns the record of the row's session, as state.Session.Record does.
func (r *Row) Record() string { return state.Record(r.SessionID, r.Part) }

// Group is how a row asks for attention: the coarse order of a screen.
type Group string

// The groups: the states, reduced to what one does about a session.
const (
	GroupNeedsYou   Group = "needs_you"
	GroupWorking    Group = "working"
	GroupDone       Group = "done" // a turn ended and nobody has looked yet
	GroupIdle       Group = "idle"
	GroupBackburner Group = "backburner"
	GroupOver       Group = "ended"
)

// Groups lists the groups, the one that needs the user first.
var Groups = [...]Group{GroupNeedsYou, GroupWorking, GroupDone, GroupIdle, GroupBackburner, GroupOver}

// GroupOf returns the group of a row. A session about which nothing is known counts as idle:
// there is nothing to wait for.
func GroupOf(r *Row) Group {
	switch {
	case r.NeedsYou:
		return GroupNeedsYou
	case !r.State.Live():
		return GroupOver
	case r.State == state.Backburned:
		return GroupBackburner
	case r.State.AtWork():
		return GroupWorking
	case r.Unseen:
		return GroupDone
	}
	return GroupIdle
}

// phaseOf returns a state in the words of the Agent Client Protocol; it has none for a session that is
// over.
func phaseOf(s state.State) string {
	switch {
	case !s.Live():
		return ""
	case s == state.Permission, s == state.Question:
		return "requires_action"
	case s.AtWork():
		return "running"
	}
	return "idle"
}

// Place returns the group's index in Groups.
func (g Group) Place() int { return slices.Index(Groups[:], g) }

// Words returns the group's name for people.
func (g Group) Words() string {
	if g == GroupBackburner {
		return "aside" // as the state is called
	}
	return strings.ReplaceAll(string(g), "_", " ")
}
