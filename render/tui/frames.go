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

// frames makes the program draw soon after a change, and rarely without one. Bubble Tea checks
// 60 times a second whether there is something to draw, which takes more than 1 % of a
// processor. Up to v2.1.1 it has no way to request a frame: WithFPS sets one fixed rate, and a
// rate that is low enough shows no change in time. So its ticker is reset from here,
// until the library draws on demand (its pull request 1776). If the library has no such ticker,
// it draws at its own rate.
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

// invalidate records that there is something to draw.
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
