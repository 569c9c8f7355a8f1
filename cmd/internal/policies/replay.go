package policies

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/past"
	handlers "beckon/event/policy/run"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
	"beckon/render/term"
)

type replayCmd struct {
	Files   []string `arg:"" optional:"" help:"Transcripts, histories, traces or recordings, or directories of them (default: all of your own)." type:"path"`
	Against string   `help:"Compare with this policy file: show only the calls that the two answer differently." type:"path" placeholder:"FILE"`
	Days    int      `help:"How many days of your own calls to look back." default:"30"`
	N       int      `short:"n" help:"How many calls to show of each kind." default:"3"`
	Start   bool     `name:"run" help:"Also start commands, servers and models (default: ask the built-in rules only)."`
	Client  string   `help:"Answer as for this version of the client, as 2.1.330." placeholder:"VERSION"`
}

// Run evaluates past calls under the policy, or under two, and prints the outcomes by the
// hooks that decide.
func (c *replayCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Days < 1 {
		return cli.Usage("--days %d: must be at least 1", c.Days)
	}
	r := replay{replayCmd: c, home: s.Home, environ: handlers.Inside(os.Environ(), s.State), kinds: map[string]*replayed{},
		engines: []policy.Engine{{Hooks: policy.Load(s).Hooks}}}
	if c.Against != "" {
		against, err := hooksOf(c.Against)
		if err != nil {
			return err
		}
		r.engines = append(r.engines, policy.Engine{Hooks: against})
	}
	ctx, stop := interruptible()
	defer stop()
	read := past.Reader{Progress: a.Progress()}
	paths := c.Files
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("reading the past: %w", err)
		}
	}
	if len(paths) == 0 {
		read.Since = time.Now().AddDate(0, 0, -c.Days)
		paths = []string{filepath.Join(a.ClaudeDir(), "projects"), filepath.Join(a.Store.Dir, "history"), filepath.Join(a.Store.Dir, "journal"), s.State.Path("trace.jsonl"), s.State.Path("trace.jsonl.1")}
	}
	for call := range read.Calls(ctx, paths...) {
		r.add(ctx, call)
	}
	r.print(a, &read)
	return read.Err()
}

// replay is one run of the command.
type replay struct {
	*replayCmd
	home    string
	environ []string // of what is started
	engines []policy.Engine
	calls   int
	kinds   map[string]*replayed // by outcome
}

// replayed are the calls with the same outcome.
type replayed struct {
	calls    int
	examples []string
}

func (r *replay) add(ctx context.Context, call past.Call) {
	r.calls++
	var words []string
	for _, e := range r.engines {
		handlers.Starter{}.Prepare(e.Hooks, call.Kind, r.environ, "")
		words = append(words, decided(e.Trigger(ctx, policy.Event{Kind: call.Kind, Payload: call.Payload, At: call.At, ID: "evt_replay",
			ProjectDir: call.Project, Home: r.home, Version: r.Client, RulesOnly: !r.Start, Why: "only rules are asked"})))
	}
	kind := words[0]
	if len(words) > 1 {
		if words[0] == words[1] {
			return
		}
		kind += " -> " + words[1]
	} else if kind == silent {
		return
	}
	k := r.kinds[kind]
	if k == nil {
		k = &replayed{}
		r.kinds[kind] = k
	}
	if k.calls++; k.calls <= r.N {
		k.examples = append(k.examples, fmt.Sprintf("%s %s: %s", place(call), call.Kind, trust.Kept(policy.SubjectOf(call.Payload))))
	}
}

// place returns when and where a call was made, as far as known.
func place(c past.Call) string {
	if c.At.IsZero() {
		return c.Place
	}
	return c.At.Local().Format("2006-01-02 15:04") + " " + filepath.Base(cmp.Or(c.Project, c.Place))
}

// silent is what decided returns if no hook decides.
const silent = "silent"

// decided returns a policy's decision on a call, and the hooks that made it.
func decided(r policy.Result) string {
	d := r.Verdict.Decision
	var by []string
	for _, h := range r.Results {
		o := h.Outcome.Decision
		if h.Ran && !h.Hook.Observe && o != wire.Silence && (o == d || o == wire.Block && d == wire.Deny || d == wire.Silence) {
			by = append(by, h.Hook.Name())
		}
	}
	word := string(d)
	switch {
	case word == "" && r.Verdict.Input != nil:
		word = "rewrite"
	case word == "" && len(r.Answer.Stdout) == 0:
		return silent
	case word == "":
		word = "text"
	}
	return strings.TrimSpace(word + " " + strings.Join(by, ", "))
}

func (r *replay) print(a *cli.App, read *past.Reader) {
	shown := 0
	for _, kind := range slices.SortedFunc(maps.Keys(r.kinds), func(x, y string) int {
		return cmp.Or(r.kinds[y].calls-r.kinds[x].calls, strings.Compare(x, y))
	}) {
		k := r.kinds[kind]
		shown += k.calls
		fmt.Fprintf(a.Stdout, "%s: %s\n", render.OneLine(kind), term.Plural(k.calls, "call"))
		for _, e := range k.examples {
			fmt.Fprintf(a.Stdout, "    %s\n", render.OneLine(e))
		}
	}
	what := "answered"
	if len(r.engines) > 1 {
		what = "answered differently"
	}
	fmt.Fprintf(a.Stdout, "%d of %s %s\n", shown, term.Plural(r.calls, "call"), what)
	if read.Cut > 0 {
		fmt.Fprintf(a.Stdout, "%s left out: only the beginning was kept\n", term.Plural(read.Cut, "call"))
	}
	if read.Broken > 0 {
		fmt.Fprintf(a.Stdout, "%s could not be read\n", term.Plural(read.Broken, "line"))
	}
}
