package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state"
)

// Files besides sessions and history. None of them needs a lock.

const (
	maxLog       = 1 << 20   // bytes, at which the log is renamed to beckon.log.1
	maxDecisions = 128 << 10 // bytes, at which the log of decisions is renamed to notify.jsonl.1
	maxMeter     = 4 << 10   // bytes; ours have about 200
)

// logged is a line of the log. It contains no text of a payload.
type logged struct {
	Level string `json:"level"`
	Pid   int    `json:"pid"`
	Error string `json:"error"`
	Time  string `json:"time"`
}

// Log appends err to the log file, unless it is nil, or ErrBusy: then the event is kept elsewhere. A
// logging library would cost the hook 40 page faults at every start.
func (st *Store) Log(err error) {
	if err == nil || errors.Is(err, ErrBusy) {
		return
	}
	l := logged{"error", os.Getpid(), err.Error(), time.Now().UTC().Format(time.RFC3339)}
	_ = plainfile.AppendLine(st.LogFile(), jsonenc.Append(nil, &l), maxLog)
}

// makeLog makes the log file while files can be made: it tells of the events that are lost later.
func (st *Store) makeLog() {
	_ = st.put(st.LogFile(), func() error {
		f, err := open(st.LogFile(), os.O_WRONLY|os.O_CREATE)
		return errors.Join(err, f.Close())
	})
}

// Lost returns how many events were lost since a moment, as the log tells.
func (st *Store) Lost(since time.Time) (n int) {
	data, _ := readFile(make([]byte, maxLog), st.LogFile(), 2*maxLog)
	for line := range strings.Lines(string(data)) {
		var l logged
		if !jsonenc.Decode(line, &l) || !strings.HasPrefix(l.Error, eventLost) {
			continue
		}
		if at, err := time.Parse(time.RFC3339, l.Time); err == nil && at.After(since) {
			n++
		}
	}
	return n
}

// SetMeter stores a report of session k's status line. Of two simultaneous reports either may remain.
func (st *Store) SetMeter(k Key, m event.Meter) error {
	return st.write(meterDir, string(k)+".json", append(jsonenc.Append(nil, &m), '\n'))
}

// Meter returns the last report of session k's status line, nil if there is none or it cannot be read.
func (st *Store) Meter(k Key) *event.Meter {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readFile(*buf, st.path(meterDir, string(k)+".json"), maxMeter)
	var m event.Meter
	if err != nil || !jsonenc.Decode(string(data), &m) {
		return nil
	}
	return &m
}

// KeepHost stores the last good answer of another host. Any name is allowed.
func (st *Store) KeepHost(name string, answer []byte) error {
	return st.write(hostsDir, string(KeyOf(name))+".json", answer)
}

// Host returns the stored answer of a host, which may have at most limit bytes.
func (st *Store) Host(name string, limit int) ([]byte, error) {
	return readFile(make([]byte, 4096), st.path(hostsDir, string(KeyOf(name))+".json"), limit)
}

// Claim claims the alert id of session k: of all processes that claim it, one gets first set.
func (st *Store) Claim(k Key, id string) (first bool, err error) {
	var f *os.File
	err = st.put(st.claim(k, id), func() (err error) {
		f, err = open(st.claim(k, id), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err == nil:
		return true, f.Close()
	}
	return false, err
}

func (st *Store) claim(k Key, id string) string {
	return st.path(claimsDir, string(k)+string(os.PathSeparator)+id)
}

// Claims returns when each claimed alert of session k was claimed: the user has been notified of it, or is
// about to be.
func (st *Store) Claims(k Key) map[string]event.Millis {
	names, _ := readNames(st.path(claimsDir, string(k))) // those that it gave
	at := make(map[string]event.Millis, len(names))
	for _, n := range names {
		if info, err := os.Stat(st.claim(k, n)); err == nil {
			at[n] = event.MillisOf(info.ModTime())
		}
	}
	return at
}

// Decided is one line of the log of decisions: why the user was or was not notified of an
// alert. It contains no text of the session.
type Decided struct {
	At       event.Millis    `json:"at"`      // when it was decided
	Session  string          `json:"session"` // the session's id
	Kind     state.AlertKind `json:"kind"`
	AlertAt  event.Millis    `json:"edge_at"` // time of the alert
	Verdict  state.Verdict   `json:"verdict"`
	Reason   string          `json:"reason"`
	By       string          `json:"by"`       // hook, deliver, watch, serve
	Channels string          `json:"channels"` // what it was sent through, with a word on each that failed
}

// Decide appends d to the log of decisions. Callers may ignore the error: nothing depends on the log.
func (st *Store) Decide(d Decided) error {
	d.Session, d.Reason = event.Cut(d.Session, event.MaxID), event.Cut(d.Reason, event.MaxText)
	d.Channels = event.Cut(d.Channels, event.MaxText)
	return plainfile.AppendLine(st.DecisionsFile(), jsonenc.Append(nil, &d), maxDecisions)
}

// DecisionsFile is the log of decisions.
func (st *Store) DecisionsFile() string { return st.path(logDir, "notify.jsonl") }

// Decisions returns the log of decisions, the oldest first.
func (st *Store) Decisions() ([]Decided, error) {
	var out []Decided
	for _, path := range [...]string{st.DecisionsFile() + ".1", st.DecisionsFile()} {
		data, err := readFile(make([]byte, maxDecisions), path, 2*maxDecisions)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged) {
			return out, err
		}
		for line := range strings.Lines(string(data)) {
			var d Decided
			if jsonenc.Decode(line, &d) && d.At != 0 {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// kept returns a text of the user or the agent, or nothing if the user wants none kept.
func (st *Store) kept(text string) string {
	if st.NoTexts {
		return ""
	}
	return text
}

// strip removes, if the user wants no texts kept, what anybody said, and the names that the user, the agent
// or a server chose. What a text means is kept: the final message, which decides the session's state, is
// classified first.
func (st *Store) strip(e *event.Event) {
	if !st.NoTexts {
		return
	}
	if e.Kind == event.Stop && e.Message != "" {
		m := state.Means(e)
		m.Question = ""
		e.Meaning = &m
	}
	e.Message, e.Title, e.Model, e.Ask = "", "", "", nil
	texts := [...]*string{&e.Prompt, &e.Reason, &e.Details, &e.Tool.Summary, &e.Answer, &e.AgentType}
	for _, p := range texts {
		if !clientsWord(*p) {
			*p = ""
		}
	}
	for i := range e.Background {
		e.Background[i].Description = ""
	}
	if e.Kind == event.Elicitation || e.Kind == event.ElicitationResult || strings.HasPrefix(e.Tool.Name, "mcp__") {
		e.Tool.Name = "mcp"
	}
	if e.Meter != nil {
		e.Meter.Model = ""
	}
}

// clientsWords are the client's own words for why something ended, failed or was answered, and
// its built-in agents. Any other word may come from a person or an agent.
const clientsWords = " clear resume logout prompt_input_exit bypass_permissions_disabled other " +
	"rate_limit overloaded authentication_failed oauth_org_not_allowed billing_error invalid_request " +
	"model_not_found server_error max_output_tokens unknown account_on_hold verification_required " +
	"cloud_credential_error accept decline cancel " +
	"general-purpose Explore Plan statusline-setup output-style-setup claude-code-guide "

func clientsWord(s string) bool {
	return s != "" && !strings.Contains(s, " ") && strings.Contains(clientsWords, " "+s+" ")
}
