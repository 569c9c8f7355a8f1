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
	"beckon/state"
)

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
	start := bytes.IndexByte(data, '{') // a shell's rc file may print before it
	if start < 0 {
		return nil, errors.New("the answer is not a list")
	}
	var list render.List
	if err := json.NewDecoder(bytes.NewReader(data[start:])).Decode(&list); err != nil {
		return nil, errors.New("the answer is not a list")
	}
	if list.Schema < 1 {
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
