// Package hosts shows the sessions of other machines in the same list without a server there:
// it asks each by ssh for its `beckon list --json`.
//
// It guarantees: a host that does not answer delays nobody beyond deadline and keeps its last
// good answer, marked as stale; a host's name never becomes an option or text for a shell;
// control characters in a host's answer are removed before anybody sees it. It never prompts
// the user: a host that wants a password counts as unreachable.
package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/run"
	"beckon/render"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/store"
)

// deadline is the longest that one request to one host takes.
const deadline = 5 * time.Second

// keep is how long the answer of an unreachable host is shown.
const keep = 14 * 24 * time.Hour

// Host is another machine to ask. Its methods are not safe for concurrent use.
type Host struct {
	st  *store.Store
	ask func(ctx context.Context, name string) ([]byte, error)
	now func() time.Time

	rows []render.Row // of the last good answer
	is   render.Host
}

// Kept is other machines' last answers, stored on disk for callers that do not wait for them.
type Kept struct {
	Name  string        `json:"name"`
	AsOf  time.Time     `json:"as_of"`
	Rows  []render.Row  `json:"sessions"`
	Hosts []render.Host `json:"hosts,omitempty"` // of a fleet
}

// Keep stores k under its name. A failure affects only later readers.
func (k Kept) Keep(st *store.Store) {
	if data, err := json.Marshal(k); err == nil && len(data) < maxAnswer {
		_ = st.KeepHost(k.Name, append(data, '\n'))
	}
}

// KeptOf reads what is stored under a name and not older than age at now. None is not an
// error.
func KeptOf(st *store.Store, name string, age time.Duration, now time.Time) (Kept, bool) {
	var k Kept
	data, err := st.Host(name, maxAnswer)
	if err != nil || json.Unmarshal(data, &k) != nil || k.Name != name || now.Sub(k.AsOf) > age {
		return Kept{}, false
	}
	return k, true
}

// Open returns the host that spec names ("ssh:NAME", see Parse), with its last answer. It does
// not ask yet.
func Open(st *store.Store, spec string) (*Host, error) {
	name, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	h := &Host{st: st, ask: ask, now: time.Now, is: render.Host{Name: name, Stale: true}}
	if last, ok := KeptOf(st, name, keep, h.now()); ok {
		h.rows, h.is.AsOf = last.Rows, &last.AsOf
	}
	return h, nil
}

// Ask asks the host, and returns when it has answered or deadline is over.
func (h *Host) Ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	data, err := h.ask(ctx, h.is.Name)
	at := h.now().UTC()
	var rows []render.Row
	if err == nil {
		rows, err = decode(data, at)
	}
	h.is.Stale, h.is.Error = err != nil, ""
	if err != nil {
		h.is.Error = err.Error()
		return
	}
	h.rows, h.is.AsOf = rows, &at
	Kept{Name: h.is.Name, AsOf: at, Rows: rows}.Keep(h.st)
}

// Last returns a copy of the rows of the last good answer, and the host's status.
func (h *Host) Last() ([]render.Row, render.Host) {
	rows := slices.Clone(h.rows)
	for i := range rows {
		rows[i].Remote = &render.Remote{Name: h.is.Name, AsOf: *h.is.AsOf, Stale: h.is.Stale, Asked: true}
	}
	return rows, h.is
}

// askEvery is how often a host that answers is asked, and askLeast how often one that does not.
const (
	askEvery = 5 * time.Second
	askLeast = time.Minute
)

// Follow asks the host until ctx ends: less often after each failure. It calls show with the
// rows of the last good answer and the host's status, at first and after each request.
func (h *Host) Follow(ctx context.Context, show func(rows []render.Row, is render.Host, asked bool)) {
	for wait := time.Duration(0); ; {
		rows, is := h.Last()
		show(rows, is, wait > 0)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		h.Ask(ctx)
		if wait = min(max(2*wait, askEvery), askLeast); !h.is.Stale {
			wait = askEvery
		}
	}
}

// Distinct returns the rows of this machine and of others. A session found in several places
// (a shared home, this machine under another name) is there once: as the local row, else as
// that of a machine that is not silent.
func Distinct(local, remote []render.Row) []*render.Row {
	rows, there := make([]*render.Row, 0, len(local)+len(remote)), make(map[string]bool, len(local)+len(remote))
	add := func(r *render.Row) {
		if !there[r.Record()] {
			there[r.Record()] = true
			rows = append(rows, r)
		}
	}
	for i := range local {
		add(&local[i])
	}
	for _, stale := range []bool{false, true} {
		for i := range remote {
			if r := &remote[i]; stale == (r.Remote != nil && r.Remote.Stale) {
				add(r)
			}
		}
	}
	return rows
}

// Merge returns the rows of Distinct in the order of q.Arrange.
func Merge(q render.Queue, local, remote []render.Row) []render.Row {
	return q.Grouped(Distinct(local, remote), true)
}

// Silent returns a line for each host with an error, and for each silent one.
func Silent(list []render.Host, now time.Time) (lines []string) {
	for _, st := range list {
		name, why, shown := render.OneLine(st.Name), render.OneLine(st.Error), ""
		if st.AsOf != nil {
			shown = "; shown is what it said " + term.Age(now.Sub(*st.AsOf)) + " ago"
		}
		switch {
		case !st.Stale && why != "":
			lines = append(lines, fmt.Sprintf("host %s: %s", name, why))
		case !st.Stale:
		case why != "":
			lines = append(lines, fmt.Sprintf("asking host %s: %s%s", name, why, shown))
		default:
			lines = append(lines, fmt.Sprintf("host %s is not heard%s", name, shown))
		}
	}
	return lines
}

// Parse parses a host from the command line, "ssh:NAME", and returns the name. A name has only
// letters, digits and "._-@:%[]", and neither it nor its host part begins with "-": so ssh can
// take it for nothing else, and a ProxyCommand that contains it is safe.
func Parse(spec string) (name string, err error) {
	name, ok := strings.CutPrefix(spec, "ssh:")
	_, address, at := strings.Cut(name, "@")
	if !ok || name == "" || len(name) > 255 || name[0] == '-' || name[0] == '@' ||
		at && (address == "" || address[0] == '-') ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@:%[]") != "" {
		return "", fmt.Errorf("host %q: a host is ssh:NAME, where NAME is an alias or [user@]address of ssh's", spec)
	}
	return name, nil
}

// listing is the remote command. It is constant, so nothing of ours is quoted into it. It
// names sh because the user's shell may be another.
const listing = `exec sh -c 'PATH="$PATH:$HOME/.local/bin:$HOME/go/bin"; exec beckon list --json'`

const maxAnswer = 8 << 20

// arguments returns the arguments for ssh to ask name: without prompts and forwarding, and
// with a timeout. The connection stays open for a while, so that the next request takes
// milliseconds.
func arguments(name string) []string {
	return append(shared(), "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=3",
		"-o", "ClearAllForwardings=yes", "--", name, listing)
}

// keepOpen is how long an idle connection stays open.
const keepOpen = "60s"

// shared makes ssh use one connection for all requests, if there is a private place for its
// socket whose path is short enough.
func shared() []string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" || len(dir) > 40 || !filepath.IsAbs(dir) || strings.ContainsAny(dir, "% \t\"'") {
		return nil
	}
	return []string{"-o", "ControlMaster=auto", "-o", "ControlPersist=" + keepOpen,
		"-o", "ControlPath=" + filepath.Join(dir, "beckon-%C")}
}

func ask(ctx context.Context, name string) ([]byte, error) {
	p := run.Program{Argv: append([]string{"ssh"}, arguments(name)...), Limit: deadline, Max: maxAnswer}
	out, said, err := p.Outputs(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer in %v", deadline)
	case out.Cut:
		return nil, errors.New("the answer is too long")
	case err == nil:
		return out.Kept, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, err
	}
	if exit.ExitCode() == 127 {
		return nil, errors.New("beckon is not there")
	}
	why := render.Lines(string(said.Kept))
	if len(why) == 0 {
		return nil, err
	}
	return nil, errors.New(event.Cut(why[len(why)-1], 300)) // ssh's own warnings come before
}

const (
	maxRows = 1000 // of one host
	maxText = 2048 // bytes of any one text
	// skewed is by how much another machine's clock may differ before its times are moved to
	// ours; the answer itself takes less than deadline.
	skewed = deadline
)

// decode parses a host's `list --json` that arrived at now.
func decode(data []byte, now time.Time) ([]render.Row, error) {
	start := max(0, bytes.IndexByte(data, '{')) // a shell's rc file may print before it
	var list render.List
	err := json.NewDecoder(bytes.NewReader(data[start:])).Decode(&list)
	if err != nil || list.Schema < 1 {
		return nil, errors.New("the answer is not a list that this version reads")
	}
	return Accept(&list, now, skewed), nil
}

// Accept returns the rows of a list from an untrusted sender that arrived at now, with clean texts.
// It moves their times to this machine's clock if the sender's differs by more than skewed.
func Accept(list *render.List, now time.Time, skewed time.Duration) []render.Row {
	rows := list.Sessions[:min(len(list.Sessions), maxRows)]
	skew := now.Sub(list.GeneratedAt)
	for i := range rows {
		jsonenc.Each(&rows[i], clean)
		settle(&rows[i])
		if skew.Abs() > skewed {
			shift(&rows[i], skew)
		}
	}
	return slices.DeleteFunc(rows, func(r render.Row) bool { return r.SessionID == "" })
}

func known(s state.State) bool { return slices.Contains(state.States[:], s) }

// settle gives a row from an untrusted sender the consistency that views rely on.
func settle(r *render.Row) {
	if !known(r.State) {
		r.Reason = fmt.Sprintf("state %q", r.State)
		r.State = state.Unknown
	}
	for i := range r.Subagents {
		if a := &r.Subagents[i]; !known(a.State) {
			a.State = state.Unknown
		}
	}
	r.NeedsYou = r.State.NeedsYou()
	r.Group = render.GroupOf(r) // a host of an earlier version sends none
	r.Remote = nil
}

func shift(r *render.Row, d time.Duration) {
	for _, t := range [...]*time.Time{&r.Since, &r.CreatedAt, &r.FirstSeen, &r.UpdatedAt} {
		*t = t.Add(d)
	}
	if r.Turn != nil {
		r.Turn.StartedAt = r.Turn.StartedAt.Add(d)
	}
}

// clean makes a text one short line without control characters.
func clean(v reflect.Value) {
	if v.Kind() == reflect.String && v.CanSet() {
		v.SetString(event.Cut(render.OneLine(v.String()), maxText))
	}
}
