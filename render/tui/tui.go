// Package tui is the screen of `beckon watch`: every session as a row, grouped by need,
// updated as the files change.
//
// It guarantees: it draws only what changed, and only when something did; an idle screen costs
// next to nothing; no size of terminal, number of sessions or text in them breaks the picture
// or reaches the terminal as a command; it never waits for a host, a disk or an action while
// it draws. It has no rules about states: its Options provide rows with verdicts.
package tui

import (
	"context"
	"io"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"beckon/render"
	"beckon/render/card"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/store"
	"beckon/state/usage"

	tea "charm.land/bubbletea/v2"
)

// Snapshot is the result of one look at this machine's sessions.
type Snapshot struct {
	Rows []render.Row
	Seen map[string]state.Seen // by record: what the peek panel shows beyond the row
	Now  time.Time             // the time that the rows were resolved at
	// Still means that ages do not grow between snapshots, whose time is a recording's.
	Still   bool
	Limits  []usage.Account // the use of the accounts' limits
	Problem string          // what could not be read, for the user; empty for nothing
}

// Past is what a peek shows about a session after reading files.
type Past struct {
	Turns []store.Turn // the newest, the oldest of them first
	Said  string       // its whole final message
	Plan  string       // the whole plan to approve
}

// Options are what the screen needs from the program. Others, and what follows Recent, may be nil,
// and is not offered then. Functions are called from goroutines.
type Options struct {
	// Follow calls show with this machine's sessions, now and whenever they change, until ctx
	// ends. Poke makes it look at once.
	Follow func(ctx context.Context, show func(Snapshot, error))
	Poke   func()
	// Others calls show with the sessions of other machines, each with its Remote, in the same
	// way; the screen keeps the rows. An error may come with them.
	Others func(ctx context.Context, show func([]render.Row, error))

	// Jump focuses a row's pane and describes what it did.
	Jump func(render.Row) (string, error)
	// Act folds an action of the user on sessions: seen, removed, set aside, undo.
	Act func(state.Action, ...render.Row) error
	// Recent returns a session's history; for an unknown session it gets the zero value.
	Recent func(render.Row, state.Session) Past

	// Requests is as Follow for the open requests. Answer gives an answer and returns its result, or
	// request.ErrPIN until it gets the user's PIN; Stop ends a turn.
	Requests func(ctx context.Context, show func([]card.Request))
	Answer   func(r card.Request, a request.Answer, pin string) (string, error)
	Stop     func(render.Row) (string, error)
	// WhyNot returns why what a session asks cannot be answered here.
	WhyNot func(render.Row) error

	Queue render.Queue // the order of rows
	Style term.Style   // its colours
	Title string       // the screen's name in the first line
	Leave bool         // close the screen after a successful jump, because it covers the target

	Output   io.Writer
	Terminal []tea.ProgramOption // what stands in for a terminal's input and size
}

// Times between frames: within fastFor of a change, and otherwise. Bubble Tea (v2.1.1) looks 60
// times a second whether there is something to draw, and has no way to request a frame, so
// its ticker is reset from here. If the library has no such ticker, it draws at its own rate.
const (
	frameFast = time.Second / 60
	frameSlow = time.Second
	fastFor   = 100 * time.Millisecond
)

// tickerOf returns the ticker of a program that runs, nil if there is none.
func tickerOf(p *tea.Program) *time.Ticker {
	v := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !v.IsValid() || v.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(v.UnsafeAddr()))
}

// Run shows the screen until the user leaves it or ctx ends.
func Run(ctx context.Context, opt Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(opt)
	p := tea.NewProgram(m, append(opt.Terminal, tea.WithContext(ctx), tea.WithOutput(opt.Output))...)
	m.frames = func(every time.Duration) {
		if t := tickerOf(p); t != nil {
			t.Reset(every)
		}
	}
	var done sync.WaitGroup
	done.Go(func() { opt.Follow(ctx, func(s Snapshot, err error) { p.Send(lookMsg{s, err}) }) })
	if opt.Others != nil {
		done.Go(func() { opt.Others(ctx, func(rows []render.Row, err error) { p.Send(othersMsg{rows, err}) }) })
	}
	if opt.Requests != nil {
		done.Go(func() { opt.Requests(ctx, func(all []card.Request) { p.Send(requestsMsg(all)) }) })
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
