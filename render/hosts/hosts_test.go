package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
	"beckon/state/store"
)

var t0 = time.Now().UTC().Truncate(time.Second)

func TestParse(t *testing.T) {
	for spec, want := range map[string]string{
		"ssh:build": "build", "ssh:u@build.example.org": "u@build.example.org", "ssh:10.0.0.9": "10.0.0.9",
		"ssh:u@fe80::1%eth0": "u@fe80::1%eth0", "ssh:my_box-2": "my_box-2",
	} {
		if got, err := Parse(spec); got != want || err != nil {
			t.Errorf("%q: %q, %v", spec, got, err)
		}
	}
	for _, spec := range []string{"", "build", "ssh:", "ssh:-oProxyCommand=x", "ssh:u@-oProxyCommand=x", "ssh:@x", "ssh:u@", "ssh:a b", "ssh:a;b", "ssh:$(id)", "ssh:a\n", "ssh:`id`", "ssh:a'b",
		"ssh:a/b", `ssh:a\b`, "ssh:ä", "http:x", "ssh:" + strings.Repeat("a", 300)} {
		if got, err := Parse(spec); err == nil {
			t.Errorf("%q is taken for host %q", spec, got)
		}
	}
}

// Whatever Parse accepts is one plain word after "--".
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ssh:build", "ssh:-x", "ssh:u@h", "ssh:a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		name, err := Parse(spec)
		if err != nil {
			return
		}
		args := arguments(name)
		i := slices.Index(args, "--")
		if name == "" || name[0] == '-' || strings.Contains(name, "@-") || strings.ContainsAny(name, " \t\r\n'\"`$;&|<>()*?!#~\\/=") || args[i+1] != name || args[i+2] != listing || len(args) != i+3 {
			t.Fatalf("%q became %q", spec, args)
		}
	})
}

// machine is another machine whose answers a function gives.
func machine(t *testing.T, dir, name string, answer func() ([]byte, error)) (*Host, *time.Time) {
	t.Helper()
	h, err := Open(store.Open(dir), "ssh:"+name)
	if err != nil {
		t.Fatal(err)
	}
	now := t0
	h.now = func() time.Time { return now }
	h.ask = func(_ context.Context, asked string) ([]byte, error) {
		if asked != name {
			t.Errorf("%s is asked", asked)
		}
		return answer()
	}
	return h, &now
}

func list(at time.Time, rows ...render.Row) []byte {
	data, err := json.MarshalIndent(render.List{Schema: 1, GeneratedAt: at, Sessions: rows}, "", "  ")
	if err != nil {
		panic(err)
	}
	return data
}

func session(id string, st state.State, since time.Time) render.Row {
	return render.Row{SessionID: id, SeatID: "s" + id, State: st, NeedsYou: st.NeedsYou(), Since: since, Project: "shop"}
}

// A host's sessions are listed with its name; if it does not answer they stay, marked as
// stale, even for the next program that looks.
func TestAnswersAreKept(t *testing.T) {
	dir := t.TempDir()
	refused := errors.New("connect to host: refused")
	up := true
	answer := func() ([]byte, error) {
		if !up {
			return nil, refused
		}
		return append([]byte("Welcome!\n"), list(t0, session("one", state.Permission, t0.Add(-time.Minute)))...), nil
	}
	h, now := machine(t, dir, "a", answer)
	if rows, is := h.Last(); len(rows) != 0 || !is.Stale || is.Error != "" {
		t.Fatalf("before it was asked: %v, %+v", rows, is)
	}
	h.Ask(t.Context())
	rows, is := h.Last()
	if len(rows) != 1 || rows[0].Remote == nil || *rows[0].Remote != (render.Remote{Name: "a", AsOf: t0, Asked: true}) || !rows[0].NeedsYou || is.Stale || is.Error != "" {
		t.Errorf("%+v, %+v", rows, is)
	}
	b, _ := machine(t, dir, "b", func() ([]byte, error) { return nil, refused })
	b.Ask(t.Context())
	if rows, is := b.Last(); len(rows) != 0 || !is.Stale || is.Error != refused.Error() || is.AsOf != nil {
		t.Errorf("one that never answered: %v, %+v", rows, is)
	}
	up = false
	*now = t0.Add(time.Hour)
	h.Ask(t.Context())
	if rows, is := h.Last(); len(rows) != 1 || !rows[0].Remote.Stale || !is.AsOf.Equal(t0) || is.Error == "" {
		t.Errorf("an hour later: %+v, %+v", rows, is)
	}

	next, _ := machine(t, dir, "a", answer)
	if rows, is := next.Last(); len(rows) != 1 || !rows[0].Remote.Stale || !is.Stale || !rows[0].Remote.AsOf.Equal(t0) {
		t.Errorf("the next program: %+v, %+v", rows, is)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "hosts", "*"))
	info, err := os.Stat(files[0])
	if len(files) != 1 || err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("kept as %q, %v", files, err)
	}
}

// Who follows a host sees at once what it said last, then its answer.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	first, _ := machine(t, dir, "a", func() ([]byte, error) { return list(t0, session("one", state.Idle, t0)), nil })
	first.Ask(t.Context())
	h, _ := machine(t, dir, "a", func() ([]byte, error) { return list(t0, session("two", state.Idle, t0)), nil })
	ctx, stop := context.WithCancel(t.Context())
	var got []string
	h.Follow(ctx, func(rows []render.Row, _ render.Host, _ bool) {
		got = append(got, fmt.Sprint(rows[0].SessionID, rows[0].Remote.Stale))
		if len(got) == 2 {
			stop()
		}
	})
	if s := strings.Join(got, " "); s != "onetrue twofalse" {
		t.Errorf("it showed %s", s)
	}
}

// What another machine sends is untrusted: it cannot draw on this screen or invent states.
func TestAnswersAreCleaned(t *testing.T) {
	row := session("one\x1b[2J", "celebrating", t0)
	row.NeedsYou, row.Title, row.Host = true, "a\x1b]0;x\x07b\u009b31mc\nd", strings.Repeat("ä", 5000)
	row.Tool = &render.Tool{Name: "Ba\rsh"}
	row.Remote = &render.Remote{Name: "other"}
	rows, err := decode(list(t0, row), t0)
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	got, _ := json.Marshal(rows)
	if strings.ContainsAny(string(got), "\x1b\x07\r\u009b") || strings.Contains(string(got), `\u001b`) {
		t.Errorf("kept %q", got)
	}
	r := rows[0]
	if r.State != state.Unknown || r.NeedsYou || r.Remote != nil || r.Tool.Name != "Ba sh" || len(r.Host) > maxText {
		t.Errorf("kept %+v", r)
	}
	for _, bad := range []string{"", "{}", "[]", "motd {", `{"schema":0,"sessions":[]}`, `{"schema":1,"sessions":7}`, `null`} {
		if rows, err := decode([]byte(bad), t0); err == nil {
			t.Errorf("%q is read as %v", bad, rows)
		}
	}
}

// A wrong clock there does not make a wait longer here.
func TestOtherClocks(t *testing.T) {
	const wrong = 3 * time.Hour
	row := session("one", state.Permission, t0.Add(-time.Minute-wrong))
	row.Turn = &render.Turn{StartedAt: t0.Add(-2*time.Minute - wrong)}
	rows, err := decode(list(t0.Add(-wrong), row), t0)
	if err != nil || !rows[0].Since.Equal(t0.Add(-time.Minute)) || !rows[0].Turn.StartedAt.Equal(t0.Add(-2*time.Minute)) {
		t.Errorf("since %v, %v", rows[0].Since, err)
	}
	near, err := decode(list(t0.Add(-time.Second), session("one", state.Permission, t0.Add(-time.Minute))), t0)
	if err != nil || !near[0].Since.Equal(t0.Add(-time.Minute)) {
		t.Errorf("since %v, %v", near[0].Since, err)
	}
}

func TestMerge(t *testing.T) {
	local := []render.Row{session("here", state.Idle, t0), session("both", state.Permission, t0)}
	remote := []render.Row{session("both", state.Idle, t0), session("there", state.Permission, t0.Add(-time.Hour))}
	remote[0].Remote, remote[1].Remote = &render.Remote{Name: "a"}, &render.Remote{Name: "a"}
	var got []string
	for _, r := range Merge(render.Queue{}, local, remote) {
		got = append(got, fmt.Sprint(r.SessionID, r.Remote != nil))
	}
	if s := strings.Join(got, " "); s != "theretrue bothfalse herefalse" {
		t.Errorf("merged %s", s)
	}
}

// A host that hangs delays the caller no longer than its context.
func TestHostThatHangs(t *testing.T) {
	h, _ := machine(t, t.TempDir(), "hangs", nil)
	h.ask = func(ctx context.Context, _ string) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	h.Ask(ctx)
	if rows, is := h.Last(); len(rows) != 0 || !is.Stale {
		t.Errorf("rows %v, %+v", rows, is)
	}
}
