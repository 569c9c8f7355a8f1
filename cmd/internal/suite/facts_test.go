//go:build unix

package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/lab"

	"github.com/tidwall/gjson"
)

// fact is a question about the client that its documents leave open
// (CONTRACT 1.17), asked without beckon: hooks that print an answer, and what
// the client makes of it.
type fact struct {
	question string
	hooks    map[string][]string // event to the commands that answer it
	prompt   string
	keys     []string // not -p: what is typed into the client's screen after the prompt
	// expect is the answer that the contract table and state.Decided build on.
	expect func(*observedFact) string
	want   string
}

// observedFact is what was seen.
type observedFact struct {
	*shown
	events []string // that fired, with the tool's name
}

const never = "it never fired"

// after are the events behind the first one of that name.
func (o *observedFact) after(name string) string {
	for i, e := range o.events {
		if strings.HasPrefix(e, name) {
			return cmp.Or(strings.Join(o.events[i+1:], ", "), "nothing")
		}
	}
	return never
}

func says(json string) []string { return []string{"cat >/dev/null; printf '%s' '" + json + "'"} }

func specific(event, members string) string {
	return `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + members + `}}`
}

func (o *observedFact) has(in, text, yes, no string) string {
	if strings.Contains(in, text) {
		return yes
	}
	return no
}

func (o *observedFact) all() string { return strings.Join(o.asked(), "\n") }

var facts = []fact{
	{"PreToolUse: updatedInput without permissionDecision", map[string][]string{"PreToolUse": says(specific("PreToolUse", `"updatedInput":{"command":"echo other-word","description":"d"}`))}, echo, nil,
		func(o *observedFact) string { return o.has(o.results(), "other-word", "applied", "ignored") }, "applied"},
	{"PreToolUse: permissionDecision deny, what fires after it", map[string][]string{"PreToolUse": says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"no"`))}, echo, nil,
		func(o *observedFact) string { return o.after("PreToolUse") }, "PostToolBatch, Stop, SessionEnd"},
	{"PreToolUse: additionalContext beside a deny", map[string][]string{"PreToolUse": says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"no","additionalContext":"beside-it"`))}, echo, nil,
		func(o *observedFact) string { return o.has(o.all(), "beside-it", "reaches the model", "lost") }, "reaches the model"},
	{"PreToolUse: systemMessage without a decision", map[string][]string{"PreToolUse": says(`{"systemMessage":"told-you"}`)}, echo, nil,
		func(o *observedFact) string {
			return o.has(o.transcript(), "told-you", "delivered", "lost") + ", " + o.has(o.results(), "spoken-word", "the call runs", "the call does not run")
		}, "delivered, the call runs"},
	{"PreToolUse: two denies", map[string][]string{"PreToolUse": {says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"reason-one"`))[0], says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"reason-two"`))[0]}}, echo, nil,
		func(o *observedFact) string {
			return fmt.Sprintf("%d of 2 reasons reach the model", strings.Count(o.has(o.results(), "reason-one", "1", "")+o.has(o.results(), "reason-two", "1", ""), "1"))
		}, "1 of 2 reasons reach the model"},
	{"PreToolUse: continue false, what fires after it", map[string][]string{"PreToolUse": says(`{"continue":false,"stopReason":"halted"}`)}, echo, nil,
		func(o *observedFact) string { return o.after("PreToolUse") }, ""},
	{"PostToolUseFailure: decision block", map[string][]string{"PostToolUseFailure": says(`{"decision":"block","reason":"failed-reason"}`)}, "lab:bash false", nil,
		func(o *observedFact) string { return o.has(o.all(), "failed-reason", "reaches the model", "lost") }, "reaches the model"},
	{"PostToolUse: decision block", map[string][]string{"PostToolUse": says(`{"decision":"block","reason":"post-reason"}`)}, echo, nil,
		func(o *observedFact) string { return o.has(o.all(), "post-reason", "reaches the model", "lost") }, "reaches the model"},
	{"PostToolUse: updatedToolOutput that is a plain text", map[string][]string{"PostToolUse": says(specific("PostToolUse", `"updatedToolOutput":"replaced-output"`))}, echo, nil,
		func(o *observedFact) string { return o.has(o.results(), "replaced-output", "replaces it", "ignored") }, ""},
	{"TaskCompleted: decision block", map[string][]string{"TaskCompleted": says(`{"decision":"block","reason":"not-done"}`)}, "lab:todo", []string{"Tasks are done"},
		func(o *observedFact) string {
			if o.after("TaskCompleted") == never {
				return "not measured: the lab's client has no such tool"
			}
			return o.has(o.all(), "not-done", "reaches the model", "lost")
		}, ""},
	{"TaskCreated: decision block", map[string][]string{"TaskCreated": says(`{"decision":"block","reason":"no-task"}`)}, "lab:todo", []string{"Tasks are done"},
		func(o *observedFact) string {
			if o.after("TaskCreated") == never {
				return "not measured: the lab's client has no such tool"
			}
			return o.has(o.all(), "no-task", "reaches the model", "lost")
		}, ""},
	{"UserPromptSubmit: decision block, what fires after it", map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no"}`)}, echo, nil,
		func(o *observedFact) string { return o.after("UserPromptSubmit") }, ""},
	{"UserPromptSubmit: the prompt in the message of a block", map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no"}`)}, "lab:bash echo spoken-word", nil,
		func(o *observedFact) string { return o.has(o.out, "spoken-word", "shown", "not shown") }, ""},
	{"the same, suppressOriginalPrompt at the top", map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no","suppressOriginalPrompt":true}`)}, "lab:bash echo spoken-word", nil,
		func(o *observedFact) string { return o.has(o.out, "spoken-word", "shown", "not shown") }, ""},
	{"the same, suppressOriginalPrompt in hookSpecificOutput", map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true}}`)}, "lab:bash echo spoken-word", nil,
		func(o *observedFact) string { return o.has(o.out, "spoken-word", "shown", "not shown") }, ""},
	{"Stop: decision block, always", map[string][]string{"Stop": says(`{"decision":"block","reason":"go-on"}`)}, "lab:hi", nil,
		func(o *observedFact) string { return fmt.Sprintf("the model is asked %d times", len(o.asked())) }, ""},
	{"Stop: additionalContext, once", map[string][]string{"Stop": {`if grep -q '"stop_hook_active":true'; then :; else printf '%s' '` + specific("Stop", `"additionalContext":"look-again"`) + `'; fi`}}, "lab:hi", nil,
		func(o *observedFact) string {
			return o.has(o.all(), "look-again", "the agent goes on with it", "it stops")
		}, "the agent goes on with it"},
	{"SessionStart: additionalContext", map[string][]string{"SessionStart": says(specific("SessionStart", `"additionalContext":"start-fact"`))}, "lab:hi", nil,
		func(o *observedFact) string { return o.has(o.all(), "start-fact", "reaches the model", "lost") }, "reaches the model"},
	{"PermissionRequest: behavior allow, what fires after it", map[string][]string{"PermissionRequest": says(specific("PermissionRequest", `"decision":{"behavior":"allow"}`))}, "lab:write a.txt", []string{"Wrote the note"},
		func(o *observedFact) string { return o.after("PermissionRequest") }, ""},
	{"PermissionRequest: behavior deny, what fires after it", map[string][]string{"PermissionRequest": says(specific("PermissionRequest", `"decision":{"behavior":"deny","message":"not-here"}`))}, "lab:write a.txt", []string{"Wrote the note"},
		func(o *observedFact) string {
			return o.after("PermissionRequest") + "; the message " + o.has(o.all(), "not-here", "reaches the model", "is lost")
		}, ""},
	{"PermissionRequest: updatedInput with allow", map[string][]string{"PermissionRequest": {`sed -n 's/.*"file_path":"\([^"]*\)a.txt".*/{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"file_path":"\1b.txt","content":"x"}}}}/p'`}}, "lab:write a.txt", []string{"Wrote the note"},
		func(o *observedFact) string {
			_, err := os.Stat(filepath.Join(o.l.Home.Project, "b.txt"))
			return map[bool]string{true: "applied", false: "ignored"}[err == nil]
		}, "applied"},
	{"PreCompact: decision block, what fires after it", map[string][]string{"PreCompact": says(`{"decision":"block","reason":"not-now"}`)}, "lab:hi", []string{"Everything is done", "/compact", "not-now"},
		func(o *observedFact) string { return o.after("PreCompact") }, ""},
}

// watched are the events that are listened to beside the one that is answered.
var watched = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
	"PostToolBatch", "Notification", "Stop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd", "TaskCreated", "TaskCompleted"}

// TestPolicyFacts measures them and writes testdata/lab/POLICY.md.
func TestPolicyFacts(t *testing.T) {
	if !*matrix {
		t.Skip("part of the matrix: -matrix")
	}
	answers := make([][]string, len(facts))
	t.Run("run", func(t *testing.T) {
		for v, version := range lab.Pinned {
			lab.Need(t, version)
			for i, f := range facts {
				answers[i] = append(answers[i], "")
				t.Run(version+"/"+f.question, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					o := f.ask(t, version)
					answers[i][v] = f.expect(o)
					if f.want != "" && answers[i][v] != f.want {
						t.Errorf("%q, not %q; events %v\n%s", answers[i][v], f.want, o.events, o.out)
					}
				})
			}
		}
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What the client makes of a hook's answer\n\nMeasured by `go test ./cmd/internal/suite -run TestPolicyFacts -matrix` on Linux; the questions are those that the client's documents leave open, and those that the session's state depends on.\n\n| answer of a hook | %s |\n|---|%s\n", strings.Join(lab.Pinned, " | "), strings.Repeat("---|", len(lab.Pinned)))
	for i, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.question, strings.Join(answers[i], " | "))
	}
	if err := os.WriteFile(filepath.Join(root, "testdata", "lab", "POLICY.md"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ask puts the question to a client.
func (f fact) ask(t *testing.T, version string) *observedFact {
	l := lab.Start(t, version)
	log := filepath.Join(l.Home.Root, "events")
	if err := f.install(l, log); err != nil {
		t.Fatal(err)
	}
	o := &observedFact{shown: &shown{TB: t, l: l}}
	if f.keys == nil {
		o.out, _ = l.Home.Print(f.prompt) // its exit code is none of the question
	} else {
		f.drive(t, l)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if line == "" {
			continue // a payload brings its own line end on some versions
		}
		name := gjson.Get(line, "hook_event_name").Str
		if tool := gjson.Get(line, "tool_name").Str; tool != "" {
			name += " " + tool
		}
		o.events = append(o.events, name)
	}
	return o
}

// install writes the client's settings: a hook that notes every event, and the
// answers.
func (f fact) install(l *lab.Lab, log string) error {
	type entry map[string]any
	hooks := map[string][]entry{}
	note := entry{"type": "command", "command": "{ cat; echo; } >> " + log}
	for _, name := range watched {
		hooks[name] = []entry{{"hooks": []entry{note}}}
	}
	for name, commands := range f.hooks {
		for _, c := range commands {
			hooks[name] = append(hooks[name], entry{"hooks": []entry{{"type": "command", "command": c}}})
		}
	}
	b, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.Home.Dir, ".claude", "settings.json"), b, 0o600)
}

// drive types the prompt, and each key after the text before it was seen.
func (f fact) drive(t *testing.T, l *lab.Lab) {
	pane, err := l.Tmux.StartClient("fact", l.Home.Args()...)
	if err == nil {
		err = pane.Ready()
	}
	if err == nil {
		err = pane.Say(f.prompt)
	}
	for _, k := range f.keys {
		switch {
		case err != nil:
		case strings.HasPrefix(k, "/"):
			err = pane.Say(k)
		default:
			err = pane.WaitFor(k, 20*time.Second)
		}
	}
	if err != nil {
		t.Logf("%v\n%s", err, pane.Capture())
	}
	time.Sleep(2 * time.Second) // what fires late
}
