//go:build unix

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
)

// Recorder records everything that a client sends to hooks and status line, and every change
// of the client's registry.
type Recorder struct {
	home *Home
	log  string

	mu   sync.Mutex
	rows []polled
	stop chan struct{}
	done sync.WaitGroup
}

type polled struct {
	at       time.Time
	sessions []Registered
}

// Seen is a payload that reached the recorder.
type Seen struct {
	At      time.Time
	Kind    string // the event's name, or statusline
	Payload json.RawMessage
	Env     json.RawMessage
}

const pollEvery = 50 * time.Millisecond

// recorderBinary builds the recorder once per process.
var recorderBinary = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "recorder")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/recorder").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the recorder: %w: %s", err, out)
	}
	return os.ReadFile(path)
})

// NewRecorder registers the recorder for every event that the home's client knows, in the
// project's local settings: the user's own stay free for others. Start the client afterwards.
// With statusLine it is the status line, too.
func NewRecorder(h *Home, statusLine bool) (*Recorder, error) {
	binary, err := recorderBinary()
	if err != nil {
		return nil, err
	}
	r := &Recorder{home: h, log: h.path("recorder.jsonl"), stop: make(chan struct{})}
	command := filepath.Join(h.Bin, "recorder")
	if err := os.WriteFile(command, binary, 0o700); err != nil {
		return nil, err
	}
	r.done.Go(r.poll)
	if a := h.client.Agent; a != nil {
		return r, a.hooks(h, command+" "+r.log)
	}
	hooks := fields{}
	for _, name := range EventsOf(h.client.Version) {
		hooks[name] = []any{fields{"hooks": []any{fields{
			"type": "command", "command": command, "args": []string{r.log, name}, "timeout": 10,
		}}}}
	}
	settings := fields{"hooks": hooks}
	if statusLine {
		settings["statusLine"] = fields{"type": "command", "command": command + " " + r.log + " statusline"}
	}
	if err := writeJSON(filepath.Join(h.Project, ".claude", "settings.local.json"), settings); err != nil {
		return nil, err
	}
	return r, nil
}

// Close ends the polling of the registry.
func (r *Recorder) Close() {
	close(r.stop)
	r.done.Wait()
}

func (r *Recorder) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case at := <-tick.C:
			r.note(at, r.home.Registry())
		}
	}
}

func (r *Recorder) note(at time.Time, now []Registered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var last []Registered
	if len(r.rows) > 0 {
		last = r.rows[len(r.rows)-1].sessions
	}
	if !slices.EqualFunc(last, now, Registered.same) {
		r.rows = append(r.rows, polled{at, now})
	}
}

// EventsOf returns the names of the hook events that a client of this version knows and that
// may be registered.
func EventsOf(version string) []string {
	var names []string
	for _, k := range event.Kinds {
		if k.Register != event.Never && !older(version, k.Since) {
			names = append(names, string(k.Kind))
		}
	}
	return names
}

// older reports whether version a is before version b.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	return slices.CompareFunc(as, bs, func(x, y string) int { return atoi(x) - atoi(y) }) < 0
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// Seen returns the payloads so far, in the order in which the recorder was started.
func (r *Recorder) Seen() ([]Seen, error) {
	b, err := os.ReadFile(r.log)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Seen
	for l := range bytes.Lines(b) {
		var s struct {
			AtMS         int64 `json:"at_ms"`
			Kind         string
			Payload, Env json.RawMessage
		}
		if json.Unmarshal(l, &s) != nil {
			continue // still being written
		}
		all = append(all, Seen{time.UnixMilli(s.AtMS), s.Kind, s.Payload, s.Env})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].At.Before(all[j].At) })
	return all, nil
}

// Write writes the recording: the start line with inputs, then everything recorded in order of
// time, with t_ms counted from t0. Paths of this home are replaced.
func (r *Recorder) Write(w io.Writer, t0 time.Time, inputs [][]string) error {
	seen, err := r.Seen()
	if err != nil {
		return err
	}
	type entry struct {
		at   int64
		line []byte
	}
	var all []entry
	var errs []error
	add := func(at time.Time, v any) {
		b, err := marshal(v)
		errs = append(errs, err)
		all = append(all, entry{at.Sub(t0).Milliseconds(), b})
	}
	for _, s := range seen {
		add(s.At, struct {
			T       int64           `json:"t_ms"`
			Kind    string          `json:"kind"`
			Payload json.RawMessage `json:"payload"`
			Env     json.RawMessage `json:"env"`
		}{s.At.Sub(t0).Milliseconds(), s.Kind, s.Payload, s.Env})
	}
	r.mu.Lock()
	for _, p := range r.rows {
		add(p.at, struct {
			T        int64        `json:"t_ms"`
			Kind     string       `json:"kind"`
			Sessions []Registered `json:"sessions"`
		}{p.at.Sub(t0).Milliseconds(), "registry", p.sessions})
	}
	r.mu.Unlock()
	sort.SliceStable(all, func(i, j int) bool { return all[i].at < all[j].at })
	start, err := marshal(struct {
		T        int64      `json:"t_ms"`
		Kind     string     `json:"kind"`
		T0       int64      `json:"t0_epoch_ms"`
		Scenario [][]string `json:"scenario"`
	}{0, "start", t0.UnixMilli(), inputs})
	errs = append(errs, err)
	scrub := r.home.scrubber()
	_, err = w.Write(scrub(start))
	errs = append(errs, err)
	for _, e := range all {
		_, err = w.Write(scrub(e.line))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// writeAgent writes the recording of another agent: a line per hook, and one for each state
// that the scenario expects, in order of time.
func (r *Recorder) writeAgent(w io.Writer, res Result) error {
	seen, err := r.Seen()
	if err != nil {
		return err
	}
	type entry struct {
		at   time.Time
		line any
	}
	var all []entry
	for _, s := range seen {
		var env map[string]string
		_ = json.Unmarshal(s.Env, &env) // the recorder wrote it
		all = append(all, entry{s.At, struct {
			T     int64           `json:"t_ms"`
			Event string          `json:"event"`
			Ppid  int             `json:"ppid"`
			Pane  string          `json:"pane"`
			Stdin json.RawMessage `json:"stdin"`
		}{s.At.Sub(res.Start).Milliseconds(), s.Kind, atoi(env["ppid"]), env["TMUX_PANE"], s.Payload}})
	}
	for _, l := range res.Looks {
		all = append(all, entry{l.At, struct {
			T     int64  `json:"t_ms"`
			Truth string `json:"truth"`
			Title string `json:"title"`
			State string `json:"state"`
		}{l.At.Sub(res.Start).Milliseconds(), l.Step, strings.TrimSpace(l.Title), l.State}})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at.Before(all[j].at) })
	scrub := r.home.scrubber()
	for _, e := range all {
		line, err := marshal(e.line)
		if err != nil {
			return err
		}
		if _, err := w.Write(scrub(line)); err != nil {
			return err
		}
	}
	return nil
}

// marshal is json.Marshal with a newline, without escapes for <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

var (
	perUser = regexp.MustCompile(`(/lab/tmp/claude)-\d+`)
	apiPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// scrubber replaces what differs between runs for no good reason: the paths of this home, in
// both spellings of the client, and the API's port.
func (h *Home) scrubber() func([]byte) []byte {
	dashed := func(p string) string { return notAlnum.ReplaceAllString(p, "-") }
	paths := strings.NewReplacer(
		h.path("t.sock"), "/run/tmux/lab",
		h.Root, "/lab",
		dashed(h.Root), "-lab",
	)
	return func(line []byte) []byte {
		s := paths.Replace(string(line))
		s = perUser.ReplaceAllString(s, "$1")
		return []byte(apiPort.ReplaceAllString(s, "127.0.0.1:8995"))
	}
}
