package policies

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/run"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
	"beckon/render/term"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
)

type testCmd struct {
	File    string `arg:"" optional:"" help:"The client's payload as JSON (- reads stdin), a test file, or a directory of test files (*.policytest.txtar)." type:"path"`
	Tool    string `help:"With --command and --path: the tool (default: Bash, for a path Read)." placeholder:"TOOL"`
	Command string `help:"Instead of a file: a command that the agent would run." placeholder:"COMMAND"`
	Path    string `help:"Instead of a file: a file that the agent would read, with --tool Edit change." placeholder:"FILE"`
	Policy  string `help:"Use this policy file instead of those in force here." type:"path" placeholder:"FILE"`
	Past    bool   `help:"Instead: evaluate the rules on the calls of the last 30 days, or of FILE or directory."`
}

// call is an event to evaluate.
type call struct {
	policy.Event
	place    string // the file and line that it is from
	decision string // that a test expects
	text     string // of a test: the tool and its input, as written
}

// trial evaluates a call, whose answer nobody gets.
func trial(ctx context.Context, s policy.Sources, hooks []*config.Hook, c call) policy.Result {
	c.ID, c.Home = "evt_test", s.Home
	engine := policy.Engine{Hooks: hooks}
	if c.Skip == "" {
		engine.Start = run.Starter{}.Start(run.Inside(os.Environ(), s.State), "")
	}
	return engine.Trigger(ctx, c.Event)
}

// onlyRules is why a call of a test or of the past starts nothing.
const onlyRules = "only rules are asked"

// hooks returns those of --policy, else those in force, with what is to be known of these.
func (c *testCmd) hooks(s policy.Sources) ([]*config.Hook, []string, error) {
	if c.Policy != "" {
		read, err := decodeFile(c.Policy, config.Global)
		return read, nil, err
	}
	loaded := policy.Load(s)
	return loaded.Hooks, loaded.Notices(), nil
}

func (c *testCmd) Run(a *cli.App, s policy.Sources) error {
	info, err := os.Stat(c.File)
	switch {
	case c.Past:
		return c.past(a, s)
	case strings.HasSuffix(c.File, suffix), err == nil && info.IsDir():
		return c.testFiles(a, s)
	}
	payload, err := c.payload(a)
	if err != nil {
		return err
	}
	e, err := event.Parse("", "", payload)
	if err != nil {
		return err
	}
	if e.Kind == event.Unknown {
		return cli.Usage("no such event %q", e.Name)
	}
	hooks, notices, err := c.hooks(s)
	if err != nil {
		return err
	}
	// Programs in a session of their own do not get Ctrl-C.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	now := policy.Event{Kind: e.Kind, Payload: payload, At: time.Now(), ProjectDir: trust.ProjectOf(s.Project)}
	r := trial(ctx, s, hooks, call{Event: now})
	printNotices(a, "note: ", notices)
	printResult(a, r, e.Tool.Name)
	return nil
}

// payload returns the file's payload, or one built from the flags.
func (c *testCmd) payload(a *cli.App) ([]byte, error) {
	switch {
	case c.File == "-":
		return io.ReadAll(a.Stdin)
	case c.File != "":
		b, err := os.ReadFile(c.File)
		if err != nil {
			return nil, fmt.Errorf("reading payload: %w", err)
		}
		return b, nil
	case c.Command == "" && c.Path == "":
		return nil, cli.Usage("say what to try: a file, --command or --path")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	tool, input := "Bash", c.Command
	if c.Command == "" {
		tool, input = "Read", c.Path
	}
	return toolCall("test", dir, cmp.Or(c.Tool, tool), "toolu_test", input)
}

// toolCall returns the payload of a tool call. Its input is an object, or the text that people name the call by.
func toolCall(session, cwd, tool, use, input string) ([]byte, error) {
	members := map[string]any{"tool_name": tool, "tool_use_id": use, "tool_input": json.RawMessage(input)}
	if !strings.HasPrefix(input, "{") {
		members["tool_input"] = map[string]string{cmp.Or(shown[tool], "file_path"): input}
	}
	return payloadOf(event.PreToolUse, session, cwd, members)
}

// payloadOf returns an event's payload: members are those of its kind.
func payloadOf(k event.Kind, session, cwd string, members map[string]any) ([]byte, error) {
	members["hook_event_name"], members["session_id"], members["cwd"] = string(k), session, cwd
	return wire.Encode(members)
}

// shown are the members of the tools' inputs that people name a call by, where that is not file_path.
var shown = map[string]string{
	"Bash":         "command",
	"PowerShell":   "command",
	"Monitor":      "command",
	"NotebookEdit": "notebook_path",
	"WebFetch":     "url",
	"WebSearch":    "query",
	"Grep":         "pattern",
	"Glob":         "pattern",
	"Agent":        "prompt",
	"Task":         "prompt",
	"Skill":        "skill",
}

// printResult prints what each hook said and what the client would get.
func printResult(a *cli.App, r policy.Result, tool string) {
	if len(r.Results) == 0 {
		fmt.Fprintln(a.Stdout, "no hook matches")
	}
	for _, h := range r.Results {
		if !h.Notable() && h.Skipped == "" && (h.Hook.Level == config.Own || !h.Hook.Matcher.Match(tool)) {
			continue // a rule that ran a second time, to be sure
		}
		fmt.Fprintf(a.Stdout, "%-28s %s\n", render.OneLine(h.Hook.Name()), render.OneLine(said(policy.Traced(h))))
	}
	printNotices(a, "note: ", append(r.Notes, r.Warnings...))
	if len(r.Answer.Stdout) == 0 && r.Answer.ExitCode == 0 {
		fmt.Fprintln(a.Stdout, "the client gets: nothing, so it goes its usual way")
		return
	}
	fmt.Fprintf(a.Stdout, "the client gets: exit code %d\n%s", r.Answer.ExitCode, r.Answer.Stdout)
	if len(r.Answer.Stderr) > 0 {
		fmt.Fprintf(a.Stdout, "on stderr: %s\n", render.OneLine(string(r.Answer.Stderr)))
	}
}

// decided returns a result in the words of a test, and the hooks that made it.
func decided(r policy.Result) (word string, by []string) {
	d := r.Verdict.Decision
	for _, h := range r.Results {
		o := h.Outcome.Decision
		joins := o != wire.Silence && o == d || o == wire.Warn && d == wire.Silence
		if h.Skipped == "" && !h.Hook.Observe && joins {
			by = append(by, h.Hook.Name())
		}
	}
	switch {
	case d != wire.Silence:
		return string(d), by
	case len(by) > 0:
		return "warn", by
	}
	return "pass", nil
}

// testFiles runs the test files at the path, or below it.
func (c *testCmd) testFiles(a *cli.App, s policy.Sources) error {
	passed, failed, files := 0, 0, 0
	err := filepath.WalkDir(c.File, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		files++
		ok, bad, err := c.testFile(a, s, path)
		passed, failed = passed+ok, failed+bad
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("running policy tests: %w", err)
	case files == 0:
		return cli.Hint("test files end in "+suffix+": beckon help policy", "no policy tests in %s", c.File)
	}
	fmt.Fprintf(a.Stdout, "%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		printNotices(a, "note: ", policy.Load(s).Notices()) // perhaps that is why
		return cli.ErrSilent
	}
	return nil
}

func (c *testCmd) testFile(a *cli.App, s policy.Sources, path string) (passed, failed int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	project := trust.ProjectOf(s.Project)
	own, cases, err := parseCases(data, project)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	hooks, _, err := c.hooks(s)
	if own != nil {
		hooks, err = config.Decode(path+":policy.json", config.Global, own, false)
	}
	if err != nil {
		return 0, 0, err
	}
	for _, x := range cases {
		got, by := decided(trial(context.Background(), s, hooks, x))
		if x.decision == got {
			passed++
			continue
		}
		failed++
		got = render.OneLine(strings.TrimSpace(got + " " + strings.Join(by, ", ")))
		fmt.Fprintf(a.Stdout, "%s:%s: %s: want %s, got %s\n", path, x.place, render.OneLine(x.text), x.decision, got)
	}
	return passed, failed, nil
}

// suffix ends the name of a test file: a txtar archive. Its file "cases" has one call per line, in the form
// DECISION TOOL INPUT. INPUT is the call's command, file, URL or pattern as it is, a quoted Go string, or the
// whole tool_input as a JSON object. Instead of TOOL the line may name an event, whose prompt INPUT is. A file
// "policy.json" in the archive is the policy under test; without one it is the policy in force.
const suffix = ".policytest.txtar"

// decisions are the words that a case may expect. pass is no decision.
var decisions = []string{"deny", "ask", "allow", "warn", "pass"}

// parseCases parses a test file, whose calls are made in cwd. policy is nil if the file has none.
func parseCases(data []byte, cwd string) (policy []byte, cases []call, err error) {
	files := map[string][]byte{}
	for _, part := range txtar.Parse(data).Files {
		files[part.Name] = part.Data
	}
	list, there := files["cases"]
	if !there {
		return nil, nil, errors.New(`line 1: no file "-- cases --" in the archive`)
	}
	before, _, _ := strings.Cut("\n"+string(data), "\n-- cases --")
	line := 1 + strings.Count(before, "\n")
	for text := range strings.Lines(string(list)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		c, err := parseCase(text, cwd)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		c.place = strconv.Itoa(line)
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, nil, fmt.Errorf("line %d: no cases", line)
	}
	return files["policy.json"], cases, nil
}

func parseCase(text, cwd string) (c call, err error) {
	decision, rest := word(text)
	tool, input := word(rest)
	c = call{Event: policy.Event{ProjectDir: cwd, Skip: onlyRules}, decision: decision, text: tool + ": " + input}
	if !slices.Contains(decisions, decision) {
		return c, fmt.Errorf("%q is not a decision (one of %s)", decision, strings.Join(decisions, ", "))
	}
	if tool == "" || input == "" {
		return c, fmt.Errorf("a case is DECISION TOOL INPUT, as in: deny Bash git push --force")
	}
	if input[0] == '"' {
		s, err := strconv.Unquote(input)
		if err != nil {
			return c, fmt.Errorf("the quoted input %s: %w", input, err)
		}
		input = s
	}
	if c.Kind = event.ByName(tool); c.Kind != event.Unknown {
		c.Payload, err = payloadOf(c.Kind, "policytest", cwd, map[string]any{"prompt": input})
	} else {
		c.Kind = event.PreToolUse
		c.Payload, err = toolCall("policytest", cwd, tool, "policytest", input)
	}
	if err != nil {
		return c, fmt.Errorf("the input %s is not valid JSON", input)
	}
	return c, nil
}

func word(s string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	return first, strings.TrimSpace(rest)
}

const (
	pastDays = 30
	examples = 3 // how many calls are shown of each kind
)

// past evaluates the calls in the client's transcripts, and prints those that the policy answers.
func (c *testCmd) past(a *cli.App, s policy.Sources) error {
	hooks, _, err := c.hooks(s)
	if err != nil {
		return err
	}
	read, path := past{}, c.File
	if path == "" {
		read.since, path = time.Now().AddDate(0, 0, -pastDays), filepath.Join(a.ClaudeDir(), "projects")
	} else if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("reading the past: %w", err)
	}
	calls, answered, answers := 0, 0, map[string][]string{}
	err = read.each(path, func(x call) {
		calls++
		if word, hooks := decided(trial(context.Background(), s, hooks, x)); word != "pass" {
			answered++
			by := word + " " + strings.Join(hooks, ", ")
			when := x.At.Local().Format("2006-01-02 15:04") + " " + filepath.Base(cmp.Or(x.ProjectDir, x.place))
			subject := trust.Kept(policy.SubjectOf(x.Payload))
			answers[by] = append(answers[by], fmt.Sprintf("%s %s: %s", when, x.Kind, subject))
		}
	})
	for _, by := range slices.SortedFunc(maps.Keys(answers), func(x, y string) int {
		return cmp.Or(len(answers[y])-len(answers[x]), strings.Compare(x, y))
	}) {
		fmt.Fprintf(a.Stdout, "%s: %s\n", render.OneLine(by), term.Plural(len(answers[by]), "call"))
		printNotices(a, "    ", answers[by][:min(examples, len(answers[by]))])
	}
	fmt.Fprintf(a.Stdout, "%d of %s answered\n", answered, term.Plural(calls, "call"))
	if read.broken > 0 {
		fmt.Fprintf(a.Stdout, "%s could not be read\n", term.Plural(read.broken, "line"))
	}
	return err
}

// past reads the calls of earlier sessions from the client's transcripts.
type past struct {
	since  time.Time // calls before it are skipped, and files last written before it
	broken int       // lines that are not JSON
	seen   map[string]bool
}

// each calls do for the calls of a file, or of the files ending in .jsonl below a directory. A call
// in several files counts the first time. After an error the other files are read.
func (p *past) each(root string, do func(call)) (failed error) {
	p.seen = map[string]bool{}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // WalkDir does not follow its root
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if err == nil && info.Mode().IsRegular() && !info.ModTime().Before(p.since) &&
			(path == root || strings.HasSuffix(path, ".jsonl")) {
			err = p.file(path, do)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
		return nil
	})
	return failed
}

func (p *past) file(path string, do func(call)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const maxLine = 64 << 20 // a call may write a whole file
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; in.Scan(); n++ {
		line := gjson.ParseBytes(in.Bytes())
		if !line.IsObject() || !gjson.ValidBytes(in.Bytes()) {
			p.broken += min(len(bytes.TrimSpace(in.Bytes())), 1)
			continue
		}
		for _, block := range line.Get("message.content").Array() {
			id, at := block.Get("id").Str, line.Get("timestamp").Time()
			if block.Get("type").Str != "tool_use" || id != "" && p.seen[id] || at.Before(p.since) {
				continue // a resumed transcript repeats it
			}
			p.seen[id] = true
			cwd := line.Get("cwd").Str
			name, input := block.Get("name").Str, cmp.Or(block.Get("input").Raw, "{}")
			payload, err := toolCall(line.Get("sessionId").Str, cwd, name, id, input)
			if err == nil {
				ev := policy.Event{Kind: event.PreToolUse, Payload: payload, At: at, ProjectDir: cwd, Skip: onlyRules}
				do(call{Event: ev, place: fmt.Sprintf("%s:%d", path, n)})
			}
		}
	}
	if in.Err() != nil {
		return fmt.Errorf("reading %s: %w", path, in.Err())
	}
	return nil
}
