//go:build unix

package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// fact is a question about the client that its documents leave open (testdata/lab/HOOKS.md),
// asked without beckon: hooks that print an answer, and the client's reaction.
type fact struct {
	question string
	hooks    map[string][]string // event to the commands that answer it
	prompt   string
	keys     []string // without -p: what is typed into the client's screen after the prompt, and what is awaited
	timeout  int      // of the answering hooks, in seconds; 0 leaves it to the client
	// expect is the answer on which the contract table and state.Decided rely.
	expect func(*observedFact) string
	want   string
}

// observedFact is what was observed.
type observedFact struct {
	*shown
	events []string    // that fired, with the tool's name
	seen   []time.Time // when each of the fact's keys was seen or typed
	status []string    // what the client's registry contained at the key "registry"
}

const never = "it never fired"

// after returns the events after the first one of that name.
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
	{question: "PreToolUse: updatedInput without permissionDecision", hooks: map[string][]string{"PreToolUse": says(specific("PreToolUse", `"updatedInput":{"command":"echo other-word","description":"d"}`))}, prompt: echo,
		expect: func(o *observedFact) string { return o.has(o.results(), "other-word", "applied", "ignored") }, want: "applied"},
	{question: "PreToolUse: permissionDecision deny, what fires after it", hooks: map[string][]string{"PreToolUse": says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"no"`))}, prompt: echo,
		expect: func(o *observedFact) string { return o.after("PreToolUse") }, want: "PostToolBatch, Stop, SessionEnd"},
	{question: "PreToolUse: additionalContext beside a deny", hooks: map[string][]string{"PreToolUse": says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"no","additionalContext":"beside-it"`))}, prompt: echo,
		expect: func(o *observedFact) string { return o.has(o.all(), "beside-it", "reaches the model", "lost") }, want: "reaches the model"},
	{question: "PreToolUse: systemMessage without a decision", hooks: map[string][]string{"PreToolUse": says(`{"systemMessage":"told-you"}`)}, prompt: echo,
		expect: func(o *observedFact) string {
			return o.has(o.transcript(), "told-you", "delivered", "lost") + ", " + o.has(o.results(), "spoken-word", "the call runs", "the call does not run")
		}, want: "delivered, the call runs"},
	{question: "PreToolUse: two denies", hooks: map[string][]string{"PreToolUse": {says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"reason-one"`))[0], says(specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"reason-two"`))[0]}}, prompt: echo,
		expect: func(o *observedFact) string {
			return fmt.Sprintf("%d of 2 reasons reach the model", strings.Count(o.has(o.results(), "reason-one", "1", "")+o.has(o.results(), "reason-two", "1", ""), "1"))
		}, want: "1 of 2 reasons reach the model"},
	{question: "PreToolUse: continue false, what fires after it", hooks: map[string][]string{"PreToolUse": says(`{"continue":false,"stopReason":"halted"}`)}, prompt: echo,
		expect: func(o *observedFact) string { return o.after("PreToolUse") }},
	{question: "PostToolUseFailure: decision block", hooks: map[string][]string{"PostToolUseFailure": says(`{"decision":"block","reason":"failed-reason"}`)}, prompt: "lab:bash false",
		expect: func(o *observedFact) string { return o.has(o.all(), "failed-reason", "reaches the model", "lost") }, want: "reaches the model"},
	{question: "PostToolUse: decision block", hooks: map[string][]string{"PostToolUse": says(`{"decision":"block","reason":"post-reason"}`)}, prompt: echo,
		expect: func(o *observedFact) string { return o.has(o.all(), "post-reason", "reaches the model", "lost") }, want: "reaches the model"},
	{question: "PostToolUse: updatedToolOutput that is a plain text", hooks: map[string][]string{"PostToolUse": says(specific("PostToolUse", `"updatedToolOutput":"replaced-output"`))}, prompt: echo,
		expect: func(o *observedFact) string { return o.has(o.results(), "replaced-output", "replaces it", "ignored") }},
	{question: "TaskCompleted: decision block", hooks: map[string][]string{"TaskCompleted": says(`{"decision":"block","reason":"not-done"}`)}, prompt: "lab:todo", keys: []string{"Tasks are done"},
		expect: func(o *observedFact) string {
			if o.after("TaskCompleted") == never {
				return "not measured: the lab's client has no such tool"
			}
			return o.has(o.all(), "not-done", "reaches the model", "lost")
		}},
	{question: "TaskCreated: decision block", hooks: map[string][]string{"TaskCreated": says(`{"decision":"block","reason":"no-task"}`)}, prompt: "lab:todo", keys: []string{"Tasks are done"},
		expect: func(o *observedFact) string {
			if o.after("TaskCreated") == never {
				return "not measured: the lab's client has no such tool"
			}
			return o.has(o.all(), "no-task", "reaches the model", "lost")
		}},
	{question: "UserPromptSubmit: decision block, what fires after it", hooks: map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no"}`)}, prompt: echo,
		expect: func(o *observedFact) string { return o.after("UserPromptSubmit") }},
	{question: "UserPromptSubmit: the prompt in the message of a block", hooks: map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no"}`)}, prompt: "lab:bash echo spoken-word",
		expect: func(o *observedFact) string { return o.has(o.out, "spoken-word", "shown", "not shown") }},
	{question: "the same, suppressOriginalPrompt at the top", hooks: map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no","suppressOriginalPrompt":true}`)}, prompt: "lab:bash echo spoken-word",
		expect: func(o *observedFact) string { return o.has(o.out, "spoken-word", "shown", "not shown") }},
	{question: "the same, suppressOriginalPrompt in hookSpecificOutput", hooks: map[string][]string{"UserPromptSubmit": says(`{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true}}`)}, prompt: "lab:bash echo spoken-word",
		expect: func(o *observedFact) string { return o.has(o.out, "spoken-word", "shown", "not shown") }},
	{question: "Stop: decision block, always", hooks: map[string][]string{"Stop": says(`{"decision":"block","reason":"go-on"}`)}, prompt: "lab:hi",
		expect: func(o *observedFact) string { return fmt.Sprintf("the model is asked %d times", len(o.asked())) }},
	{question: "Stop: additionalContext, once", hooks: map[string][]string{"Stop": {`if grep -q '"stop_hook_active":true'; then :; else printf '%s' '` + specific("Stop", `"additionalContext":"look-again"`) + `'; fi`}}, prompt: "lab:hi",
		expect: func(o *observedFact) string {
			return o.has(o.all(), "look-again", "the agent goes on with it", "it stops")
		}, want: "the agent goes on with it"},
	{question: "SessionStart: additionalContext", hooks: map[string][]string{"SessionStart": says(specific("SessionStart", `"additionalContext":"start-fact"`))}, prompt: "lab:hi",
		expect: func(o *observedFact) string { return o.has(o.all(), "start-fact", "reaches the model", "lost") }, want: "reaches the model"},
	{question: "PermissionRequest: behavior allow, what fires after it", hooks: map[string][]string{"PermissionRequest": says(specific("PermissionRequest", `"decision":{"behavior":"allow"}`))}, prompt: "lab:write a.txt", keys: []string{"Wrote the note"},
		expect: func(o *observedFact) string { return o.after("PermissionRequest") }},
	{question: "PermissionRequest: behavior deny, what fires after it", hooks: map[string][]string{"PermissionRequest": says(specific("PermissionRequest", `"decision":{"behavior":"deny","message":"not-here"}`))}, prompt: "lab:write a.txt", keys: []string{"Wrote the note"},
		expect: func(o *observedFact) string {
			return o.after("PermissionRequest") + "; the message " + o.has(o.all(), "not-here", "reaches the model", "is lost")
		}},
	{question: "PermissionRequest: updatedInput with allow", hooks: map[string][]string{"PermissionRequest": {`sed -n 's/.*"file_path":"\([^"]*\)a.txt".*/{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"file_path":"\1b.txt","content":"x"}}}}/p'`}}, prompt: "lab:write a.txt", keys: []string{"Wrote the note"},
		expect: func(o *observedFact) string {
			_, err := os.Stat(filepath.Join(o.l.Home.Project, "b.txt"))
			return map[bool]string{true: "applied", false: "ignored"}[err == nil]
		}, want: "applied"},
	{question: "PreCompact: decision block, what fires after it", hooks: map[string][]string{"PreCompact": says(`{"decision":"block","reason":"not-now"}`)}, prompt: "lab:hi", keys: []string{"Everything is done", "/compact", "not-now"},
		expect: func(o *observedFact) string { return o.after("PreCompact") }},
	{question: "a command past its timeout: what ends it", hooks: map[string][]string{"PreToolUse": {endings}}, prompt: echo, timeout: 1,
		expect: (*observedFact).endings},
	{question: "a command while it runs, after Esc: what ends it", hooks: map[string][]string{"PreToolUse": {endings}}, prompt: echo,
		keys: []string{"spoken-word", "Escape"}, expect: (*observedFact).endings},
	{question: "PermissionRequest: the dialog while a hook still runs", hooks: map[string][]string{"PermissionRequest": {slow}}, prompt: "lab:write a.txt", keys: []string{"Do you want to"},
		expect: func(o *observedFact) string {
			return map[bool]string{true: "is there already", false: "comes after it"}[o.seen[0].Before(o.over())]
		}},
	{question: "Stop: the client's registry while a hook still runs, and after it", hooks: map[string][]string{"Stop": {slow}}, prompt: "lab:hi", keys: []string{"Everything is done", "registry", "registry", "registry", "registry"},
		expect: func(o *observedFact) string { return o.status[0] + ", " + o.status[3] }},
	{question: "PreToolUse: killed by SIGABRT", hooks: map[string][]string{"PreToolUse": {"kill -ABRT $$"}}, prompt: echo, keys: []string{"It ran"}, expect: (*observedFact).killed},
	{question: "PreToolUse: killed by SIGSEGV", hooks: map[string][]string{"PreToolUse": {"kill -SEGV $$"}}, prompt: echo, keys: []string{"It ran"}, expect: (*observedFact).killed},
	{question: "PreToolUse: killed by SIGKILL", hooks: map[string][]string{"PreToolUse": {"kill -KILL $$"}}, prompt: echo, keys: []string{"It ran"}, expect: (*observedFact).killed},
	{question: "PreToolUse: killed by SIGABRT below a shell, which ends with 134", hooks: map[string][]string{"PreToolUse": {"sh -c 'kill -ABRT $$'; exit $?"}}, prompt: echo, keys: []string{"It ran"}, expect: (*observedFact).killed},
}

// killed returns what the client made of a hook that a signal ended. Beckon's hook relies on
// the call going on (package noblock).
func (o *observedFact) killed() string {
	if !strings.Contains(o.results(), "spoken-word") {
		o.Errorf("the call does not run\n%s", o.out)
	}
	_, told, _ := strings.Cut(o.out, "PreToolUse:Bash ")
	told, _, _ = strings.Cut(told, "\n")
	return fmt.Sprintf("the call runs, the screen says %q", strings.TrimSpace(told))
}

// endings records how a hook is ended: the signals that it gets, how long it lives on after
// them, in tenths of a second, and whether what it started outlives it.
const endings = `cd; echo > begun; for s in TERM HUP INT; do trap "echo $s >> endings" $s; done; (sleep 5; echo child-lived >> endings) & ` +
	`for i in $(seq 70); do sleep 0.1; test -s endings && echo tenth >> endings; done; echo lived >> endings`

// begun waits until that command runs.
func (o *observedFact) begun() (err error) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err = os.Stat(filepath.Join(o.l.Home.Dir, "begun")); err == nil {
			return nil
		}
	}
	return err
}

func (o *observedFact) endings() string {
	time.Sleep(9 * time.Second)
	data, err := os.ReadFile(filepath.Join(o.l.Home.Dir, "endings"))
	if err != nil {
		return err.Error()
	}
	var words []string
	tenths := 0
	for _, w := range strings.Fields(string(data)) {
		if w == "tenth" {
			tenths++
			continue
		}
		words = append(words, w)
	}
	return fmt.Sprintf("%s, and within %d s what cannot be caught", strings.Join(words, ", "), 1+tenths/10)
}

// slow takes three seconds and makes a file when they are over.
const slow = `cat >/dev/null; sleep 3; : > $HOME/over`

// over returns when that was.
func (o *observedFact) over() time.Time {
	time.Sleep(3 * time.Second)
	info, err := os.Stat(filepath.Join(o.l.Home.Dir, "over"))
	if err != nil {
		o.Fatal(err)
	}
	return info.ModTime()
}

// watched are the events that are recorded besides the one that is answered.
var watched = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
	"PostToolBatch", "Notification", "Stop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd", "TaskCreated", "TaskCompleted"}

// TestPolicyFacts measures them and writes testdata/lab/HOOKS.md.
func TestPolicyFacts(t *testing.T) {
	if !*matrix {
		t.Skip("part of the matrix: -matrix")
	}
	t.Parallel()
	answers := make([][]string, len(facts))
	t.Run("run", func(t *testing.T) {
		for v, version := range Pinned {
			Need(t, version)
			for i, f := range facts {
				answers[i] = append(answers[i], "") // until it is answered
				t.Run(version+"/"+f.question, func(t *testing.T) {
					t.Parallel()
					o := f.ask(t, version)
					answers[i][v] = f.expect(o)
					t.Log(answers[i][v])
					if f.want != "" && answers[i][v] != f.want {
						t.Errorf("%q, not %q; events %v\n%s", answers[i][v], f.want, o.events, o.out)
					}
				})
			}
		}
	})
	if slices.ContainsFunc(answers, func(row []string) bool { return slices.Contains(row, "") }) {
		return // only some were asked
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What the client makes of a hook's answer\n\nMeasured by `go test ./cmd/internal/suite -run TestPolicyFacts -matrix` on Linux; the questions are those that the client's documents leave open, and those that the session's state depends on.\n\n| answer of a hook | %s |\n|---|%s\n", strings.Join(Pinned, " | "), strings.Repeat("---|", len(Pinned)))
	for i, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.question, strings.Join(answers[i], " | "))
	}
	if err := os.WriteFile(filepath.Join(root, "testdata", "lab", "HOOKS.md"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ask asks a client the question.
func (f fact) ask(t testing.TB, version string) *observedFact {
	l := Start(t, version)
	log := filepath.Join(l.Home.Root, "events")
	if err := f.install(l, log); err != nil {
		t.Fatal(err)
	}
	o := &observedFact{shown: &shown{TB: t, l: l}}
	if f.keys == nil {
		o.out, _ = l.Home.Print(f.prompt) // its exit code is not part of the question
	} else {
		f.drive(o)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if line == "" {
			continue // on some versions a payload has its own line end
		}
		name := gjson.Get(line, "hook_event_name").Str
		if tool := gjson.Get(line, "tool_name").Str; tool != "" {
			name += " " + tool
		}
		o.events = append(o.events, name)
	}
	return o
}

// install writes the client's settings: a hook that records every event, and the answers.
func (f fact) install(l *Lab, log string) error {
	type entry map[string]any
	hooks := map[string][]entry{}
	note := entry{"type": "command", "command": "{ cat; echo; } >> " + log}
	for _, name := range watched {
		hooks[name] = []entry{{"hooks": []entry{note}}}
	}
	for name, commands := range f.hooks {
		for _, c := range commands {
			answer := entry{"type": "command", "command": c}
			if f.timeout > 0 {
				answer["timeout"] = f.timeout
			}
			hooks[name] = append(hooks[name], entry{"hooks": []entry{answer}})
		}
	}
	b, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.Home.Dir, ".claude", "settings.json"), b, 0o600)
}

// drive types the prompt, and each key once the text before it has been seen.
func (f fact) drive(o *observedFact) {
	pane, err := o.l.Tmux.StartClient("fact", o.l.Home.Args()...)
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
		case k == "Escape":
			if err = o.begun(); err == nil {
				err = pane.Key(k)
			}
		case k == "registry":
			time.Sleep(time.Second)
			for _, r := range o.l.Home.Registry() {
				o.status = append(o.status, r.Status)
			}
		default:
			err = pane.WaitFor(k, 20*time.Second)
		}
		o.seen = append(o.seen, time.Now())
	}
	if err != nil {
		o.Logf("%v\n%s", err, pane.Capture())
	}
	time.Sleep(2 * time.Second) // what fires late
	if pane != nil {
		o.out = pane.Capture()
	}
}
