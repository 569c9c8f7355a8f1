package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
)

// playing is how recordings are played.
type playing struct {
	Speed float64 `hidden:"" default:"1" help:"How many times faster than it happened; 0 does not wait at all."`
	Dir   string  `hidden:"" help:"Scratch state directory to play into; kept afterwards (default: a temporary one)." placeholder:"DIR"`
	Until float64 `hidden:"" help:"Stop after so many seconds of the recordings." placeholder:"SECONDS"`
}

// readTracks reads recordings.
func readTracks(paths []string) (tracks []track, err error) {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, cli.Hint("beckon demo plays recordings of its own", "reading recording: %w", err)
		}
		t, err := newTrack(path, f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		tracks = append(tracks, t)
	}
	return tracks, nil
}

// track is one recording being played.
type track struct {
	name     string
	steps    []recording.Step
	ever     []recording.Registry // all records that it holds, to identify processes
	registry []recording.Registry // as it is at the moment
	scene    scene
}

func newTrack(path string, r io.Reader) (track, error) {
	steps, err := recording.Read(r)
	if err != nil {
		return track{}, fmt.Errorf("%s: %w", path, err)
	}
	slices.SortStableFunc(steps, func(a, b recording.Step) int { return cmp.Compare(a.T, b.T) })
	t := track{name: strings.TrimSuffix(filepath.Base(path), ".jsonl"), steps: steps}
	for _, s := range steps {
		t.ever = append(t.ever, s.Registry...)
	}
	return t, nil
}

// player plays tracks side by side into a scratch state directory.
type player struct {
	a      *app
	st     *store.Store
	tracks []track
	start  event.Millis // the wall time that corresponds to every track's first step
	shown  string       // the list as last printed
	screen bool         // show the screen of watch, instead of the list
	playing
}

// moment is one step of one track.
type moment struct {
	track int
	step  recording.Step
	at    int64 // ms from the first moment
}

// play feeds the tracks through the real store, in their own timing, and
// prints the list whenever it changes, or shows them on a screen.
func (a *app) play(tracks []track, how playing, screen bool) error {
	if how.Speed < 0 {
		return cli.Usage("--speed %g: must not be negative", how.Speed)
	}
	if how.Until < 0 {
		return cli.Usage("--until %g: must not be negative", how.Until)
	}
	dir := how.Dir
	if dir == "" {
		tmp, err := os.MkdirTemp("", "beckon-replay-")
		if err != nil {
			return fmt.Errorf("making a scratch directory: %w", err)
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	} else if err := scratch(dir); err != nil {
		return err
	}
	start := event.MillisOf(time.Now())
	p := &player{a: a, st: store.Open(dir), tracks: tracks, start: start, screen: screen, playing: how}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if screen {
		return p.onScreen(ctx)
	}
	return p.run(ctx)
}

// scratch refuses a directory that holds sessions of its own.
func scratch(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the scratch directory: %w", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the scratch directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, live.StagedFile)); len(names) > 0 && errors.Is(err, fs.ErrNotExist) {
		return cli.Hint("give a new directory, or one that a replay made", "scratch directory %q is not empty", dir)
	}
	return nil
}

func (p *player) run(ctx context.Context) error {
	moments := p.moments()
	began := time.Now()
	for _, m := range moments {
		if p.Speed > 0 {
			due := began.Add(time.Duration(float64(m.at) / p.Speed * float64(time.Millisecond)))
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return nil
			}
		} else if ctx.Err() != nil {
			return nil
		}
		if err := p.do(m); err != nil {
			return fmt.Errorf("%s at %d ms: %w", p.name(m), m.at, err)
		}
	}
	return nil
}

func (p *player) name(m moment) string {
	if m.track < 0 {
		return "the end"
	}
	return p.tracks[m.track].name
}

// lookAgain is the delay before a registry status is read a second time, in ms: longer than
// Resolve requires it to have been stable.
const lookAgain = 250

// moments merges the tracks in the order of their times.
func (p *player) moments() []moment {
	var all []moment
	for i, t := range p.tracks {
		for _, s := range t.steps {
			if s.Kind == "start" {
				continue
			}
			m := moment{track: i, step: s, at: s.T - t.began()}
			all = append(all, m)
			if s.Kind == "registry" { // read again once the status has been stable long enough
				m.at += lookAgain
				all = append(all, m)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	if p.Until > 0 {
		end := int64(p.Until * 1000)
		all = slices.DeleteFunc(all, func(m moment) bool { return m.at > end })
		all = append(all, moment{track: -1, at: end})
	}
	return all
}

// began returns the time in a track at which playing starts.
func (t *track) began() int64 { return t.steps[0].T - t.scene.after }

// do plays one moment and prints the list if it changed.
func (p *player) do(m moment) error {
	now := p.start + event.Millis(m.at)
	if m.track < 0 { // only time has passed
		return errors.Join(p.stage(now), p.show(now))
	}
	t := &p.tracks[m.track]
	shift := now - m.step.At
	if again := m.at - (m.step.T - t.began()); again > 0 {
		shift -= event.Millis(again)
	} else if m.step.Kind == "registry" {
		t.registry = slices.Clone(m.step.Registry)
		for i := range t.registry {
			t.registry[i].StatusUpdatedAt += shift
			t.registry[i].UpdatedAt += shift
			t.registry[i].StartedAt += shift
		}
	}
	if err := p.stage(now); err != nil {
		return err
	}
	if s, ok := event.ParseStatus(m.step.Payload); ok && m.step.Kind == "statusline" {
		s.Meter.At = now
		if err := p.st.SetMeter(store.KeyOf(s.SessionID), s.Meter); err != nil {
			return err
		}
	}
	if m.step.Hook() {
		if err := p.hook(t, m.step, now); err != nil {
			return err
		}
	}
	return p.show(now)
}

// stage writes the evidence that every view of the scratch directory reads instead of the
// machine's. A registry status counts as soon as it is recorded, since the recorder polled it.
func (p *player) stage(now event.Millis) error {
	var records [][]byte
	for _, t := range p.tracks {
		for _, r := range t.registry {
			b, err := json.Marshal(r)
			if err != nil {
				return err
			}
			records = append(records, b)
		}
	}
	path := filepath.Join(p.st.Dir, live.StagedFile)
	return plainfile.Write(path, live.AppendStaged(nil, now, records), 0o600, false)
}

// hook folds one recorded payload as the hook would have, from the process
// that the recording names.
func (p *player) hook(t *track, step recording.Step, now event.Millis) error {
	payload := strings.NewReplacer(t.scene.words...).Replace(string(step.Payload))
	e, err := event.Parse("", step.Kind, []byte(payload))
	if err != nil {
		return err
	}
	e.At = now
	if e.SessionID == "" {
		return errors.New("payload has no session_id")
	}
	t.scene.stage(&e)
	_, err = p.st.Fold(store.KeyOf(e.SessionID), store.Update{
		Change: state.Change{At: now, Event: &e},
		Origin: func() *event.Origin { return t.scene.origin(step.Origin(t.ever, e.Cwd)) },
	})
	return err
}

// show prints the list if it differs from what was printed last.
func (p *player) show(now event.Millis) error {
	if p.screen {
		return nil // the screen follows the directory
	}
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
	fmt.Fprintf(p.a.Stdout, "-- %.1f s\n", float64(now-p.start)/1000)
	style := term.Style{Color: p.a.Color("auto"), Rich: p.a.Rich(), Width: p.a.Width(), Now: now.Time()}
	return term.List(p.a.Stdout, rows, style)
}
