package state

import (
	"slices"
	"strconv"

	"beckon/event"

	"pgregory.net/rapid"
)

// client is a model of the real client, built from measurements: it generates the hooks and
// the registry of a random session, and returns the true state at any time.
type client struct {
	t      *rapid.T
	now    event.Millis
	hooks  []event.Event // fired, in order of time
	reg    Registry
	main   *agent
	agents []*agent // subagents that run
	open   []*dialog
	shells int
	calls  int // ever made
	born   int // subagents ever started
	turns  int

	compacting, ended bool
	own               bool         // the client itself began the running turn
	over              string       // how the newest turn ended: done, interrupted, failed, started
	mark              event.Millis // of the newest Esc, in the transcript
}

// agent is the main conversation or a subagent.
type agent struct {
	id         string
	busy       bool
	foreground string // id of the Agent call that waits for this subagent
	calls      []*call
}

// call is one open tool call.
type call struct {
	by         *agent
	id         string
	name, hash string
}

// dialog is on the screen or queued for it.
type dialog struct{ *call }

func newClient(t *rapid.T) *client {
	c := &client{t: t, now: t0, main: &agent{}, over: Fresh}
	c.fire(c.main, event.SessionStart, func(e *event.Event) { e.Source = "startup" })
	c.pass(100)
	c.status()
	return c
}

// fire adds a hook of a, a few milliseconds after the previous hook.
func (c *client) fire(a *agent, k event.Kind, with func(*event.Event)) {
	c.pass(rapid.Int64Range(2, 12).Draw(c.t, "hook"))
	e := event.Event{Agent: event.ClaudeCode, Kind: k, Name: string(k), At: c.now, SessionID: "s1", AgentID: a.id, PromptID: "p" + strconv.Itoa(c.turns)}
	if a.id != "" {
		e.AgentType = "general-purpose"
	}
	if with != nil {
		with(&e)
	}
	c.hooks = append(c.hooks, e)
}

func (c *client) pass(ms int64) { c.now += event.Millis(ms) }

// status writes the registry if the status changed. The entry's time is a little after the
// cause.
func (c *client) status() {
	s := "idle"
	switch {
	case len(c.open) > 0:
		s = "waiting"
	case c.main.busy || c.compacting || len(c.agents) > 0:
		s = "busy"
	case c.shells > 0:
		s = "shell"
	}
	if s != c.reg.Status {
		c.reg = Registry{Status: s, WaitingFor: "permission prompt", At: c.now + event.Millis(rapid.Int64Range(1, 60).Draw(c.t, "registry"))}
	}
}

// truth returns the state that a person at the screen would name.
func (c *client) truth() State {
	waits := func(is func(WaitKind) bool) bool {
		return slices.ContainsFunc(c.open, func(d *dialog) bool { return is(waitKind(d.name, nil)) })
	}
	switch {
	case c.ended:
		return Ended
	case waits(isPermission):
		return Permission
	case waits(isQuestion):
		return Question
	case c.compacting:
		return Compacting
	case c.over == "failed" && (!c.main.busy || c.own):
		return Failed
	case c.main.busy || len(c.agents) > 0:
		return Working
	}
	return Idle
}

// step performs one random action that is possible now.
func (c *client) step() {
	type move struct {
		may bool
		do  func()
	}
	calm := !c.ended && !c.compacting
	moves := []move{
		{calm && !c.main.busy && !c.asks(c.main), c.prompt},
		{calm && c.main.busy && !c.asks(c.main), c.queued},
		{calm && c.idler() != nil, c.batch},
		{calm && c.main.busy && len(c.main.calls) == 0 && c.born < 6, c.delegate},
		{calm && len(c.open) > 0, c.yes},
		{calm && len(c.open) > 0, c.no},
		{calm && c.running() != nil, func() { c.finish(c.running()) }},
		{calm && c.main.busy, c.esc},
		{calm && c.main.busy && len(c.main.calls) == 0, c.stop},
		{calm && c.main.busy && len(c.main.calls) == 0 && rapid.Bool().Draw(c.t, "fail"), c.failure},
		{calm && c.stopper() != nil, func() { c.subagentStop(c.stopper()) }},
		{calm && !c.main.busy && len(c.open) == 0 && len(c.hooks) > 3, c.manualCompact},
		{calm && c.main.busy && len(c.main.calls) == 0, c.autoCompact},
		{c.compacting, c.compacted},
		{c.compacting && !c.main.busy && len(c.agents) == 0, c.compactFails},
		{calm && c.truth() == Idle, c.idlePrompt},
		{calm && !c.main.busy && len(c.open) == 0 && len(c.agents) == 0 && rapid.Bool().Draw(c.t, "end"), c.end},
		{c.ended, c.resume},
		{true, func() { c.pass(rapid.Int64Range(1, 3000).Draw(c.t, "wait")) }},
	}
	moves = slices.DeleteFunc(moves, func(m move) bool { return !m.may })
	moves[rapid.IntRange(0, len(moves)-1).Draw(c.t, "move")].do()
	c.status()
}

func (c *client) asks(a *agent) bool {
	return slices.ContainsFunc(c.open, func(d *dialog) bool { return d.by == a })
}

func (c *client) actors() []*agent { return append([]*agent{c.main}, c.agents...) }

// idler returns an agent at work without an open call.
func (c *client) idler() *agent {
	return c.pick(func(a *agent) bool { return a.busy && len(a.calls) == 0 })
}

// stopper returns a subagent that can stop now.
func (c *client) stopper() *agent {
	return c.pick(func(a *agent) bool { return a.id != "" && len(a.calls) == 0 })
}

func (c *client) pick(ok func(*agent) bool) *agent {
	i := slices.IndexFunc(c.actors(), ok)
	if i < 0 {
		return nil
	}
	return c.actors()[i]
}

// running returns a call that can end now.
func (c *client) running() *call {
	for _, a := range c.actors() {
		for _, x := range a.calls {
			waits := slices.ContainsFunc(c.open, func(d *dialog) bool { return d.call == x })
			if !waits && x.name != "Agent" {
				return x
			}
		}
	}
	return nil
}

func (c *client) prompt() {
	c.pass(rapid.Int64Range(300, 5000).Draw(c.t, "typing"))
	c.main.busy = true
	c.turns++
	c.say("do it")
}

func (c *client) queued() {
	c.say("and that")
}

func (c *client) say(text string) {
	c.own = false
	c.fire(c.main, event.UserPromptSubmit, func(e *event.Event) { e.Prompt = text + " " + strconv.Itoa(len(c.hooks)) })
}

// notified adds the prompt that the client itself writes when background work ends.
func (c *client) notified() {
	c.own = c.own || !c.main.busy
	c.main.busy = true
	c.turns++
	c.fire(c.main, event.UserPromptSubmit, func(e *event.Event) { e.Prompt, e.FromClient = "<task-notification>", true })
}

// batch is one message with up to three calls, which may ask at once.
func (c *client) batch() {
	a := c.idler()
	tools := []string{"Bash", "Bash", "Write"}
	if a == c.main {
		tools = append(tools, "AskUserQuestion", "ExitPlanMode")
	}
	c.pass(rapid.Int64Range(50, 400).Draw(c.t, "thinking"))
	first := len(a.calls)
	for range rapid.IntRange(1, 3).Draw(c.t, "calls") {
		c.call(a, rapid.SampledFrom(tools).Draw(c.t, "tool"), rapid.SampledFrom([]string{"x", "y"}).Draw(c.t, "input"))
	}
	asks := map[string]bool{} // equal calls need the same permission
	for _, x := range a.calls[first:] {
		key := x.name + x.hash
		if _, ok := asks[key]; !ok {
			asks[key] = asksByItself(x.name, nil) != "" || rapid.Bool().Draw(c.t, "asks")
		}
		if asks[key] {
			c.open = append(c.open, &dialog{x})
			c.tool(x, event.PermissionRequest)
		}
	}
}

func (c *client) call(a *agent, name, hash string) *call {
	c.calls++
	x := &call{by: a, id: "c" + strconv.Itoa(c.calls), name: name, hash: hash}
	a.calls = append(a.calls, x)
	c.tool(x, event.PreToolUse)
	return x
}

func (c *client) tool(x *call, k event.Kind) {
	c.fire(x.by, k, func(e *event.Event) {
		e.Tool = event.Tool{Name: x.name, Hash: x.name + x.hash, UseID: x.id}
		if k == event.PermissionRequest {
			e.Tool.UseID = ""
		}
		if k == event.PostToolUse {
			e.Tool.Ms = 1
		}
	})
}

// delegate starts a subagent, in the background or not.
func (c *client) delegate() {
	c.born++
	x := c.call(c.main, "Agent", "x")
	a := &agent{id: "a" + strconv.Itoa(c.born), busy: true}
	c.agents = append(c.agents, a)
	switch rapid.IntRange(0, 2).Draw(c.t, "how") {
	case 0:
		a.foreground = x.id
		c.fire(a, event.SubagentStart, nil)
	case 1:
		c.fire(a, event.SubagentStart, nil)
		c.finish(x)
	case 2:
		c.finish(x)
		c.fire(a, event.SubagentStart, nil)
	}
}

// yes answers the dialog on the screen; a question's call ends with it.
func (c *client) yes() {
	c.pass(rapid.Int64Range(200, 8000).Draw(c.t, "reading"))
	d := c.open[0]
	c.open = c.open[1:]
	if asksByItself(d.name, nil) != "" {
		c.finish(d.call)
	}
}

// no refuses the dialog or leaves it with Esc. The main conversation's turn is then over
// without a hook; a subagent is interrupted and stops.
func (c *client) no() {
	c.pass(rapid.Int64Range(200, 8000).Draw(c.t, "reading"))
	a := c.open[0].by
	if a == c.main {
		c.esc()
		return
	}
	for _, x := range slices.Clone(a.calls) {
		c.drop(x)
	}
	c.status()
	c.pass(rapid.Int64Range(5, 100).Draw(c.t, "stopping"))
	c.subagentStop(a)
}

func (c *client) drop(x *call) {
	x.by.calls = slices.DeleteFunc(x.by.calls, func(y *call) bool { return y == x })
	c.open = slices.DeleteFunc(c.open, func(d *dialog) bool { return d.call == x })
}

func (c *client) finish(x *call) {
	c.tool(x, event.PostToolUse)
	c.drop(x)
}

// esc interrupts the main conversation and the subagents that it waits for.
func (c *client) esc() {
	c.pass(rapid.Int64Range(200, 2000).Draw(c.t, "looking"))
	for _, a := range slices.Clone(c.agents) {
		if a.foreground != "" {
			c.remove(a)
		}
	}
	for _, x := range slices.Clone(c.main.calls) {
		c.drop(x)
	}
	c.main.busy, c.own, c.over, c.mark = false, false, Interrupted, c.now
}

func (c *client) remove(a *agent) {
	for _, x := range slices.Clone(a.calls) {
		c.drop(x)
	}
	c.agents = slices.DeleteFunc(c.agents, func(b *agent) bool { return a == b })
}

func (c *client) snapshot(e *event.Event) {
	e.HasBackground = true
	for _, a := range c.agents {
		if a.foreground != "" {
			continue
		}
		e.Background = append(e.Background, event.Task{ID: a.id, Type: "subagent", Status: "running"})
	}
}

func (c *client) stop() {
	c.fire(c.main, event.Stop, c.snapshot)
	c.main.busy, c.own, c.over = false, false, Done
}

func (c *client) failure() {
	c.fire(c.main, event.StopFailure, func(e *event.Event) { e.Reason = "overloaded" })
	c.main.busy, c.own, c.over = false, false, "failed"
}

func (c *client) subagentStop(a *agent) {
	c.fire(a, event.SubagentStop, c.snapshot)
	c.remove(a)
	if a.foreground != "" {
		i := slices.IndexFunc(c.main.calls, func(x *call) bool { return x.id == a.foreground })
		c.finish(c.main.calls[i])
		return
	}
	if !c.main.busy {
		c.status() // idle for a moment, if nothing else runs
		c.pass(rapid.Int64Range(3, 140).Draw(c.t, "taking up"))
		c.notified()
	}
}

func (c *client) manualCompact() {
	c.compacting = true
	c.fire(c.main, event.PreCompact, func(e *event.Event) { e.Source = "manual" })
}

func (c *client) autoCompact() {
	c.compacting = true
	c.fire(c.main, event.PreCompact, func(e *event.Event) { e.Source = "auto" })
}

func (c *client) compacted() {
	c.pass(rapid.Int64Range(1200, 3000).Draw(c.t, "summing up"))
	c.fire(&agent{id: "stray"}, event.SubagentStop, func(e *event.Event) { e.AgentType = ""; c.snapshot(e) })
	c.fire(c.main, event.SessionStart, func(e *event.Event) { e.Source = "compact" })
	c.fire(c.main, event.PostCompact, nil)
	c.compacting = false
}

func (c *client) compactFails() {
	c.pass(rapid.Int64Range(20, 3000).Draw(c.t, "trying"))
	c.compacting = false
}

func (c *client) idlePrompt() {
	c.pass(60_000)
	c.fire(c.main, event.Notification, func(e *event.Event) { e.Notification = "idle_prompt" })
}

func (c *client) end() {
	c.fire(c.main, event.SessionEnd, func(e *event.Event) { e.Reason = "other" })
	c.ended = true
}

func (c *client) resume() {
	c.pass(3000)
	c.fire(c.main, event.SessionStart, func(e *event.Event) { e.Source = "resume" })
	c.ended, c.over = false, Fresh
}
