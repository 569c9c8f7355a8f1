//go:build unix

package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/agents"
	"beckon/state/request"
)

// probe is an answer of a hook's, and what an agent makes of it.
type probe struct {
	name   string
	policy string // with beckon installed; empty: the hook is script, without beckon
	script string // what a hook before a call does after reading its payload
	prompt string
	drive  func(*probed) error // what happens during the prompt, besides approving
	says   func(*probed) string
	// want is what an agent's rows in package agents promise; nil leaves it open.
	want func(a *agents.Agent) string
}

// probed is the result of a probe.
type probed struct {
	t      testing.TB
	l      *Lab
	client Client
	pane   *Pane
	dialog bool // was open
	user   bool // was shown the marker
	model  bool // was told the marker
	asked  int  // requests to the model
	shown  time.Time
}

const marker = "beckon-lab-marker"

func (p *probed) made(name string) bool {
	_, err := os.Stat(filepath.Join(p.l.Home.Project, name))
	return err == nil
}

// told returns who was given the reason or text.
func (p *probed) told(text string) string {
	switch {
	case p.model:
		return text + ", the model is told why"
	case p.user:
		return text + ", you are told why"
	}
	return text
}

func (p *probed) ran() string {
	switch {
	case p.made("other.txt"):
		return p.after("the new call runs")
	case p.made("made.txt"):
		return p.after("the call runs")
	}
	return p.told(p.after("the call is refused"))
}

func (p *probed) after(text string) string {
	if p.dialog {
		return text + " after a dialog"
	}
	return text
}

// hears returns yes if an agent's row promises that it accepts the answer, else no.
func hears(kind event.Kind, w agents.When, yes, no string) func(*agents.Agent) string {
	return func(a *agents.Agent) string {
		if row := a.AnswerTo(string(kind)); row != nil && row.Hears(w) {
			return yes
		}
		return no
	}
}

// ruleAt returns a policy with one rule at an event.
func ruleAt(event, members string) string { return of(event, "", `{"type":"rule",`+members+`}`) }

func commandAt(event, output string) string {
	quoted, _ := json.Marshal("cat >/dev/null; printf '%s' '" + output + "'") // a string
	return of(event, "", `{"type":"command","command":`+string(quoted)+`}`)
}

const (
	writes = "lab:write made.txt" // a call that needs a permission
	naps   = "lab:bash ./nap 0"   // one that needs none
)

var probes = []probe{
	{name: "a rule refuses a call", policy: ruleAt("PreToolUse", `"decision":"deny","reason":"`+marker+`","commands":["touch"]`), prompt: writes,
		says: (*probed).ran},
	{name: "a rule asks about a call", policy: ruleAt("PreToolUse", `"decision":"ask","reason":"`+marker+`","commands":["nap"]`), prompt: naps,
		says: func(p *probed) string {
			if p.dialog {
				return "a dialog opens"
			}
			return p.told("refused")
		},
		want: hears(event.PreToolUse, agents.Ask, "a dialog opens", "refused, the model is told why")},
	{name: "a rule allows a call", policy: ruleAt("PreToolUse", `"decision":"allow","reason":"fine","commands":["touch made.txt"]`), prompt: writes,
		says: (*probed).ran, want: hears(event.PreToolUse, agents.Allow, "the call runs", "the call runs after a dialog")},
	{name: "a rule allows a permission", policy: ruleAt("PermissionRequest", `"decision":"allow","reason":"fine","commands":["touch made.txt"]`), prompt: writes,
		says: (*probed).ran},
	{name: "a rule refuses a permission", policy: ruleAt("PermissionRequest", `"decision":"deny","reason":"`+marker+`","commands":["touch made.txt"]`), prompt: writes,
		says: (*probed).ran},
	{name: "a hook rewrites a call", policy: commandAt("PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"touch other.txt","description":"d","is_background":false}}}`),
		prompt: writes, says: (*probed).ran},
	{name: "a rule warns of a call", policy: ruleAt("PreToolUse", `"decision":"warn","reason":"`+marker+`","commands":["nap"]`), prompt: naps,
		says: told, want: hears(event.PreToolUse, agents.Context, "the model is told", "nobody is told")},
	{name: "a hook adds to a result", policy: commandAt("PostToolUse", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"`+marker+`"}}`), prompt: naps,
		says: told, want: hears(event.PostToolUse, agents.Context, "the model is told", "nobody is told")},
	{name: "a rule refuses a prompt", policy: ruleAt("UserPromptSubmit", `"decision":"deny","reason":"`+marker+`","words":["lab:hi"]`), prompt: "lab:hi",
		says: func(p *probed) string {
			if p.asked > 0 {
				return "the prompt goes on"
			}
			return p.told("refused")
		},
		want: hears(event.UserPromptSubmit, agents.Deny, "refused, you are told why", "the prompt goes on")},
	{name: "a hook adds to a prompt", policy: commandAt("UserPromptSubmit", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"`+marker+`"}}`), prompt: "lab:hi",
		says: told, want: hears(event.UserPromptSubmit, agents.Context, "the model is told", "nobody is told")},
	{name: "a hook keeps it from stopping", policy: commandAt("Stop", `{"decision":"block","reason":"`+marker+`"}`), prompt: "lab:hi",
		says: func(p *probed) string {
			if p.asked > 1 {
				return fmt.Sprintf("the model goes on, %d requests", p.asked)
			}
			return "it stops"
		}},
	{name: "beckon answer, beside its dialog", policy: "answers", prompt: writes, drive: (*probed).answer,
		says: func(p *probed) string {
			if p.shown.IsZero() {
				return "there is nothing to answer"
			}
			return p.ran()
		},
		want: func(a *agents.Agent) string {
			if a.Holds() {
				return "the call runs after a dialog"
			}
			return "there is nothing to answer"
		}},

	{name: "the hook's program is missing", script: "missing", prompt: writes, says: (*probed).went},
	{name: "it ends with 1", script: "echo " + marker + " >&2; exit 1", prompt: writes, says: (*probed).went},
	{name: "it ends with 2", script: "echo " + marker + " >&2; exit 2", prompt: writes, says: (*probed).went},
	{name: "it ends with 7", script: "echo " + marker + " >&2; exit 7", prompt: writes, says: (*probed).went},
	{name: "it prints no JSON", script: "echo " + marker, prompt: writes, says: (*probed).went},
	{name: "it prints half an object", script: `printf '{"decision": "deny"'`, prompt: writes, says: (*probed).went},
	{name: "it is past its timeout of 10 s", script: "sleep 60", prompt: writes, says: (*probed).went},
}

func told(p *probed) string {
	switch {
	case p.model:
		return "the model is told"
	case p.user:
		return "you are told"
	}
	return "nobody is told"
}

// went returns what became of a prompt whose hook did not work.
func (p *probed) went() string {
	if p.asked == 0 {
		return "nothing goes on, the prompt is refused"
	}
	return p.ran()
}

// answer answers with `beckon answer`, as soon as something is open.
func (p *probed) answer() error {
	for end := time.Now().Add(100 * time.Second); p.client.Agent.Shows(p.pane) != "permission" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
	}
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if p.client.Agent.Shows(p.pane) == "permission" {
			p.dialog = true
		}
		open, err := request.In(p.l.Home.State).List(time.Now())
		if err != nil || len(open) == 0 || !p.dialog {
			continue
		}
		time.Sleep(time.Second) // the dialog is there all the same
		if p.client.Agent.Shows(p.pane) != "permission" {
			return fmt.Errorf("the dialog has gone:\n%s", p.pane.Capture())
		}
		p.shown = time.Now()
		a := &answering{shown: &shown{TB: p.t, l: p.l}}
		if out := a.answer(open[0].ID[:6], "yes"); !strings.Contains(out, "allowed") {
			return errors.New(out)
		}
		return nil
	}
	return nil
}

// ask runs a probe on an agent.
func (pr probe) ask(t testing.TB, client Client) *probed {
	l := StartWith(t, client)
	p := &probed{t: t, l: l, client: client}
	must(t, pr.install(l))
	var err error
	p.pane, err = l.Tmux.StartClient("probe")
	must(t, err)
	must(t, p.pane.Ready())
	time.Sleep(time.Second)
	must(t, p.pane.Say(pr.prompt))
	if pr.drive != nil {
		must(t, pr.drive(p))
	}
	must(t, p.watch())
	for _, r := range l.Server.Requests() {
		if r.Word == "" || r.Word == "aside" || r.Word == "plain" {
			continue
		}
		p.asked++
		p.model = p.model || strings.Contains(string(r.Body), marker)
	}
	return p
}

// install installs beckon with its policy, or the script.
func (pr probe) install(l *Lab) error {
	a := l.Client.Agent
	if pr.script != "" {
		program := filepath.Join(l.Home.Root, "hook.sh")
		if pr.script == "missing" {
			return a.Hook(l.Home, program)
		}
		text := "#!/bin/sh\ncat > /dev/null\ncase $1 in PreToolUse|preToolUse|BeforeTool) " + pr.script + ";; esac\n"
		if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
			return err
		}
		return a.Hook(l.Home, program)
	}
	dir, err := programs()
	if err != nil {
		return err
	}
	if err := put(l, dir); err != nil {
		return err
	}
	args := []string{"setup", "--agent", a.Name}
	if pr.policy == "answers" {
		args = append(args, "answers")
	} else {
		path := filepath.Join(l.Home.Dir, ".config", "beckon", "policy.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(pr.policy), 0o600); err != nil {
			return err
		}
	}
	_, err = beckon(l, nil, args...)
	return err
}

// watch approves each request until the turn is over.
func (p *probed) watch() error {
	const quiet, slow = 4 * time.Second, 25 * time.Second // opencode is slow before the first prompt
	var idle time.Time
	pressed, begun, start := false, p.dialog, time.Now()
	for ; time.Since(start) < patience+slow; time.Sleep(100 * time.Millisecond) {
		p.user = p.user || strings.Contains(p.pane.Capture(), marker)
		switch p.client.Agent.Shows(p.pane) {
		case "permission":
			p.dialog, begun, idle = true, true, time.Time{}
			if pressed {
				continue
			}
			time.Sleep(500 * time.Millisecond)
			if err := p.client.Agent.Press(p.pane, "approve"); err != nil {
				return err
			}
			pressed = true
		case "idle":
			if idle.IsZero() {
				idle = time.Now()
			}
			if time.Since(idle) > quiet && (begun || time.Since(start) > slow) {
				return nil
			}
		default:
			begun, idle = true, time.Time{}
		}
	}
	return fmt.Errorf("the turn did not end:\n%s", p.pane.Capture())
}

// TestAgentAnswers puts beckon's policies and answers before the other agents, and
// what each makes of a hook that does not work. With -matrix it plays all and
// writes testdata/lab/ANSWERS.md:
//
//	go test ./cmd/internal/suite -run TestAgentAnswers -matrix -agents gemini -rows answers.json -timeout 60m
func TestAgentAnswers(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("real agents take a minute")
	}
	t.Parallel()
	table := &table{}
	t.Run("run", func(t *testing.T) {
		for _, a := range Agents {
			if *others != "" && !slices.Contains(strings.Split(*others, ","), a.Name) || a.Mode != "" {
				continue
			}
			for i, pr := range probes {
				if a.Name == "opencode" && pr.script != "" || *only != "" && !slices.Contains(strings.Split(*only, ","), fmt.Sprint(i)) || !*matrix && (i > 0 || a.Name == "codex" || a.Name == "opencode") {
					continue // opencode has no hooks but beckon's own plugin
				}
				client := a.Need(t)
				t.Run(a.Name+"/"+pr.name, func(t *testing.T) {
					t.Parallel()
					tried(t, func(t testing.TB) {
						p := pr.ask(t, client)
						got := pr.says(p)
						table.add(row{Scenario: fmt.Sprintf("%02d %s", i, pr.name), Version: a.Label(), Verdict: got})
						if *rows != "" {
							must(t, table.join(*rows))
						}
						t.Log(got)
						if pr.want != nil && pr.want(event.AgentOf(a.Name)) != got {
							t.Errorf("%q, and its rows promise %q\n%s", got, pr.want(event.AgentOf(a.Name)), p.pane.Capture())
						}
						if pr.policy != "" && t.Failed() {
							t.Log(trace(p.l))
						}
					})
				})
			}
		}
	})
	if *rows != "" {
		must(t, table.join(*rows))
	}
	if report := table.answers(); *matrix && (*only == "" || *rows != "") {
		must(t, os.WriteFile(filepath.Join(root, "testdata", "lab", "ANSWERS.md"), []byte(report), 0o644))
	}
}

// answers returns the table of probes in Markdown: a line per probe, a column per agent.
func (t *table) answers() string {
	heads, names := distinct(t.rows, row.head), distinct(t.rows, func(r row) string { return r.Scenario })
	var b strings.Builder
	fmt.Fprintf(&b, "# What the other agents make of an answer\n\nMeasured by `go test ./cmd/internal/suite -run TestAgentAnswers -matrix` on Linux: first with beckon installed, then with a hook before a call that does not work.\n\n| | %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	for _, n := range names {
		fmt.Fprintf(&b, "| %s |", n[3:])
		for _, h := range heads {
			i := slices.IndexFunc(t.rows, func(r row) bool { return r.Scenario == n && r.head() == h })
			if i < 0 {
				b.WriteString("  |")
				continue
			}
			fmt.Fprintf(&b, " %s |", t.rows[i].Verdict)
		}
		b.WriteString("\n")
	}
	return b.String()
}
