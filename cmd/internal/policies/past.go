package policies

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
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
	ctx, stop := interruptible()
	defer stop()
	calls, answered, answers := 0, 0, map[string][]string{}
	err = read.each(ctx, path, func(x call) {
		calls++
		if word, hooks := decided(trial(ctx, s, hooks, x)); word != "pass" {
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
func (p *past) each(ctx context.Context, root string, do func(call)) (failed error) {
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
			err = p.file(ctx, path, do)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
		return ctx.Err()
	})
	return errors.Join(failed, ctx.Err())
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
	for n := 1; in.Scan() && ctx.Err() == nil; n++ {
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
				do(call{ev, fmt.Sprintf("%s:%d", path, n)})
			}
		}
	}
	if in.Err() != nil {
		return fmt.Errorf("reading %s: %w", path, in.Err())
	}
	return nil
}
