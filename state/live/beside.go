package live

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/agents/beside"
	"beckon/event/plainfile"
	"beckon/event/redact"
	"beckon/state"
	"beckon/state/evidence"
)

// besides caches what agents other than Claude Code last reported.
type besides struct {
	mu     sync.Mutex
	files  map[string]lastRead
	makers map[string]string     // by a session's file and process: the version of both
	titles map[string]paneTitles // by tmux socket
}

// lastRead is the reading of a file, valid until the file changes.
type lastRead struct {
	file    plainfile.Stamp
	reading beside.Reading
}

// paneTitles are the titles of a tmux server's panes.
type paneTitles struct {
	at  time.Time
	all map[string]string // by pane
}

const (
	titlesFor   = 300 * time.Millisecond // how long titles count as current
	titlesLimit = time.Second            // how long a tmux server may take to return them
	maxFiles    = 1000                   // files remembered
)

// beside reads what another agent reports outside the hooks of s: its session file, and
// failing that its terminal's title. open means that both may change at any time.
func (r *Reader) beside(s *state.Session, now event.Millis) (reg state.Registry, open bool) {
	st := s.ByHooks(now).State
	if !st.AtWork() && !st.Asks() {
		return reg, false
	}
	home, _ := os.UserHomeDir()
	if f := r.besides.file(s.Agent, beside.Path(s.Agent, s.ID, s.Transcript, home, os.Getenv)); f.Status != "" {
		reg = state.Reported(f.Status, redact.Text(f.Detail), f.At)
	}
	over := reg.Status != "" && reg.Status != beside.Busy && reg.At >= s.Main().Active
	if t := &s.Origin.Terminal; !over && reg.Status != "waiting" && t.Kind == "tmux" && beside.Titles(s.Agent) {
		if title, ok := r.besides.title(t.Tmux); ok {
			if seen := s.Titled(beside.Title(s.Agent, title, s.Cwd), now); seen.Status != "" {
				reg = seen
			}
		}
	}
	if reg.Status != "waiting" && r.runs(s, now) {
		reg = s.Titled(beside.Busy, now)
	}
	return reg, true
}

// runs reports whether the only call of s, which asks for a permission as far as hooks tell,
// demonstrably runs: the user has answered.
func (r *Reader) runs(s *state.Session, now event.Millis) bool {
	asked := s.SoleAsk()
	return asked != 0 && r.here.Spawned(s.Origin.Process, asked, now)
}

// noted is how long after the end of a turn, in milliseconds, an agent's file is read for the
// note that the user interrupted it.
const noted = 5000

// brokenOff reads whether the user interrupted the turn that has just ended.
func (r *Reader) brokenOff(s *state.Session, now event.Millis) (m state.Marker, open bool) {
	if !beside.Breaks(s.Agent) || now > s.Stop.At+noted || !s.BrokenOff(s.Stop.At) {
		return m, false
	}
	if f := r.besides.file(s.Agent, s.Transcript); f.Status == beside.Idle && s.BrokenOff(f.At) {
		return state.Marker{At: max(f.At, s.Stop.At), Kind: "interrupt"}, false
	}
	return m, true
}

// version returns the version of the agent that runs s: from its own files, or from the
// package that its process, which lives, runs from.
func (t *besides) version(s *state.Session, lives bool) string {
	home, _ := os.UserHomeDir()
	file, p := beside.Path(s.Agent, s.ID, s.Transcript, home, os.Getenv), &s.Origin.Process
	key := file + "\x00" + strconv.Itoa(p.Pid) + "\x00" + p.Start
	t.mu.Lock()
	v, known := t.makers[key]
	t.mu.Unlock()
	if known {
		return v
	}
	if v = beside.Version(s.Agent, file); v == "" && lives {
		v = evidence.PackageVersion(s.Agent, p.Pid)
	}
	if v == "" {
		return "" // it may not be written yet
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.makers == nil || len(t.makers) > maxFiles {
		t.makers = map[string]string{}
	}
	t.makers[key] = v
	return v
}

// file reads a session's file if it has changed.
func (t *besides) file(agent, path string) beside.Reading {
	if path == "" || !beside.Known(agent) {
		return beside.Reading{}
	}
	file, there := plainfile.StampOf(path)
	if !there {
		return beside.Reading{}
	}
	t.mu.Lock()
	f, known := t.files[path]
	t.mu.Unlock()
	if known && f.file == file {
		return f.reading
	}
	f = lastRead{file, beside.File(agent, path)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil || len(t.files) > maxFiles {
		t.files = map[string]lastRead{}
	}
	t.files[path] = f
	return f.reading
}

// title asks a tmux server for a pane's title. It asks for all panes at once, since several
// sessions may need theirs.
func (t *besides) title(tm event.Tmux) (string, bool) {
	if tm.Socket == "" || tm.Pane == "" {
		return "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.titles[tm.Socket]
	if time.Since(known.at).Abs() > titlesFor {
		known = paneTitles{at: time.Now(), all: titlesOf(tm.Socket)}
		if t.titles == nil {
			t.titles = map[string]paneTitles{}
		}
		t.titles[tm.Socket] = known
	}
	title, ok := known.all[tm.Pane]
	return title, ok
}

func titlesOf(socket string) map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), titlesLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-S", socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_title}").Output()
	if err != nil {
		return nil
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		pane, title, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		all[pane] = title
	}
	return all
}
