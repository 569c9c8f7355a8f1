package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/event/plainfile"
	"beckon/event/recording"
	"beckon/render"
	"beckon/render/term"
	"beckon/render/tui"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
	"beckon/testdata"
)

type demoCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Recordings of your own to play side by side (default: a few that come with beckon)."`
	Speed float64  `hidden:"" default:"1" help:"How many times faster than it happened; 0 does not wait at all."`
	Dir   string   `hidden:"" help:"Scratch state directory to play into; kept afterwards (default: a temporary one)." placeholder:"DIR"`
	Until float64  `hidden:"" help:"Stop after so many seconds of the recordings." placeholder:"SECONDS"`
	List  bool     `hidden:"" help:"Print the list whenever it changes, as it does where the output is not a terminal."`
}

// track is one recording being played.
type track struct {
	ever     []recording.Registry // all records that it holds, to identify processes
	registry []recording.Registry // as it is at the moment
}

// moment is one step of one track, or without one only a time.
type moment struct {
	at    int64 // ms from the first moment
	track *track
	step  recording.Step
}

// player plays tracks side by side, through the real store, into a scratch state directory.
type player struct {
	*demoCmd
	a       *app
	st      *store.Store
	tracks  []*track
	moments []moment     // of all tracks, in the order of their times
	start   event.Millis // the wall time of moment 0
	shown   string       // the list as last printed
	screen  bool         // show the screen of watch, instead of the list
}

func (c *demoCmd) Run(a *app) error {
	for name, value := range map[string]float64{"speed": c.Speed, "until": c.Until} {
		if value < 0 {
			return cli.Usage("--%s %g: must not be negative", name, value)
		}
	}
	p := &player{demoCmd: c, a: a, start: event.MillisOf(time.Now()), screen: !c.List && a.Screen()}
	files, read := c.Files, os.ReadFile
	if len(files) == 0 {
		files, _ = fs.Glob(testdata.Demo, "demo/*") // the pattern is valid
		read = testdata.Demo.ReadFile
	}
	for _, path := range files {
		data, err := read(path)
		if err != nil {
			return cli.Hint("beckon demo plays recordings of its own", "reading recording: %w", err)
		}
		steps, err := recording.Read(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		p.add(steps)
	}
	dir, err := c.scratch()
	if err != nil {
		return err
	}
	if c.Dir == "" {
		defer os.RemoveAll(dir)
	}
	p.st = store.Open(dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if p.screen {
		return p.onScreen(ctx)
	}
	return p.run(ctx)
}

// lookAgain is the delay before a registry status is read a second time, in ms: longer than
// Resolve requires it to have been stable.
const lookAgain = 250

// add adds a recording's track and moments.
func (p *player) add(steps []recording.Step) {
	t := &track{}
	p.tracks = append(p.tracks, t)
	began := slices.MinFunc(steps, func(a, b recording.Step) int { return cmp.Compare(a.T, b.T) }).T
	for _, step := range steps {
		t.ever = append(t.ever, step.Registry...)
		at := step.T - began
		if step.Kind == "registry" {
			p.moments = append(p.moments, moment{at: at + lookAgain})
		}
		if step.Kind != "start" {
			p.moments = append(p.moments, moment{at, t, step})
		}
	}
}

// scratch makes the scratch directory. It refuses one that holds anything but what was played.
func (c *demoCmd) scratch() (string, error) {
	if c.Dir == "" {
		return os.MkdirTemp("", "beckon-demo-")
	}
	names, err := os.ReadDir(c.Dir)
	if _, other := os.Stat(filepath.Join(c.Dir, live.StagedFile)); len(names) > 0 && other != nil {
		return "", cli.Hint("give a new directory, or one that a demo made", "scratch directory %q is not empty", c.Dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(c.Dir, 0o700)
	}
	return c.Dir, err
}

// onScreen plays while the screen of watch follows the scratch directory.
func (p *player) onScreen(ctx context.Context) error {
	shared := *p.a.App
	shared.Store = p.st
	a := app{&shared}
	opt := a.watchOptions(nil, "")
	opt.Title = "beckon demo"
	if err := p.stage(p.start); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	played := make(chan error, 1)
	go func() { played <- p.run(ctx) }()
	err := tui.Run(ctx, opt)
	stop()
	return errors.Join(err, <-played)
}

// run plays all moments in their own timing. When they are over, time goes on until the user
// leaves the screen, unless the user chose their end.
func (p *player) run(ctx context.Context) error {
	pause := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	if end := int64(p.Until * 1000); end > 0 {
		p.moments = append(slices.DeleteFunc(p.moments, func(m moment) bool { return m.at > end }), moment{at: end})
	}
	slices.SortStableFunc(p.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	began, now := time.Now(), p.start
	for _, m := range p.moments {
		var wait time.Duration
		if p.Speed > 0 {
			wait = time.Until(began.Add(time.Duration(float64(m.at) / p.Speed * float64(time.Millisecond))))
		}
		if !pause(wait) {
			return nil
		}
		now = p.start + event.Millis(m.at)
		if err := p.do(m, now); err != nil {
			return fmt.Errorf("at %d ms: %w", m.at, err)
		}
	}
	for p.screen && p.Until == 0 && pause(time.Second) {
		now += 1000
		if err := p.stage(now); err != nil {
			return err
		}
	}
	return nil
}

// do plays one moment and prints the list if it changed.
func (p *player) do(m moment, now event.Millis) error {
	if m.step.Kind == "registry" {
		m.track.registry = slices.Clone(m.step.Registry)
		for i := range m.track.registry {
			r := &m.track.registry[i]
			for _, at := range []*event.Millis{&r.StatusUpdatedAt, &r.UpdatedAt, &r.StartedAt} {
				*at += now - m.step.At
			}
		}
	}
	err := p.stage(now)
	if s, ok := event.ParseStatus(m.step.Payload); err == nil && ok && m.step.Kind == "statusline" {
		s.Meter.At = now
		err = p.st.SetMeter(store.KeyOf(s.SessionID), s.Meter)
	}
	if err == nil && m.track != nil && m.step.Hook() {
		err = p.hook(m.track, m.step, now)
	}
	if err == nil && !p.screen { // which follows the directory
		err = p.show(now)
	}
	return err
}

// stage writes the evidence that every view of the scratch directory reads instead of the
// machine's. A registry status counts as soon as it is recorded, since the recorder polled it.
func (p *player) stage(now event.Millis) error {
	records := []recording.Registry{}
	for _, t := range p.tracks {
		records = append(records, t.registry...)
	}
	b, err := json.Marshal(map[string]any{"now": now, "registry": records})
	if err != nil {
		return err
	}
	return plainfile.Write(filepath.Join(p.st.Dir, live.StagedFile), b, 0o600, false)
}

// hook folds one recorded payload as the hook would have, from the process
// that the recording names.
func (p *player) hook(t *track, step recording.Step, now event.Millis) error {
	e, err := event.Parse("", step.Kind, step.Payload)
	if err != nil {
		return err
	}
	e.At = now
	if e.SessionID == "" {
		return errors.New("payload has no session_id")
	}
	_, err = p.st.Fold(store.KeyOf(e.SessionID), store.Update{
		Change: state.Change{At: now, Event: &e},
		Origin: func(event.Origin) event.Origin { return *step.Origin(t.ever, e.Cwd) },
	})
	return err
}

// show prints the list if it differs from what was printed last.
func (p *player) show(now event.Millis) error {
	snap, err := live.NewReader(p.st, "").Look(false)
	if err != nil {
		return err
	}
	rows := render.Rows(snap.Seen, false)
	var key strings.Builder
	for _, r := range rows {
		fmt.Fprintln(&key, r.SessionID, r.State, r.Reason, r.What())
	}
	if key.String() == p.shown {
		return nil
	}
	p.shown = key.String()
	style := p.a.Style("")
	style.Now = now.Time()
	return p.a.Printf("-- %.1f s\n%s", float64(now-p.start)/1000, term.List(rows, style))
}
