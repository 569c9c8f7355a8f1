// Package segment prints what a prompt, a bar and the client's status line show: the commands
// prompt and statusline, for beckon and for beckon-hook, which starts faster.
package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/run"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
	"beckon/state/usage"
)

// Fleet adds the sessions of other machines.
type Fleet func([]render.Row) []render.Row

// Main runs prompt or statusline; fleet may be nil. It does nothing and reports false for any other
// command line, and for one that needs fleet if that is nil.
func Main(a *cli.App, args []string, fleet Fleet) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	var show func() error
	prompt, line := Prompt{For: "plain"}, Statusline{}
	switch args[0] {
	case "prompt":
		ok, show = Flags(args[1:], &prompt), func() error { return prompt.Run(a, fleet) }
	case "statusline":
		ok, show = Flags(args[1:], &line), func() error { return line.Run(a, fleet) }
	}
	if !ok || (prompt.Fleet || line.Fleet) && fleet == nil {
		return 0, false
	}
	return Run(a, args[0], show), true
}

// Run runs a command that a prompt, a status line or a user waits for, and returns its exit
// code. The client drops the status line of a command that fails.
func Run(a *cli.App, name string, show func() error) (code int) {
	if err := a.Open(); err != nil {
		if name == "statusline" {
			return cli.ExitOK
		}
		return a.Fail(err)
	}
	a.Command, a.Unwarned, a.Brief = "beckon "+name, name != "list", true
	return a.Fail(show())
}

// Prompt is the command that prints a short segment.
type Prompt struct {
	Format string `help:"Template to fill in instead of the default (beckon help display)." placeholder:"TEMPLATE"`
	For    string `hidden:"" help:"Escape values for where the text goes: plain, zsh, tmux, polybar, pango or swiftbar (default: ${default})." default:"plain" placeholder:"TARGET"`
	JSON   bool   `name:"json" help:"Print JSON, as waybar's custom modules read it."`
	Fleet  bool   `help:"Count the sessions of the fleet's other machines, too, as beckon fleet link last saw them."`
}

// Run prints the segment.
func (c *Prompt) Run(a *cli.App, fleet Fleet) error {
	f, err := term.ParseFormat(cmp.Or(c.Format, term.DefaultPrompt), term.PromptFields)
	if err != nil {
		return cli.Usage("--format %q: %w", c.Format, err)
	}
	if term.Escapes[c.For] == nil {
		return cli.Usage("--for %q: not one of plain, zsh, tmux, polybar, pango, swiftbar", c.For)
	}
	rows, _, now, err := a.Rows()
	if err != nil {
		return err
	}
	if c.Fleet {
		rows = fleet(rows)
	}
	st := term.Style{Now: now}
	if c.JSON {
		return cli.WriteJSONLine(a.Stdout, term.BarOf(rows, f, st))
	}
	if line := term.Prompt(rows, f, c.For, st); line != "" {
		fmt.Fprintln(a.Stdout, line)
	}
	return nil
}

// Flags parses "--name value" and "--name=value" into the texts of a command, and "--name" into its switches,
// as kong would. It reports whether it understood all of args.
func Flags(args []string, command any) bool {
	fields := map[string]reflect.Value{}
	for f, v := range reflect.ValueOf(command).Elem().Fields() {
		fields["--"+cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name))] = v
	}
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		switch field := fields[name]; {
		case field.Kind() == reflect.Bool && !has:
			field.SetBool(true)
		case field.Kind() != reflect.String:
			return false
		case has:
			field.SetString(value)
		case i+1 < len(args):
			i++
			field.SetString(args[i])
		default:
			return false
		}
	}
	return true
}

// Statusline is the command that the client runs for its status line.
type Statusline struct {
	Wrap     string `hidden:"" help:"Run this status-line command first: the one that was there before." placeholder:"COMMAND"`
	WrapJSON string `hidden:"" name:"wrap-json" help:"The same, as a JSON string." placeholder:"JSON"`
	Fleet    bool   `help:"Name the sessions of the fleet's other machines, too, as beckon fleet link last saw them."`
}

const (
	maxStatus = 1 << 20         // a payload has some 2 KiB
	stdinWait = 1 * time.Second // for a payload that never comes
	// wrapWait is how long the wrapped command may take. The client waits longer, but until
	// then this session's line shows nothing.
	wrapWait = 3 * time.Second
)

// Run prints the status line. It always prints something sensible and exits 0: the client drops
// the line of a command that fails, and the wrapped line with it.
func (c *Statusline) Run(app *cli.App, fleet Fleet) error {
	a := invocation{app}
	payload := a.payload()
	s, ok := event.ParseStatus(payload)
	if !ok {
		s.Cwd, _ = os.Getwd()
	}
	before := make(chan *string, 1)
	command := c.Wrap
	if c.WrapJSON != "" {
		_ = json.Unmarshal([]byte(c.WrapJSON), &command) // else there is no command
	}
	go func() { before <- runWrapped(command, payload, wrapWait) }()
	rows, seen, now, err := a.Rows()
	if err != nil {
		a.Store.Log(fmt.Errorf("status line: %w", err))
	}
	record := ""
	if s.SessionID != "" {
		record = a.Store.RecordOf(s.SessionID,
			func(owner event.Process) event.Process { return evidence.Other("claude-code", owner, a.Getenv) }, evidence.Presence)
	}
	if record != "" { // the session may be unknown yet: the client runs its status line before its first hook
		s.Meter.At = event.MillisOf(now)
		if err := a.Store.SetMeter(store.KeyOf(record), s.Meter); err != nil {
			a.Store.Log(fmt.Errorf("writing meter: %w", err))
		}
	}
	used := a.limits(&s, now)
	// The client reads the line through a pipe and displays colours.
	color := a.Configured().Color != "never" && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	st := term.Style{Color: color, Rich: a.Rich(), Width: a.columns(), Now: now}
	asks, err := request.In(a.Store.Dir).List(time.Now())
	if err == nil && slices.ContainsFunc(asks, func(o request.Request) bool { return o.Kind != request.Reply }) {
		st.Answer = "beckon answer"
	}
	rows = others(rows, seen, record)
	if c.Fleet {
		rows = fleet(rows)
	}
	text := ""
	if first := <-before; first != nil {
		text = strings.TrimRight(*first, "\n") + "\n" + term.NeedList(rows, st)
	} else {
		f, err := term.ParseStatusFormat(a.Configured().Statusline)
		if err != nil {
			f, _ = term.ParseStatusFormat(term.DefaultStatus)
		}
		view := term.StatusView{Status: s, Home: a.Getenv("HOME"), Others: rows, Usage: used}
		if s.Cwd != "" {
			g := evidence.Git(s.Cwd)
			view.Branch = cmp.Or(g.Branch, g.Head)
		}
		text = term.StatusLine(view, f, st)
	}
	if text = strings.Trim(text, "\n"); text != "" {
		_, _ = io.WriteString(a.Stdout, text+"\n")
	}
	return nil
}

// invocation is one run of the status line.
type invocation struct{ *cli.App }

// payload reads stdin, unless it is a terminal, for at most stdinWait.
func (a invocation) payload() []byte {
	if f, ok := a.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil
		}
	}
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(a.Stdin, maxStatus))
		got <- b
	}()
	select {
	case b := <-got:
		return b
	case <-time.After(stdinWait):
		return nil
	}
}

// limits stores what the client reported about the account's limits, and notifies of one that
// is nearly reached.
func (a invocation) limits(s *event.Status, now time.Time) usage.Account {
	name := usage.AccountOf(a.Getenv)
	used, crossed, err := usage.Report(a.Store.Dir, name, s.SessionID, s.Limits, event.MillisOf(now))
	if cfg := a.Configured(); len(crossed) > 0 && cfg.Usage() {
		for _, c := range crossed {
			err = errors.Join(err, a.notifyUsage(name, c))
		}
	}
	if err != nil {
		a.Store.Log(fmt.Errorf("usage limits: %w", err))
	}
	return used
}

// notifyUsage notifies of a limit once for each window and step. It starts a program, since
// the status line cannot wait.
func (a invocation) notifyUsage(account string, c usage.Crossing) error {
	w := c.Window
	name := w.Name + "-" + strconv.FormatInt(int64(w.Resets)/usage.Apart, 10) + "-" + strconv.Itoa(c.Percent)
	if first, err := a.Store.Claim(store.Key("usage-"+usage.ID(account)), name); err != nil || !first {
		return err
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return hook.StartBeckon(a.Store.Dir, []string{
		"notify", "usage", account, w.Name, number(int64(c.Percent)), number(int64(w.Resets)), number(int64(w.At)),
	})
}

// margin is what the client leaves free of the width that it reports: two columns on each side
// (measured on 2.1.197 and 2.1.329).
const margin = 4

// columns returns the width to fill, 0 if the client does not report it.
func (a invocation) columns() int {
	n, err := strconv.Atoi(a.Getenv("COLUMNS"))
	if err != nil || n <= 0 {
		return 0
	}
	return max(n-margin, 1)
}

// others drops the row that shows the session with that record, or another session of its
// seat.
func others(rows []render.Row, seen []state.Seen, record string) []render.Row {
	seat := ""
	for i := range seen {
		if record != "" && seen[i].Session.Record() == record {
			seat = seen[i].Session.Seat
		}
	}
	return slices.DeleteFunc(rows,
		func(r render.Row) bool { return r.Record() == record || seat != "" && r.SeatID == seat })
}

// maxWrapped limits, in bytes, what is read of a wrapped command's output.
const maxWrapped = 64 << 10

// runWrapped runs a status-line command as the client would, in a shell with the same stdin,
// and kills it with all its children after wait. Background processes of a command that ends
// in time go on: some refresh a cache. It returns the output, nil without a command or if it
// failed without any.
func runWrapped(command string, payload []byte, wait time.Duration) *string {
	if command == "" {
		return nil
	}
	p := run.Program{Line: command, Stdin: bytes.NewReader(payload), Limit: wait, Max: maxWrapped}
	out, _, err := p.Outputs(context.Background())
	text := string(out.Kept)
	if err != nil && text == "" {
		return nil
	}
	return &text
}
