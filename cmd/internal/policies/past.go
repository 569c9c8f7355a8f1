package policies

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/trust"
	"beckon/render"
	"beckon/render/term"

	"github.com/tidwall/gjson"
)

type pastCmd struct {
	Files   []string `arg:"" optional:"" help:"Transcripts, histories or recordings, or directories of them (default: all of your own)." type:"path"`
	Against string   `help:"Show only the calls that this policy file answers differently." type:"path" placeholder:"FILE"`
	Days    int      `help:"How many days of your own calls to look back." default:"30"`
	Limit   int      `short:"n" help:"How many calls to show of each kind." default:"3"`
	Start   bool     `name:"run" help:"Also start commands, servers and models (default: ask the built-in rules only)."`
	Client  string   `help:"Answer as for this version of the client, as 2.1.330." placeholder:"VERSION"`
}

// outcome is the calls with the same outcome.
type outcome struct {
	calls    int
	examples []string
}

// Run evaluates past calls under the policy, or under two, and prints the outcomes by the
// hooks that decide.
func (c *pastCmd) Run(a *cli.App, s policy.Sources) error {
	if c.Days < 1 {
		return cli.Usage("--days %d: must be at least 1", c.Days)
	}
	trials := []trial{newTrial(s, policy.Load(s).Hooks, c.Client, c.Start)}
	if c.Against != "" {
		against, err := hooksOf(c.Against)
		if err != nil {
			return err
		}
		trials = append(trials, newTrial(s, against, c.Client, c.Start))
	}
	for _, path := range c.Files {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("reading the past: %w", err)
		}
	}
	read := past{}
	paths := c.Files
	if len(paths) == 0 {
		read.since = time.Now().AddDate(0, 0, -c.Days)
		paths = []string{filepath.Join(a.ClaudeDir(), "projects"), filepath.Join(a.Store.Dir, "history")}
	}
	ctx, stop := interruptible()
	defer stop()
	calls, outcomes := 0, map[string]*outcome{}
	err := read.each(ctx, paths, func(x call) {
		calls++
		var words []string
		for _, t := range trials {
			_, r := t.of(ctx, x)
			words = append(words, decided(r))
		}
		if words = slices.Compact(words); len(words) == 1 && (c.Against != "" || words[0] == silent) {
			return
		}
		kind := strings.Join(words, " -> ")
		if outcomes[kind] == nil {
			outcomes[kind] = &outcome{}
		}
		o := outcomes[kind]
		if o.calls++; o.calls <= c.Limit {
			subject := trust.Kept(policy.SubjectOf(x.payload))
			o.examples = append(o.examples, fmt.Sprintf("%s %s: %s", x.when(), x.kind, subject))
		}
	})
	answered := 0
	for _, kind := range slices.SortedFunc(maps.Keys(outcomes), func(x, y string) int {
		return cmp.Or(outcomes[y].calls-outcomes[x].calls, strings.Compare(x, y))
	}) {
		o := outcomes[kind]
		answered += o.calls
		fmt.Fprintf(a.Stdout, "%s: %s\n", render.OneLine(kind), term.Plural(o.calls, "call"))
		printNotices(a, "    ", o.examples)
	}
	fmt.Fprintf(a.Stdout, "%d of %s answered", answered, term.Plural(calls, "call"))
	if c.Against != "" {
		fmt.Fprint(a.Stdout, " differently")
	}
	fmt.Fprintln(a.Stdout)
	if read.cut > 0 {
		fmt.Fprintf(a.Stdout, "%s left out: only the beginning was kept\n", term.Plural(read.cut, "call"))
	}
	if read.broken > 0 {
		fmt.Fprintf(a.Stdout, "%s could not be read\n", term.Plural(read.broken, "line"))
	}
	return err
}

// when returns when and where a call was made, as far as known.
func (c call) when() string {
	if c.at.IsZero() {
		return c.place
	}
	return c.at.Local().Format("2006-01-02 15:04") + " " + filepath.Base(cmp.Or(c.project, c.place))
}

// past reads the calls of earlier sessions: whole ones from the client's transcripts and from
// recordings, and from beckon's history one redacted line of each, so that a policy's answer to
// it is approximate.
type past struct {
	since time.Time // calls before it are skipped, and files last written before it

	cut    int // calls of which only the beginning is known
	broken int // lines that are not JSON
	seen   map[string]bool
}

// each calls do for the calls of the files, and of the files ending in .jsonl below the
// directories. A call in several files counts the first time. Missing files are skipped; after
// an error the others are read.
func (p *past) each(ctx context.Context, paths []string, do func(call)) (failed error) {
	p.seen = map[string]bool{}
	var files []string
	for _, root := range paths {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real // WalkDir does not follow its root
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if !errors.Is(err, fs.ErrNotExist) {
					failed = errors.Join(failed, err)
				}
				return nil
			}
			info, err := d.Info()
			named := path == root || strings.HasSuffix(path, ".jsonl")
			if err == nil && named && info.Mode().IsRegular() && !info.ModTime().Before(p.since) {
				files = append(files, path)
			}
			return nil
		})
	}
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
		if err := p.file(ctx, path, do); err != nil {
			failed = errors.Join(failed, fmt.Errorf("reading %s: %w", path, err))
		}
	}
	return failed
}

func (p *past) file(ctx context.Context, path string, do func(call)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const maxLine = 64 << 20 // a call may write a whole file
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 64<<10), maxLine)
	var began time.Time // of a recording
	for n := 1; in.Scan() && ctx.Err() == nil; n++ {
		line := gjson.ParseBytes(in.Bytes())
		if !line.IsObject() || !gjson.ValidBytes(in.Bytes()) {
			p.broken += min(len(bytes.TrimSpace(in.Bytes())), 1)
			continue
		}
		if line.Get("kind").Str == "start" {
			began = time.UnixMilli(line.Get("t0_epoch_ms").Int())
		}
		for _, c := range p.parse(line, began) {
			id := gjson.GetBytes(c.payload, "tool_use_id").Str
			again := id != "" && c.kind == event.PreToolUse && p.seen[id] // a resumed transcript repeats it
			c.place = fmt.Sprintf("%s:%d", path, n)
			if !again && (c.at.IsZero() || !c.at.Before(p.since)) {
				p.seen[id] = true
				do(c)
			}
		}
	}
	return errors.Join(in.Err(), ctx.Err())
}

// parse returns the calls of a line, depending on the kind of its file.
func (p *past) parse(line gjson.Result, began time.Time) (calls []call) {
	switch {
	case line.Get("t_ms").Exists():
		c := call{kind: event.ByName(line.Get("kind").Str), project: line.Get("env.CLAUDE_PROJECT_DIR").Str}
		if !began.IsZero() {
			c.at = began.Add(time.Duration(line.Get("t_ms").Int()) * time.Millisecond)
		}
		if payload := line.Get("payload"); c.kind != event.Unknown && payload.IsObject() {
			c.payload = []byte(payload.Raw)
			calls = append(calls, c)
		}
	case line.Get("message.content").IsArray():
		for _, block := range line.Get("message.content").Array() {
			if block.Get("type").Str == "tool_use" {
				cwd, at := line.Get("cwd").Str, line.Get("timestamp").Time()
				input := json.RawMessage(cmp.Or(block.Get("input").Raw, "{}"))
				calls = append(
					calls,
					toolCall(line.Get("sessionId").Str, cwd, at, block.Get("name").Str, block.Get("id").Str, input),
				)
			}
		}
	case line.Get("seq").Exists():
		return p.shortened(line.Get("event"), time.UnixMilli(line.Get("at").Int()))
	}
	return calls
}

// shortened returns the call of a line of history.
func (p *past) shortened(e gjson.Result, at time.Time) []call {
	tool, cwd := e.Get("tool.name").Str, e.Get("cwd").Str
	subject := strings.TrimPrefix(e.Get("tool.summary").Str, tool+": ")
	member := shownMember(tool)
	isFile := strings.HasSuffix(member, "path")
	switch {
	case e.Get("kind").Str != string(event.PreToolUse) || subject == "":
		return nil
	case !isFile && member != "command" && member != "url": // the rest of the input counts, too
		return nil
	case isFile && !slices.Contains([]string{"Write", "Edit", "MultiEdit", "Read", "NotebookEdit"}, tool):
		return nil
	case strings.Contains(subject, "…"): // it was cut
		p.cut++
		return nil
	case isFile && cwd != "" && !filepath.IsAbs(subject):
		subject = filepath.Join(cwd, subject)
	}
	input := map[string]string{member: subject}
	return []call{toolCall(e.Get("session_id").Str, cwd, at, tool, e.Get("tool.id").Str, input)}
}

func toolCall(session, cwd string, at time.Time, tool, id string, input any) call {
	members := map[string]any{"tool_name": tool, "tool_use_id": id, "tool_input": input}
	payload, err := payloadOf(event.PreToolUse, session, cwd, members)
	if err != nil {
		payload = []byte("{}")
	}
	return call{kind: event.PreToolUse, payload: payload, at: at, project: cwd}
}
