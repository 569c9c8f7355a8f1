package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/config"
	handlers "beckon/event/policy/run"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
	"beckon/render/term"
)

type testCmd struct {
	File    string `arg:"" optional:"" help:"The client's payload as JSON (- reads stdin), a test file, or a directory of test files (*.policytest.txtar)." type:"path"`
	Event   string `help:"Instead of a file: the event, as PreToolUse." placeholder:"EVENT"`
	Tool    string `help:"With --event: the tool, as Bash." placeholder:"TOOL"`
	Command string `help:"With --event: the command that the tool runs." placeholder:"COMMAND"`
	Path    string `help:"With --event: the file that the tool works on." placeholder:"FILE"`
	Prompt  string `help:"With --event: the prompt." placeholder:"TEXT"`
	Policy  string `help:"Use this policy file instead of those in force here." type:"path" placeholder:"FILE"`
	Client  string `help:"Answer as for this version of the client, as 2.1.330." placeholder:"VERSION"`
	Rules   bool   `help:"Start nothing: ask the built-in rules only."`
	Past    bool   `help:"Instead: evaluate the rules on the calls of the last 30 days, or of FILE or directory."`
	Against string `help:"With --past: show only the calls that this policy file answers differently." type:"path" placeholder:"FILE"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *testCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Past {
		r := replayCmd{Against: c.Against, Days: 30, N: 3, Client: c.Client}
		if c.File != "" {
			r.Files = []string{c.File}
		}
		return r.Run(a, s)
	}
	if isCases(c.File) {
		return c.testCases(a, s)
	}
	payload, err := c.payload(a)
	if err != nil {
		return err
	}
	e, err := event.Parse("", c.Event, payload)
	if err != nil {
		return err
	}
	if e.Kind == event.Unknown {
		return cli.Usage("no such event %q", e.Name)
	}
	loaded := policy.Load(s)
	if c.Policy != "" {
		loaded = policy.Loaded{}
		if loaded.Hooks, err = hooksOf(c.Policy); err != nil {
			return err
		}
	}
	ev := policy.Event{Kind: e.Kind, Payload: payload, At: time.Now(), ID: "evt_test", Version: c.Client, Home: s.Home,
		ProjectDir: trust.ProjectOf(s.Project), RulesOnly: c.Rules, Why: "only rules are asked"}
	handlers.Starter{}.Prepare(loaded.Hooks, e.Kind, handlers.Inside(os.Environ(), s.State), "")
	ctx, stop := interruptible()
	defer stop()
	r := policy.Engine{Hooks: loaded.Hooks}.Trigger(ctx, ev)
	if c.JSON {
		return cli.WriteJSON(a.Stdout, policy.EntryOf(ev, r))
	}
	for _, n := range loaded.Notices() {
		fmt.Fprintf(a.Stdout, "note: %s\n", render.OneLine(n))
	}
	tried(a, r, e.Tool.Name)
	return nil
}

// interruptible returns a context that ends on Ctrl-C: programs that a policy starts have a
// session of their own, which the terminal's signals do not reach.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	case c.Event == "":
		return nil, cli.Usage("neither a file nor --event is given")
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	kind := event.ByName(c.Event)
	p := map[string]any{"session_id": "test", "hook_event_name": string(kind), "cwd": dir, "permission_mode": "default"}
	input := map[string]string{}
	if c.Command != "" {
		input["command"] = c.Command
	}
	if c.Path != "" {
		input["file_path"] = c.Path
	}
	if c.Tool != "" || len(input) > 0 {
		p["tool_name"], p["tool_input"], p["tool_use_id"] = c.Tool, input, "toolu_test"
	}
	if c.Prompt != "" {
		p["prompt"] = c.Prompt
	}
	return json.Marshal(p)
}

// tried prints what each hook said and what the client would get.
func tried(a *cli.App, r policy.Result, tool string) {
	if len(r.Results) == 0 {
		fmt.Fprintln(a.Stdout, "no hook matches")
	}
	for _, h := range r.Results {
		if !h.Notable() && h.Ran && (h.Hook.Level == config.Own || !h.Hook.Matcher.Match(tool)) {
			continue // a rule that ran a second time, to be sure
		}
		text := said(h)
		if h.Hook.Observe && h.Ran {
			text = "not heard: " + text
		}
		fmt.Fprintf(a.Stdout, "%-28s %s\n", render.OneLine(h.Hook.Name()), render.OneLine(text))
	}
	for _, n := range append(r.Notes, r.Warnings...) {
		fmt.Fprintf(a.Stdout, "note: %s\n", render.OneLine(n))
	}
	if len(r.Answer.Stdout) == 0 && r.Answer.ExitCode == 0 {
		fmt.Fprintln(a.Stdout, "the client gets: nothing, so it goes its usual way")
		return
	}
	fmt.Fprintf(a.Stdout, "the client gets: exit code %d\n", r.Answer.ExitCode)
	fmt.Fprintf(a.Stdout, "%s", r.Answer.Stdout)
	if len(r.Answer.Stderr) > 0 {
		fmt.Fprintf(a.Stdout, "on stderr: %s\n", render.OneLine(string(r.Answer.Stderr)))
	}
}

// said returns one hook's answer in words.
func said(h policy.HookResult) string {
	o := h.Outcome
	switch {
	case !h.Ran:
		return "left out: " + h.Skipped
	case h.Failed != nil:
		return "did not work: " + h.Failed.Error() + " (fails " + h.Hook.FailMode() + ")"
	case h.Rewrote != nil:
		return "rewrites: " + string(h.Rewrote)
	case o.Decision == wire.Silence:
		return "says nothing"
	case o.Reason != "":
		return string(o.Decision) + ": " + o.Reason
	}
	return string(o.Decision)
}

type traceCmd struct {
	N       int    `short:"n" help:"How many of the newest decisions to show." default:"20"`
	Session string `help:"Only the session whose id begins so." placeholder:"ID"`
	Call    string `help:"Only the call with this tool_use_id." placeholder:"ID"`
	Refused bool   `help:"Only what was refused or asked."`
	JSON    bool   `name:"json" help:"Print JSON, one line each."`
}

func (c *traceCmd) Run(a *cli.App, s policy.Sources) error {
	entries, err := s.State.Entries(c.N, func(e trust.Entry) bool {
		return strings.HasPrefix(e.Session, c.Session) && (c.Call == "" || e.ToolUseID == c.Call) &&
			(!c.Refused || e.Decision == wire.Deny || e.Decision == wire.Ask)
	})
	if err != nil {
		return fmt.Errorf("reading the trace: %w", err)
	}
	if c.JSON {
		for _, e := range entries {
			if err := cli.WriteJSONLine(a.Stdout, e); err != nil {
				return err
			}
		}
		return nil
	}
	if len(entries) == 0 {
		_, err := fmt.Fprintln(a.Stdout, "no decision of a policy is recorded that fits")
		return err
	}
	now := time.Now()
	for _, e := range entries {
		traced(a, e, now)
	}
	return nil
}

func traced(a *cli.App, e trust.Entry, now time.Time) {
	what := e.Event
	if e.Tool != "" {
		what += " " + e.Tool
	}
	fmt.Fprintf(a.Stdout, "%4s %-5s %s: %s\n", term.Age(now.Sub(e.At)), cmp.Or(e.Decision, "-"), render.OneLine(what), render.OneLine(e.Subject))
	for _, h := range e.Hooks {
		text := string(h.Decision)
		switch {
		case h.Skipped != "":
			text = "left out: " + h.Skipped
		case h.Error != "":
			text = "did not work: " + h.Error
		case h.Reason != "":
			text += ": " + h.Reason
		case text == "":
			text = "says nothing"
		}
		if h.Observed {
			text = "not heard: " + text
		}
		fmt.Fprintf(a.Stdout, "           %s: %s (%.1f ms)\n", render.OneLine(h.Hook), render.OneLine(text), float64(h.Us)/1000)
		if h.Rewrote != "" {
			fmt.Fprintf(a.Stdout, "           %s: rewrites to %s\n", render.OneLine(h.Hook), render.OneLine(h.Rewrote))
		}
	}
	for _, n := range e.Notes {
		fmt.Fprintf(a.Stdout, "           %s\n", render.OneLine(n))
	}
}
