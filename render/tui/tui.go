// Package tui is the screen of `beckon watch`: every session as a row, grouped
// by need, alive as the files change.
//
// It guarantees: it draws only what changed, and only when something did; an
// idle screen costs next to nothing; no size of terminal, number of sessions
// or text in them breaks the picture or reaches the terminal as a command; it
// never waits for a host, a disk or an action while it draws. It has no rules
// about states: rows come from its Options, verdicts and all.
package tui

import (
	"context"
	"io"
	"sync"
	"time"

	"beckon/render"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/offer"
	"beckon/state/usage"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Snapshot is what one look at this machine's sessions found.
type Snapshot struct {
	Rows []render.Row
	Seen map[string]state.Seen // by record: what the peek panel shows beyond the row
	Now  time.Time             // the time that the rows were resolved at
	// Still says that time stands: the evidence is a recording's, and so is
	// the time. Ages do not grow between snapshots.
	Still   bool
	Limits  []usage.Account // what is used of the accounts' limits
	Problem string          // what could not be read, for the user; empty for nothing
}

// Source gives the rows of another host. It is asked from a goroutine of its own; while
// it does not answer its last rows are shown, and how old they are.
type Source struct {
	Name string // the host, as the user calls it
	// Rows returns what the host has, for the screen to keep.
	Rows  func(context.Context) ([]render.Row, error)
	Every time.Duration // between answers; 0 means 5 s
	// Many is set for a source of several hosts: each row says in its Remote which
	// one it is of, and how that is. An error comes with rows then.
	Many bool

	// Last is what the host said at LastAt, before the screen was there.
	Last   []render.Row
	LastAt time.Time
}

// Line is one turn of a session's past.
type Line struct {
	At   time.Time
	Who  string // "you" or "agent"
	Text string
}

// Past is what a peek shows of a session after reading files.
type Past struct {
	Turns []Line // the newest, the oldest of them first
	Said  string // its final message, whole
	Plan  string // the plan that it wants approved, whole
}

// Options is what the screen needs from the program around it. Follow must be there for
// Run; the rest may be nil, and is not offered then. Functions are called from goroutines.
type Options struct {
	// Follow gives show what this machine's sessions are, now and whenever that
	// changes, until ctx ends. Poke has it look at once.
	Follow  func(ctx context.Context, show func(Snapshot, error))
	Poke    func()
	Sources []Source

	// Jump focuses a row's pane and says what it did.
	Jump func(render.Row) (string, error)
	// Act folds what the user did to a session: seen, removed, set aside.
	Act func(render.Row, state.Action) error
	// Recent returns a session's past; for one not known here it gets the zero value.
	Recent func(render.Row, state.Session) Past
	// Pane returns what the row's pane shows, line by line.
	Pane func(render.Row) (string, error)

	// Offers gives show what the sessions ask, whenever that changes, until ctx
	// ends. Answer gives an answer and says what became of it; Reply says something
	// to a session that takes it without an offer; Stop ends a turn.
	Offers func(ctx context.Context, show func([]card.Offered))
	Answer func(card.Offered, offer.Answer) (string, error)
	Reply  func(r render.Row, text string) (string, error)
	Stop   func(render.Row) (string, error)
	// Far talks to sessions of other machines; nil for none.
	Far card.Far

	Order           render.Mode
	PermissionFirst bool // as render.Queue has it
	Marks           render.Marks
	Grouping        Grouping
	Color           bool
	Profile         colorprofile.Profile // how many colours, until the terminal says
	Title           string               // what the first line calls the screen
	Leave           bool                 // the screen ends when a jump worked: it lies over where that went

	Input  io.Reader // nil: the terminal
	Output io.Writer
	// Size of an Output that is not a terminal.
	Width, Height int
}

// Run shows the screen until the user leaves it or ctx ends.
func Run(ctx context.Context, opt Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(opt)
	teaOptions := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(opt.Output)}
	if opt.Input != nil {
		teaOptions = append(teaOptions, tea.WithInput(opt.Input))
	}
	if opt.Width > 0 {
		teaOptions = append(teaOptions, tea.WithWindowSize(opt.Width, opt.Height))
	}
	p := tea.NewProgram(m, teaOptions...)
	var f *frames
	m.redraw = func() {
		if f == nil {
			f = &frames{ticker: tickerOf(p)} // which it has once it runs
		}
		f.invalidate()
	}
	var done sync.WaitGroup
	done.Go(func() { follow(ctx, opt, p.Send) })
	if opt.Offers != nil {
		done.Go(func() { opt.Offers(ctx, func(all []card.Offered) { p.Send(offersMsg(all)) }) })
	}
	_, err := p.Run()
	cancelled := ctx.Err() != nil
	stop()
	done.Wait()
	if cancelled {
		return nil // the caller ended it
	}
	return err
}

// Once writes one screen of all rows of s, width columns wide, for scripts.
func Once(w io.Writer, opt Options, s Snapshot, width int) error {
	m := newModel(opt)
	m.once = true
	m.Update(tea.WindowSizeMsg{Width: width, Height: 1 << 20})
	m.Update(lookMsg{snapshot: s})
	for _, src := range opt.Sources {
		m.Update(src.said(src.Rows(context.Background())))
	}
	_, err := io.WriteString(w, m.page())
	return err
}
