// Package card shows an offer (package state/offer) so that a person can judge
// it: the command line by line, the change to a file as a diff, whatever else the
// call has, and where all that would happen. Nothing of it can act on a terminal
// or hide: what does not print is spelled out, as in "‹U+202E›".
//
// A card that is not Whole must not be allowed from elsewhere than the session:
// nobody saw all of it.
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

	"beckon/state/offer"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"
)

// Kind says how a line is to be drawn.
type Kind string

// The kinds of lines.
const (
	Text   Kind = "text"
	Head   Kind = "head"   // what follows is about this
	Note   Kind = "note"   // beckon's own words
	Add    Kind = "add"    // of a diff
	Delete Kind = "delete" // of a diff
	Hunk   Kind = "hunk"   // of a diff
)

// Line is one line of a card. Its text prints.
type Line struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// Card is an offer as it is shown.
type Card struct {
	Title string `json:"title"` // one line: "Bash", "Edit main.go", "2 questions"
	// Where the call would happen: directory, host and branch, each printable.
	Dir    string `json:"dir,omitempty"`
	Host   string `json:"host,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Agent is the subagent that asks, empty for the session itself.
	Agent string `json:"agent,omitempty"`
	Lines []Line `json:"lines"`
	// Always are the suggestions of Answer.Always in words, the first is 1.
	Always []string `json:"always,omitempty"`
	// Questions are those of a question, printable, in the order of
	// offer.Choices.
	Questions []offer.Choice `json:"questions,omitempty"`
	// Whole is set when the lines show all of the call; else Why says what is
	// missing.
	Whole bool   `json:"whole"`
	Why   string `json:"why,omitempty"`
}

// Limits of what counts as shown whole: more nobody reads.
const (
	maxLines = 2000
	maxBytes = 256 << 10
	maxFile  = 4 << 20 // of a file that a call changes
)

// Of makes the card of an offer. Files that the call would change are read, if
// they are on this machine, host.
func Of(o *offer.Offer, host string) Card {
	c := Card{Dir: Line1(o.Cwd), Host: Line1(o.Host), Branch: Line1(o.Branch), Agent: Line1(o.Type), Title: title(o), Whole: true}
	b := builder{card: &c, files: o.Host == host, cwd: o.Cwd}
	switch o.Kind {
	case offer.Question:
		b.questions(o)
	case offer.Plan:
		b.plan(o)
	case offer.Form:
		b.form(o)
	case offer.Reply:
		b.note("the turn is over: what you say is its next prompt")
	default:
		b.call(o.Tool, o.Input())
		for _, s := range o.Suggestions() {
			c.Always = append(c.Always, Line1(Suggestion(s)))
		}
	}
	size := 0
	for _, l := range c.Lines {
		size += len(l.Text) + 1
	}
	if len(c.Lines) > maxLines || size > maxBytes {
		b.lacks(fmt.Sprintf("it is too long to be read here: %d lines", len(c.Lines)))
	}
	return c
}

// title is what is asked, in a line.
func title(o *offer.Offer) string {
	in := gjson.ParseBytes(o.Input())
	switch path := cmp.Or(in.Get("file_path").String(), in.Get("notebook_path").String()); {
	case o.Kind == offer.Question:
		if n := len(o.Choices()); n != 1 {
			return fmt.Sprintf("%d questions", n)
		}
		return "a question"
	case o.Kind == offer.Plan:
		return "a plan"
	case o.Kind == offer.Form:
		return "a form of " + Line1(o.Tool)
	case o.Kind == offer.Reply:
		return "the turn is over"
	case path != "":
		return Line1(o.Tool + " " + short(path, o.Cwd))
	}
	return Line1(o.Tool)
}

// short is a path as seen from a directory above it.
func short(path, dir string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && dir != "" && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

type builder struct {
	card  *Card
	files bool
	cwd   string
}

func (b *builder) add(k Kind, text string) { b.card.Lines = append(b.card.Lines, Line{k, Line1(text)}) }
func (b *builder) note(text string)        { b.add(Note, text) }

// text adds a text of several lines. A line end that would be lost is shown.
func (b *builder) text(k Kind, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.add(k, line)
	}
}

func (b *builder) lacks(why string) {
	if b.card.Whole {
		b.card.Whole, b.card.Why = false, why
	}
}

// call shows the input of a tool: what is known of it in its own way, and all
// other members after it.
func (b *builder) call(tool string, input json.RawMessage) {
	in := gjson.ParseBytes(input)
	if !in.IsObject() {
		b.lacks("its input is not to be read")
		b.text(Text, string(input))
		return
	}
	if doubled(in) {
		b.lacks("a member of its input is there twice")
	}
	var shown []string
	switch tool {
	case "Bash", "PowerShell":
		b.text(Text, in.Get("command").String())
		shown = []string{"command"}
	case "Edit", "MultiEdit":
		shown = b.edit(in)
	case "Write":
		b.change(in.Get("file_path").String(), func([]byte) ([]byte, error) { return []byte(in.Get("content").String()), nil }, "",
			in.Get("content").String())
		shown = []string{"file_path", "content"}
	case "NotebookEdit":
		shown = b.notebook(in)
	}
	b.rest(in, shown)
}

// doubled reports whether a member is there twice: readers differ in which counts.
func doubled(v gjson.Result) (twice bool) {
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		twice = twice || seen[key.Str] || value.IsObject() && doubled(value)
		if value.IsArray() {
			for _, x := range value.Array() {
				twice = twice || x.IsObject() && doubled(x)
			}
		}
		seen[key.Str] = true
		return !twice
	})
	return twice
}

// rest shows the members that are not shown yet.
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

// swap is one replacement of an Edit.
type swap struct {
	old, new string
	all      bool
}

var errNoMatch = errors.New("the text to be replaced is not in the file")

// edit shows Edit and MultiEdit.
func (b *builder) edit(in gjson.Result) []string {
	var swaps []swap
	list := in.Get("edits").Array()
	if !in.Get("edits").Exists() {
		list = []gjson.Result{in}
	}
	for _, e := range list {
		swaps = append(swaps, swap{e.Get("old_string").String(), e.Get("new_string").String(), e.Get("replace_all").Bool()})
	}
	var old, new []string
	for _, s := range swaps {
		old, new = append(old, s.old), append(new, s.new)
	}
	b.change(in.Get("file_path").String(), func(text []byte) ([]byte, error) {
		for _, s := range swaps {
			switch n := bytes.Count(text, []byte(s.old)); {
			case s.old == "" && len(text) == 0:
				text = []byte(s.new)
			case s.old == "" || n == 0:
				return nil, errNoMatch
			case s.all:
				text = bytes.ReplaceAll(text, []byte(s.old), []byte(s.new))
			default:
				text = bytes.Replace(text, []byte(s.old), []byte(s.new), 1)
			}
		}
		return text, nil
	}, strings.Join(old, "\n"), strings.Join(new, "\n"))
	if in.Get("edits").Exists() {
		return []string{"file_path", "edits"}
	}
	return []string{"file_path", "old_string", "new_string", "replace_all"}
}

// change shows what a call makes of a file, as a diff from what is there; where
// that cannot be read or does not fit, the texts that the call has.
func (b *builder) change(path string, make func([]byte) ([]byte, error), old, new string) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(b.cwd, full)
	}
	b.add(Head, path)
	was, there, err := b.read(full)
	if err == nil {
		var now []byte
		if now, err = make(was); err == nil {
			b.diff(was, now, there)
			return
		}
	}
	b.note(err.Error() + ": what the call has is shown")
	if old != "" {
		b.text(Delete, prefixed("-", old))
	}
	b.text(Add, prefixed("+", new))
}

// read reads the file that a call changes; one that is not there is empty.
func (b *builder) read(path string) (text []byte, there bool, err error) {
	if !b.files {
		return nil, false, errors.New("the file is on another machine")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, errors.New("the file cannot be read")
	case !info.Mode().IsRegular():
		return nil, false, errors.New("this is no file")
	case info.Size() > maxFile:
		return nil, false, errors.New("the file is too large for a diff")
	}
	if text, err = os.ReadFile(path); err != nil {
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
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(d, "\n"), "\n") {
		if n++; n <= 3 { // the names, which are above
			continue
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			b.add(Hunk, line)
		case strings.HasPrefix(line, "+"):
			b.add(Add, line)
		case strings.HasPrefix(line, "-"):
			b.add(Delete, line)
		default:
			b.add(Text, line)
		}
	}
}

func prefixed(mark, text string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark)
}

// notebook shows NotebookEdit: the cell as it is and as it would be.
func (b *builder) notebook(in gjson.Result) []string {
	path, id, mode := in.Get("notebook_path").String(), in.Get("cell_id").String(), cmp.Or(in.Get("edit_mode").String(), "replace")
	source := in.Get("new_source").String()
	b.add(Head, path)
	b.note(strings.TrimSpace(mode + " cell " + id))
	was, _, err := b.read(path)
	cell := ""
	if err == nil && mode != "insert" {
		cell, err = cellOf(was, id)
	}
	if mode == "delete" {
		source = ""
	}
	if err != nil {
		b.note(err.Error() + ": what the call has is shown")
		b.text(Add, prefixed("+", source))
	} else {
		b.diff([]byte(cell), []byte(source), true)
	}
	return []string{"notebook_path", "cell_id", "new_source", "edit_mode"}
}

// cellOf is the source of a notebook's cell.
func cellOf(notebook []byte, id string) (string, error) {
	for i, c := range gjson.GetBytes(notebook, "cells").Array() {
		if c.Get("id").String() != id && fmt.Sprintf("cell-%d", i) != id {
			continue
		}
		if lines := c.Get("source"); lines.IsArray() {
			var all strings.Builder
			for _, l := range lines.Array() {
				all.WriteString(l.String())
			}
			return all.String(), nil
		}
		return c.Get("source").String(), nil
	}
	return "", errors.New("the notebook has no such cell")
}

func (b *builder) questions(o *offer.Offer) {
	for i, q := range o.Choices() {
		shown := offer.Choice{Question: Line1(q.Question), Header: Line1(q.Header), Several: q.Several}
		b.text(Head, q.Question)
		if q.Several {
			b.note("several may be chosen")
		}
		for j, x := range q.Options {
			shown.Options = append(shown.Options, offer.Option{Label: Line1(x.Label), Description: Line1(x.Description)})
			line := fmt.Sprintf("%d  %s", j+1, x.Label)
			if x.Description != "" {
				line += "  " + x.Description
			}
			b.add(Text, line)
		}
		if b.card.Questions = append(b.card.Questions, shown); i > 100 {
			b.lacks("it has too many questions")
			return
		}
	}
}

// plan shows what is to be approved: newer clients have it in the call, else it
// is in its file.
func (b *builder) plan(o *offer.Offer) {
	in := gjson.ParseBytes(o.Input())
	plan, path := in.Get("plan").String(), in.Get("planFilePath").String()
	if plan == "" && path != "" {
		text, there, err := b.read(path)
		if err == nil && !there {
			err = errors.New("the plan's file is not there")
		}
		if err != nil {
			b.lacks(err.Error())
		}
		plan = string(text)
	}
	if plan == "" {
		b.lacks("the call does not have the plan")
	}
	b.text(Text, plan)
	b.rest(in, []string{"plan", "planFilePath"})
}

func (b *builder) form(o *offer.Offer) {
	b.text(Text, o.Message())
	if url := gjson.GetBytes(o.Payload, "url").String(); url != "" {
		b.add(Text, "url: "+url)
	}
	for _, f := range o.Fields() {
		line := f.Name + " (" + cmp.Or(f.Type, "any") + ")"
		if text := cmp.Or(f.Title, f.Description); text != "" {
			line += "  " + text
		}
		if len(f.Options) > 0 {
			var all []string
			for _, v := range f.Options {
				all = append(all, v.Text)
			}
			line += "  one of " + strings.Join(all, ", ")
		}
		if f.Default != nil {
			line += "  else " + *f.Default
		}
		b.add(Text, line)
	}
}

// rowWidth is how many characters a notification shows in a row.
const rowWidth = 40

// Brief is a card for a notification, which shows so many rows and no more: what
// is asked, and where that would happen. It reports whether that is all of the
// card; else the text ends in "…", or says why not.
func (c *Card) Brief(rows int) (text string, whole bool) {
	where := c.Dir
	if c.Branch != "" {
		where += " (" + c.Branch + ")"
	}
	if c.Host != "" {
		where += " on " + c.Host
	}
	if c.Agent != "" {
		where += ", asked by its subagent " + c.Agent
	}
	lines := []string{c.Title}
	for _, l := range c.Lines {
		lines = append(lines, l.Text)
	}
	rows -= rowsOf("in " + where)
	whole = c.Whole
	var b strings.Builder
	for _, l := range lines {
		if rows -= rowsOf(l); rows < 0 {
			whole = false
			b.WriteString("…\n")
			break
		}
		b.WriteString(l + "\n")
	}
	if !c.Whole {
		b.WriteString("(" + Line1(c.Why) + ")\n")
	}
	return b.String() + "in " + where, whole
}

// rowsOf is how many rows a line takes at most: broken at its spaces, each word
// within rows of its own if it is long.
func rowsOf(line string) (rows int) {
	rows, left := 1, rowWidth
	for word := range strings.SplitAfterSeq(line, " ") {
		n := ansi.StringWidth(word)
		if n > left && left < rowWidth {
			rows, left = rows+1, rowWidth
		}
		rows, left = rows+max(0, n-1)/rowWidth, left-n
		if n > rowWidth {
			left = rowWidth - (n-1)%rowWidth - 1
		}
	}
	return rows
}
