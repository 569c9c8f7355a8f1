package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// Times between frames: while something changes, and while nothing does.
const (
	frameFast = time.Second / 60
	frameSlow = time.Second
	fastFor   = 100 * time.Millisecond // after the newest change
)

// frames has the program draw soon after a change, and hardly ever without one.
// Bubble Tea looks 60 times a second whether there is something to draw, which
// takes more than 1 % of a processor. Up to v2.1.1 it offers no way to ask for a
// frame: WithFPS sets one rate for good, and of those that are slow enough none
// shows a change in time. So its ticker is borrowed, until the library draws on
// demand (its pull request 1776). Without it everything works as ever.
type frames struct {
	ticker *time.Ticker
	mu     sync.Mutex
	fast   bool
	slow   *time.Timer
}

func tickerOf(p *tea.Program) *time.Ticker {
	v := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !v.IsValid() || v.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(v.UnsafeAddr()))
}

// invalidate says that there is something to draw.
func (f *frames) invalidate() {
	if f.ticker == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slow == nil {
		f.slow = time.AfterFunc(fastFor, f.idle)
	} else {
		f.slow.Reset(fastFor)
	}
	if !f.fast {
		f.fast = true
		f.ticker.Reset(frameFast)
	}
}

func (f *frames) idle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fast = false
	f.ticker.Reset(frameSlow)
}
