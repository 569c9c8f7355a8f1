package live

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/history"
	"beckon/state/store"
)

// foldWait is how long a reader waits for a session's lock.
const foldWait = 200 * time.Millisecond

// see finds the evidence and the verdict of a session, and folds what no hook reported. open means that
// the same files may change in a moment: a transcript is awaited, or a lock was held.
func (r *Reader) see(v *state.Seen, known readings, now event.Millis) (open bool) {
	s := &v.Session
	v.Evidence, open = r.evidence(s, known, now)
	for _, o := range state.Observe(*s, v.Evidence, now) {
		open = !r.observe(s, o) || open
	}
	if s.Wordless() && r.staged == nil {
		open = true
		r.finalWords(s, now)
	}
	s.Name = cmp.Or(v.Evidence.Registry.Given(), s.Name) // no hook reports /rename
	v.Resolve(now)
	return open
}

// observe folds o into s, and reports whether it was written.
func (r *Reader) observe(s *state.Session, o state.Observed) bool {
	c := state.Change{At: o.At, Observation: &o}
	return r.fold(s, store.Update{Change: c}, c)
}

// fold folds u into s, and reports whether it was written. If not, s is as c makes it.
func (r *Reader) fold(s *state.Session, u store.Update, c state.Change) bool {
	u.Wait = foldWait
	res, err := r.st.Fold(store.KeyOf(s.Record()), u)
	if err == nil && res.After.Seq != 0 { // else it was pruned meanwhile
		*s = res.After
		return true
	}
	c.Seq = s.Seq
	*s = state.Apply(*s, c)
	return false
}

// finalWords reads from the transcript the message that the Stop of s did not have.
func (r *Reader) finalWords(s *state.Session, now event.Millis) {
	const unwritten = 5000 // after that it never will be
	text, at := evidence.Words(&s.Origin, s.Transcript)
	switch {
	case at > max(s.Prompt.At, s.Start.At):
		t := s.FinalWords(text, at)
		r.fold(s, store.Update{Turns: []state.Turn{t}}, state.Change{At: at, Turn: &t})
	case s.Transcript != "" && now > s.Stop.At+unwritten:
		r.observe(s, state.Observed{Source: state.FromTranscript, What: state.SawNothing, At: s.Stop.At})
	}
}

// evidence gathers what is known of s besides its hooks. open means that its transcript may
// change at any time.
func (r *Reader) evidence(s *state.Session, known readings, now event.Millis) (ev state.Evidence, open bool) {
	p := s.Origin.Process
	ev.Process = r.presence(p, s.Activity)
	if reading, ok := known.of(p); ok {
		ev.Registry, ev.Version = reading, reading.Version
		if reading.SessionID != s.ID {
			ev.Registry.Name = "" // of the session that took over the process
		}
	}
	if s.Agent != "" && s.Agent != event.ClaudeCode {
		if ev.Process != state.Gone && r.staged == nil {
			ev.Registry, open = r.beside(s, now)
			ev.Reviewed = open && transcript.Reviewed(s.Agent, s.Transcript)
			if ev.Process == state.Alive {
				ev.Version = evidence.PackageVersion(s.Agent, s.Origin.Process.Pid)
			}
			if !open {
				open = brokenOff(s, &ev, now)
			}
		}
		return ev, open
	}
	if ev.Process == state.Gone || s.Transcript == "" || r.staged != nil {
		return ev, false
	}
	if ev.Registry.Status == "" || ev.Registry.Menu() || s.OwnTurn() {
		ev.Halted, open = halt(s, now)
	}
	if id, asked := s.Asking(); id != "" && s.Headless() {
		ev.Answer, open = answer(s.Transcript, id, asked, now), true
	}
	return ev, open
}

// answer reads from the transcript of a headless run whether the call that asked has returned.
func answer(path, id string, asked, now event.Millis) state.Answer {
	const refusal = 1000 // ms that a client may take to write that it refused a call
	if now < asked+refusal {
		return state.AnswerUnread
	}
	switch made, answered, err := transcript.Call(path, id); {
	case err != nil || !made:
		return state.AnswerUnread
	case answered:
		return state.AnswerGiven
	}
	return state.AnswerAwaited
}

// halt reads the tail of a running session's transcript where the registry says nothing about the turn: an
// interrupt or refusal leaves a marker there. running reports whether there is a turn to halt.
func halt(s *state.Session, now event.Millis) (at event.Millis, running bool) {
	st := s.ByHooks(now).State
	if s.End.At != 0 || st == state.Idle || st == state.Failed && !s.OwnTurn() {
		return 0, false
	}
	const quiet = 500 // ms without an event: a working agent writes all the time
	if now >= s.Activity+quiet {
		at, _ = transcript.LastHalt(s.Transcript) // one that cannot be read says nothing
	}
	return at, true
}

// archive moves a session that has been over long enough out of the live directory, and
// reports whether it did.
func (r *Reader) archive(v *state.Seen, now event.Millis) bool {
	s := &v.Session
	if s.Seq == 0 || v.Status.State.Live() && s.Removed == 0 || now < store.ArchiveAt(s) {
		return false
	}
	_ = history.Sweep(r.st, s) // the last chance: no view looks at it again
	moved, _ := r.st.Archive(store.KeyOf(s.Record()), now)
	return moved
}

// asksAtStart reports whether a client that has no record asks something (whether its folder is trusted, a
// new MCP server is used): the keys are below each such dialog on its screen. If that cannot be read, one
// that has no record for slowStart asks.
func asksAtStart(t event.Terminal, age event.Millis) bool {
	const slowStart = 5000
	if t.Kind == "tmux" && t.Tmux.Socket != "" && t.Tmux.Pane != "" {
		if screen, err := tmux(t.Tmux.Socket, titlesLimit, "capture-pane", "-p", "-t", t.Tmux.Pane); err == nil {
			return strings.Contains(screen, "Enter to confirm")
		}
	}
	return age >= slowStart
}

// closingWords ends the turn of a session without hooks with the last message in its transcript, if that
// was written since the client started. The client keeps it in a folder named after the directory.
func (r *Reader) closingWords(s *state.Session) {
	project := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return c
		}
		return '-'
	}, s.Cwd)
	file := filepath.Join(filepath.Dir(r.registry), "projects", project, filepath.Base(s.ID)+".jsonl")
	text, at := evidence.Words(&s.Origin, file)
	if at <= s.Created {
		return
	}
	s.Transcript = file
	message := event.CutTail(text, event.MaxMessage)
	stop := event.Event{Agent: s.Agent, Kind: event.Stop, Name: string(event.Stop), At: at, Message: message}
	*s = state.Apply(*s, state.Change{At: at, Event: &stop})
	s.Seq = 0 // it is not written
}

// unhooked makes a session from a registry record alone.
func (r *Reader) unhooked(u *entry, now event.Millis) (state.Seen, bool) {
	reading := u.reading
	p, ok := event.Process{Pid: reading.Pid, Start: reading.ProcStart}, r.staged != nil
	if !ok {
		p, ok = evidence.Process(reading.Pid, r.here)
	}
	if !ok || !evidence.Match(reading, p) {
		return state.Seen{}, false
	}
	terminal := evidence.TerminalOf(p.Pid)
	if reading.Status == evidence.Starting {
		if !asksAtStart(terminal, now-reading.StartedAt) {
			return state.Seen{}, false
		}
		reading.Status, reading.WaitingFor = "waiting", "asks at start"
	}
	g := evidence.Git(reading.Cwd)
	s := state.Session{
		Schema: state.Schema, ID: reading.SessionID, Agent: "claude-code", Cwd: reading.Cwd, Name: reading.Given(),
		Created: reading.StartedAt, Updated: reading.At,
		Origin: event.Origin{
			Process:  p,
			Host:     r.here.Host,
			Terminal: terminal,
			Entry:    reading.Entrypoint,
			Git:      g,
			Project:  evidence.Project(reading.Cwd, g),
		},
	}
	if u.several {
		s.Part = store.PartOf(p)
	}
	ev := state.Evidence{Process: state.Alive, Registry: reading, Version: reading.Version}
	if ev.Registry.Status == "idle" && r.staged == nil {
		r.closingWords(&s)
	}
	st := state.Resolve(s, ev, now)
	st.Source, st.Confidence = state.FromRegistry, state.FromRegistry.Confidence()
	st.Since = reading.At
	return state.Seen{Session: s, Evidence: ev, Status: st}, true
}

// beside reads what another agent reports outside the hooks of s: its session file, its terminal's title.
// open means that they may change at any time.
func (r *Reader) beside(s *state.Session, now event.Millis) (reg state.Registry, open bool) {
	st := s.ByHooks(now).State
	if !st.AtWork() && !st.Asks() {
		return reg, false
	}
	if f := transcript.StatusOf(s.Agent, besideFile(s)); f.Status != "" {
		reg = state.Reported(f.Status, redact.Text(f.Detail), f.At)
	}
	over := reg.Status != "" && reg.Status != transcript.Busy && reg.At >= s.Main().Active
	if t := &s.Origin.Terminal; !over && reg.Status != "waiting" && t.Kind == "tmux" && transcript.Titles(s.Agent) {
		if title, ok := r.title(t.Tmux); ok {
			if seen := s.Titled(transcript.TitleStatus(s.Agent, title, s.Cwd), now); seen.Status != "" {
				reg = seen
			}
		}
	}
	// The only call asks for a permission, as far as hooks tell, and runs: the user has answered.
	if asked := s.SoleAsk(); asked != 0 && reg.Status != "waiting" && r.here.Spawned(s.Origin.Process, asked, now) {
		reg = s.Running(now)
	}
	return reg, true
}

// besideFile returns the file that the agent of s keeps of it.
func besideFile(s *state.Session) string {
	home, _ := os.UserHomeDir()
	return transcript.PathOf(s.Agent, s.ID, s.Transcript, home, os.Getenv)
}

// brokenOff reads whether the user interrupted the turn that has just ended, or it failed. It reports
// whether that may still be written.
func brokenOff(s *state.Session, ev *state.Evidence, now event.Millis) (open bool) {
	const noted = 5000 // ms after the turn's end, in which the agent notes it
	if !transcript.Breaks(s.Agent) || now > s.Stop.At+noted || !s.BrokenOff(s.Stop.At) {
		return false
	}
	f := transcript.StatusOf(s.Agent, s.Transcript)
	at := max(f.At, s.Stop.At)
	switch {
	case !s.BrokenOff(f.At):
	case f.Status == transcript.Idle:
		ev.Halted = at
	case f.Status == transcript.Failed:
		ev.Registry = state.Reported(f.Status, redact.Text(f.Detail), at)
	}
	return ev.Halted == 0 && ev.Registry.At == 0
}

// title asks a tmux server for a pane's title. Each look asks a server once, for all panes.
func (r *Reader) title(tm event.Tmux) (title string, ok bool) {
	if tm.Socket == "" || tm.Pane == "" {
		return "", false
	}
	ask, _ := r.titles.LoadOrStore(tm.Socket, sync.OnceValue(func() string {
		out, _ := tmux(tm.Socket, titlesLimit, "list-panes", "-a", "-F", "#{pane_id} #{pane_title}") // none: nothing is known
		return "\n" + out
	}))
	_, after, ok := strings.Cut(ask.(func() string)(), "\n"+tm.Pane+" ")
	title, _, _ = strings.Cut(after, "\n")
	return title, ok
}

// titlesLimit is how long a tmux server may take to return its panes' titles.
const titlesLimit = time.Second

// Focus asks whether the user looks at a terminal's pane. Only tmux can be asked.
func Focus(t event.Terminal, now time.Time) state.Focus {
	if t.Kind != "tmux" || t.Tmux.Pane == "" || t.Tmux.Socket == "" {
		return state.FocusUnknown
	}
	out, err := tmux(t.Tmux.Socket, 300*time.Millisecond, "list-clients", "-F", clientFormat)
	if err != nil {
		return state.FocusUnknown
	}
	return focusOf(out, t.Tmux.Pane, now)
}

// tmux asks a tmux server, for at most limit.
func tmux(socket string, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", socket}, args...)...).Output()
	return string(out), err
}

// clientFormat lists, for each tmux client, the pane that has its keyboard and whether somebody is there.
const clientFormat = "#{pane_id}|#{client_activity}|#{focus-events}|#{client_termfeatures}|#{client_flags}"

// handsOn is how long after a key press the user is taken to be at the keyboard.
const handsOn = 5 * time.Second

// focusOf parses the clients of a tmux server. A pane that is shown is looked at if its client had a key
// press a moment ago or reports focus; without focus events a client always does, so nothing is known.
func focusOf(clients, pane string, now time.Time) state.Focus {
	shown := state.FocusElsewhere
	for line := range strings.Lines(clients) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		flags := strings.Split(f[4], ",")
		control := slices.Contains(flags, "control-mode") // its terminal shows panes in its own way
		if f[0] != pane && !control {
			continue
		}
		key, _ := strconv.ParseInt(f[1], 10, 64)
		reports := (f[2] == "1" || f[2] == "on") && slices.Contains(strings.Split(f[3], ","), "focus") && !control
		switch {
		case !control && now.Sub(time.Unix(key, 0)) < handsOn, reports && slices.Contains(flags, "focused"):
			return state.FocusHere
		case !reports:
			shown = state.FocusUnknown
		}
	}
	return shown
}
