// Package card shows a request (package state/request) so that a person can judge it: the command
// line by line, the change to a file as a diff, everything else in the call, and where it
// would happen. Nothing in it can affect a terminal or hide: characters that do not print are
// spelled out, as in "‹U+202E›".
//
// A card that is not Whole must not be allowed from anywhere but the session, because nobody
// saw all of it.
package card

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event/plainfile"
	"beckon/state/evidence"
	"beckon/state/request"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"
)

// Kind says how to draw a line.
type Kind string

// The kinds of lines.
const (
	Text   Kind = "text"
	Head   Kind = "head"   // a heading for what follows
	Note   Kind = "note"   // beckon's own words
	Add    Kind = "add"    // of a diff
	Delete Kind = "delete" // of a diff
	Hunk   Kind = "hunk"   // of a diff
)

// Colors are the SGR parameters that show the kinds of lines in a terminal.
var Colors = map[Kind]string{Add: "32", Delete: "31", Hunk: "36", Note: "2", Head: "1"}

// Line is one line of a card. Its text is printable.
type Line struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// Card is a request as shown.
type Card struct {
	Title string `json:"title"` // one line: "Bash", "Edit main.go", "2 questions"
	// Where the call would happen: directory, host and branch, each printable.
	Dir    string `json:"dir,omitempty"`
	Host   string `json:"host,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Agent is the subagent that asks, empty for the session itself.
	Agent string `json:"agent,omitempty"`
	Lines []Line `json:"lines"`
	// Plan is how many of Lines are a plan, in Markdown.
	Plan int `json:"plan,omitempty"`
	// Always are the suggestions of Answer.Always in words; the first is number 1.
	Always []string `json:"always,omitempty"`
	// Questions are a question's questions, printable, in the order of request.Choices.
	Questions []request.Choice `json:"questions,omitempty"`
	// Whole is set if the lines show the whole call; else Why says what is missing.
	Whole bool   `json:"whole"`
	Why   string `json:"why,omitempty"`
}

// Request is a request with its card, and the name of its session, if known.
type Request struct {
	request.Request
	Name string `json:"name"`
	Card Card   `json:"card"`
}

// Open returns the open requests with their cards, oldest first.
func Open(d request.Dir) (list []Request, err error) {
	all, err := d.List(time.Now())
	host := evidence.ThisMachine().Host
	for i := range all {
		list = append(list, Request{Request: all[i], Card: Of(&all[i], host)})
	}
	return list, err
}

// ShortID returns the beginning of the id, for people to type.
func (r *Request) ShortID() string { return r.ID[:5] }

// Answer gives the user's answer to the request as it is shown, and says in a line what that did.
func (r *Request) Answer(d request.Dir, a request.Answer, unlock request.Unlock) (did string, err error) {
	if err = r.Card.May(a.Word); err == nil {
		did, err = d.Answer(&r.Request, a, unlock)
	}
	what := r.Card.Title
	if r.Name != "" {
		what += " in " + Line1(r.Name)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if a.Always > 0 {
		what += "; " + r.Card.Always[a.Always-1]
	}
	return did + ": " + what, nil
}

// May returns an error for an answer that would allow what the card does not show whole.
func (c *Card) May(w request.Word) error {
	if w == request.Allow && !c.Whole {
		return fmt.Errorf("not all of it can be shown (%s): allow it at its session", c.Why)
	}
	return nil
}

// Limits on what counts as shown whole: nobody reads more.
const (
	maxLines = 2000
	maxBytes = 256 << 10
	maxFile  = 4 << 20 // of a file that a call changes
)

// Of returns the card of a request. It reads the files that the call would change on this host.
func Of(o *request.Request, host string) Card {
	b := builder{of: o, files: o.Host == host, Card: Card{
		Dir:    Line1(o.Cwd),
		Host:   Line1(o.Host),
		Branch: Line1(o.Branch),
		Agent:  Line1(o.Type),
		Title:  Line1(o.Tool),
		Whole:  true,
	}}
	in := gjson.ParseBytes(o.Input())
	switch o.Kind {
	case request.Question:
		b.questions()
	case request.Plan:
		b.plan(in)
	case request.Reply:
		b.Title = "a reply"
		b.note("the turn is over: what you say is its next prompt")
	default:
		b.call(in)
		for _, s := range o.Suggestions() {
			b.Always = append(b.Always, Line1(Suggestion(s)))
		}
	}
	size := 0
	for _, l := range b.Lines {
		size += len(l.Text) + 1
	}
	if len(b.Lines) > maxLines || size > maxBytes {
		b.lacks(fmt.Sprintf("it is too long to be read here: %d lines", len(b.Lines)))
	}
	return b.Card
}

// builder makes a card.
type builder struct {
	Card
	of    *request.Request
	files bool // the files that it would change can be read
}

func (b *builder) add(k Kind, text string) { b.Lines = append(b.Lines, Line{k, Line1(text)}) }
func (b *builder) note(text string)        { b.add(Note, text) }

// text adds a text of several lines. It shows a missing line end.
func (b *builder) text(k Kind, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.add(k, line)
	}
}

func (b *builder) lacks(why string) {
	if b.Whole {
		b.Whole, b.Why = false, why
	}
}

// call shows the input of a tool: known members in their own way, and all others after them.
func (b *builder) call(in gjson.Result) {
	if !in.IsObject() {
		b.lacks("its input cannot be read")
		b.text(Text, in.Raw)
		return
	}
	if path := cmp.Or(in.Get("file_path").String(), in.Get("notebook_path").String()); path != "" {
		if rel, err := filepath.Rel(b.of.Cwd, path); err == nil && b.of.Cwd != "" && filepath.IsLocal(rel) {
			path = rel
		}
		b.Title = Line1(b.of.Tool + " " + path)
	}
	if doubled(in) {
		b.lacks("a member of its input is there twice")
	}
	var shown []string
	switch b.of.Tool {
	case "Bash", "PowerShell":
		b.text(Text, in.Get("command").String())
		shown = []string{"command"}
	case "Edit":
		old, now := in.Get("old_string").String(), in.Get("new_string").String()
		b.change(in, old, now, func(text string) (string, error) {
			if old == "" && text != "" || !strings.Contains(text, old) {
				return "", errors.New("the text to be replaced is not in the file")
			}
			n := 1
			if in.Get("replace_all").Bool() {
				n = -1
			}
			return strings.Replace(text, old, now, n), nil
		})
		shown = []string{"file_path", "old_string", "new_string", "replace_all"}
	case "Write":
		content := in.Get("content").String()
		b.change(in, "", content, func(string) (string, error) { return content, nil })
		shown = []string{"file_path", "content"}
	}
	b.rest(in, shown)
}

// doubled reports whether a member is repeated: parsers differ in which one counts.
func doubled(v gjson.Result) (twice bool) {
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		twice = v.IsObject() && seen[key.Str] || value.IsObject() && doubled(value) || value.IsArray() && doubled(value)
		seen[key.Str] = true
		return !twice
	})
	return twice
}

// rest shows the members that have not been shown yet.
func (b *builder) rest(in gjson.Result, shown []string) {
	in.ForEach(func(key, v gjson.Result) bool {
		if slices.Contains(shown, key.Str) {
			return true
		}
		text := v.String()
		if v.IsObject() || v.IsArray() {
			var out bytes.Buffer
			if json.Indent(&out, []byte(v.Raw), "", "  ") == nil {
				text = out.String()
			}
		}
		if !strings.Contains(text, "\n") {
			b.add(Text, key.Str+": "+text)
			return true
		}
		b.add(Head, key.Str+":")
		b.text(Text, text)
		return true
	})
}

func (b *builder) questions() {
	all := b.of.Choices()
	if b.Title = "a question"; len(all) != 1 {
		b.Title = fmt.Sprintf("%d questions", len(all))
	}
	for i, q := range all {
		shown := request.Choice{Question: Line1(q.Question), Header: Line1(q.Header), Several: q.Several}
		b.text(Head, q.Question)
		if q.Several {
			b.note("several may be chosen")
		}
		for j, x := range q.Options {
			shown.Options = append(shown.Options, request.Option{Label: Line1(x.Label), Description: Line1(x.Description)})
			line := fmt.Sprintf("%d  %s", j+1, x.Label)
			if x.Description != "" {
				line += "  " + x.Description
			}
			b.add(Text, line)
		}
		if b.Questions = append(b.Questions, shown); i > 100 {
			b.lacks("it has too many questions")
			return
		}
	}
}

// plan shows the plan to approve.
func (b *builder) plan(in gjson.Result) {
	b.Title = "a plan"
	plan := in.Get("plan").String()
	if plan == "" {
		b.lacks("the call does not have the plan")
	}
	b.text(Text, plan)
	b.Plan = len(b.Lines)
	b.rest(in, []string{"plan", "planFilePath"})
}

// change shows what a call does to a file, as a diff from its content; if the file cannot be
// read or does not match, it shows the texts in the call.
func (b *builder) change(in gjson.Result, old, new string, make func(string) (string, error)) {
	path := in.Get("file_path").String()
	b.add(Head, path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.of.Cwd, path)
	}
	was, there, err := b.read(path)
	var now string
	if err == nil {
		now, err = make(string(was))
	}
	if err == nil {
		b.diff(was, []byte(now), there)
		return
	}
	b.note(err.Error() + ": what the call has is shown")
	if old != "" {
		b.text(Delete, prefixed("-", old))
	}
	b.text(Add, prefixed("+", new))
}

// read reads the file that a call changes; a missing one is empty.
func (b *builder) read(path string) (text []byte, there bool, err error) {
	info, err := os.Stat(path)
	switch {
	case !b.files:
		return nil, false, errors.New("the file is on another machine")
	case errors.Is(err, os.ErrNotExist):
		return nil, false, nil
	case err == nil && info.Size() > maxFile:
		return nil, false, errors.New("the file is too large for a diff")
	}
	if text, err = plainfile.ReadFile(path); err != nil {
		return nil, false, errors.New("the file cannot be read")
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, false, errors.New("the file that is there is no text")
	}
	return text, true, nil
}

func (b *builder) diff(was, now []byte, there bool) {
	if !there {
		b.note("a new file")
	}
	d := string(diff.Diff("a", was, "b", now))
	if d == "" {
		b.note("nothing changes")
		return
	}
	kinds := map[byte]Kind{'@': Hunk, '+': Add, '-': Delete, ' ': Text}
	for _, line := range strings.Split(strings.TrimSuffix(d, "\n"), "\n")[3:] { // the file names are above
		b.add(cmp.Or(kinds[(line + " ")[0]], Text), line)
	}
}

func prefixed(mark, text string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark)
}
