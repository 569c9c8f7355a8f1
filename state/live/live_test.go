package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/store"
)

// desk is a state directory, a registry and the process of this test, which
// plays the agent.
type desk struct {
	t        *testing.T
	st       *store.Store
	registry string
	process  event.Process
	now      event.Millis
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir := t.TempDir()
	p, ok := evidence.Process(os.Getpid(), evidence.ThisMachine())
	if !ok {
		t.Skip("this platform does not tell a process's start")
	}
	d := &desk{t: t, st: store.Open(filepath.Join(dir, "state")), registry: filepath.Join(dir, "registry"), process: p,
		now: event.MillisOf(time.Now())}
	if err := os.Mkdir(d.registry, 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

// hook folds an event of session s1 at an offset in ms from the desk's time.
func (d *desk) hook(k event.Kind, at event.Millis, edit func(*event.Event)) {
	d.t.Helper()
	e := event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: "s1", At: d.now + at, Cwd: "/",
		Origin: &event.Origin{Process: d.process, Host: d.process.Host}}
	if edit != nil {
		edit(&e)
	}
	if _, err := d.st.Fold("s1", store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
		d.t.Fatal(err)
	}
}

// record writes the client's registry record.
func (d *desk) record(session, status, waitingFor string, at event.Millis) {
	d.t.Helper()
	text := fmt.Sprintf(`{"pid":%d,"procStart":%q,"sessionId":%q,"cwd":"/","kind":"interactive","status":%q,"waitingFor":%q,"startedAt":%d,"updatedAt":%d,"statusUpdatedAt":%d}`,
		d.process.Pid, d.process.Start, session, status, waitingFor, d.now, d.now+at, d.now+at)
	if err := os.WriteFile(filepath.Join(d.registry, fmt.Sprint(d.process.Pid)+".json"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// look expects one session and returns it, seen at an offset in ms.
func (d *desk) look(at event.Millis) state.Seen {
	d.t.Helper()
	seen := d.all(at, false)
	if len(seen) != 1 {
		d.t.Fatalf("%d sessions", len(seen))
	}
	return seen[0]
}

// all returns the sessions at an offset in ms.
func (d *desk) all(at event.Millis, archived bool) []state.Seen {
	d.t.Helper()
	snap, err := d.reader(at).Look(archived)
	if err != nil || len(snap.Problems) > 0 {
		d.t.Fatalf("problems %v, %v", snap.Problems, err)
	}
	return snap.Seen
}

func (d *desk) reader(at event.Millis) *Reader {
	r := NewReader(d.st, d.registry)
	r.Clock = func() time.Time { return (d.now + at).Time() }
	return r
}

func (d *desk) want(at event.Millis, s state.State, reason string) {
	d.t.Helper()
	if st := d.look(at).Status; st.State != s || st.Reason != reason {
		d.t.Fatalf("after %d ms: %s (%s), by %s; want %s (%s)", at, st.State, st.Reason, st.Rule, s, reason)
	}
}

func bash(e *event.Event) {
	e.Tool = event.Tool{Name: "Bash", UseID: "t1", Hash: "h", Summary: "Bash: make"}
}

func TestEscIsSeenInTheRegistryAndNotedOnce(t *testing.T) {
	d := newDesk(t)
	d.hook(event.UserPromptSubmit, 0, nil)
	d.hook(event.PreToolUse, 10, bash)
	d.record("s1", "busy", "", 5)
	d.want(1000, state.Working, "")
	d.record("s1", "idle", "", 2000)
	d.want(2050, state.Working, "") // a status that lasts only a moment is ignored
	d.want(2300, state.Idle, state.Interrupted)
	before := d.look(2400).Session.Seq
	if after := d.look(2500).Session.Seq; after != before {
		t.Errorf("looking again wrote line %d: an observation is noted once", after)
	}
	// Without the registry the observation still holds.
	if err := os.RemoveAll(d.registry); err != nil {
		t.Fatal(err)
	}
	d.want(3000, state.Idle, state.Interrupted)
}

// The lines are those of 2.1.330, without what is not read.
func TestHeadlessCallIsSeenInTheTranscript(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	line := func(s string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := fmt.Fprintln(f, s); err != nil {
			t.Fatal(err)
		}
	}
	headless := func(e *event.Event) {
		bash(e)
		e.Origin.Entry, e.TranscriptPath = "sdk-cli", path
	}
	d.hook(event.UserPromptSubmit, 0, headless)
	d.hook(event.PreToolUse, 10, headless)
	d.hook(event.PermissionRequest, 20, func(e *event.Event) { headless(e); e.Tool.UseID = "" })
	d.record("s1", "busy", "", 5)
	d.want(3000, state.Working, "") // without a transcript nothing shows that a hook holds the call
	line(`{"type":"assistant","timestamp":"2026-11-22T02:47:00.000Z","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}],"stop_reason":"tool_use"}}`)
	d.want(500, state.Working, "") // it may still be refused
	d.want(3100, state.Permission, "Bash")
	line(`{"type":"user","timestamp":"2026-11-22T02:47:06.000Z","toolDenialKind":"hook","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}}`)
	d.want(3200, state.Working, "")
}

func TestApprovalIsSeenInTheRegistry(t *testing.T) {
	d := newDesk(t)
	d.hook(event.UserPromptSubmit, 0, nil)
	d.hook(event.PreToolUse, 10, bash)
	d.hook(event.PermissionRequest, 20, func(e *event.Event) { bash(e); e.Tool.UseID = "" })
	d.record("s1", "waiting", "permission prompt", 25)
	d.want(1000, state.Permission, "Bash")
	d.record("s1", "busy", "", 1500)
	d.want(1800, state.Working, "")
}

func TestLeftOverRecordOfAnotherProcessIsNotBelieved(t *testing.T) {
	d := newDesk(t)
	d.hook(event.UserPromptSubmit, 0, nil)
	d.process.Start += "0" // the record's pid was reused
	d.record("s1", "idle", "", 1000)
	d.want(2000, state.Working, "")
}

func TestUnreadableRegistryLeavesTheHooksInCharge(t *testing.T) {
	for name, spoil := range map[string]func(d *desk) error{
		"a file": func(d *desk) error { os.Remove(d.registry); return os.WriteFile(d.registry, nil, 0o600) },
		"unknown shape": func(d *desk) error {
			return os.WriteFile(filepath.Join(d.registry, fmt.Sprint(d.process.Pid)+".json"), []byte(`{"v":2}`), 0o600)
		},
		"torn": func(d *desk) error {
			return os.WriteFile(filepath.Join(d.registry, fmt.Sprint(d.process.Pid)+".json"), []byte(`{"pid":`), 0o600)
		},
		"new status": func(d *desk) error { d.record("s1", "pondering", "", 1000); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.hook(event.UserPromptSubmit, 0, nil)
			if err := spoil(d); err != nil {
				t.Fatal(err)
			}
			d.want(2000, state.Working, "")
		})
	}
}

func TestHaltIsSeenInTheTranscriptWithoutARegistry(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	stamp := func(at event.Millis) string {
		return (d.now + at).Time().Format("2006-01-02T15:04:05.000Z")
	}
	text := fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":"go"}}
{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}
`, stamp(0), stamp(1000))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.hook(event.UserPromptSubmit, 0, func(e *event.Event) { e.TranscriptPath = path })
	d.want(2000, state.Idle, state.Interrupted)
	if o := d.look(2100).Session.Seeing; len(o) != 1 || o[0].Source != state.FromTranscript {
		t.Errorf("observed %+v, want one from the transcript", o)
	}
	d.hook(event.UserPromptSubmit, 3000, func(e *event.Event) { e.TranscriptPath = path }) // the marker is old now
	d.want(4000, state.Working, "")
}

func TestGoneProcessIsLostAndThenArchived(t *testing.T) {
	d := newDesk(t)
	d.hook(event.UserPromptSubmit, 0, func(e *event.Event) { e.Origin.Process.Start += "0" })
	d.want(1000, state.Lost, "process is gone")
	if seen := d.all(11*60*1000, false); len(seen) != 0 {
		t.Fatalf("%d sessions after ten minutes; want none", len(seen))
	}
	if seen := d.all(11*60*1000, true); len(seen) != 1 || seen[0].Status.State != state.Lost {
		t.Fatalf("archive %+v; want the lost session", seen)
	}
}

// An agent's progress is read from its transcript before the session leaves the live views.
func TestArchivedSessionKeepsItsProgress(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "t.jsonl")
	said := fmt.Sprintf(`{"type":"assistant","uuid":"u","isSidechain":false,"timestamp":%q,"message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"Looking at the wall first."}]}}`+"\n",
		time.UnixMilli(int64(d.now)+200).UTC().Format("2006-01-02T15:04:05.000Z"))
	if err := os.WriteFile(file, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	d.hook(event.UserPromptSubmit, 100, func(e *event.Event) { e.Prompt, e.TranscriptPath = "go", file })
	d.hook(event.PreToolUse, 300, bash)
	d.hook(event.SessionEnd, 400, nil)
	d.all(400+event.Millis(store.ArchiveAfter.Milliseconds()), false)
	var texts []string
	if err := d.st.Lines(store.Select{Key: "s1", Kind: "turn"}, func(l *store.Line) { texts = append(texts, l.Turn.Text) }); err != nil || len(texts) != 2 || texts[1] != "Looking at the wall first." {
		t.Errorf("turns %q, %v", texts, err)
	}
	live, err := d.st.List(false)
	all, err2 := d.st.List(true)
	if len(live) != 0 || len(all) != 1 || err != nil || err2 != nil {
		t.Errorf("%q are live of %q, %v, %v", live, all, err, err2)
	}
}

func TestSessionsWithoutHooksAreListed(t *testing.T) {
	d := newDesk(t)
	d.record("s9", "waiting", "permission prompt", 0)
	v := d.look(1000)
	if v.Session.ID != "s9" || v.Status.State != state.Permission || v.Status.Source != state.FromRegistry {
		t.Errorf("seen %q %s from %s; want s9, permission, from the registry", v.Session.ID, v.Status.State, v.Status.Source)
	}
	d.record("s9", "idle", "", 1500)
	d.want(3000, state.Idle, state.Fresh)

	// Once its hooks report, there is still one session.
	d.hook(event.UserPromptSubmit, 4000, func(e *event.Event) { e.SessionID = "s9" })
	d.look(5000)
}

// The closing question of a session without hooks is read from its transcript.
func TestClosingQuestionWithoutHooks(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(filepath.Dir(d.registry), "projects", "-", "s9.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprintf(`{"type":"assistant","uuid":"u","isSidechain":false,"timestamp":%q,"message":{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Shall I drop the table?"}]}}`+"\n",
		time.UnixMilli(int64(d.now)+900).UTC().Format("2006-01-02T15:04:05.000Z"))
	if err := os.WriteFile(file, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	d.record("s9", "busy", "", 500)
	d.want(800, state.Working, "registry")
	d.record("s9", "idle", "", 1000)
	d.want(2000, state.Question, "text")
	if v := d.look(2000); v.Session.Stop.Question != "Shall I drop the table?" {
		t.Errorf("question %q", v.Session.Stop.Question)
	}
}

// A client without hooks is listed, but not one that a policy runs as a judge.
func TestClientWithoutHooksIsListedAndAJudgeIsNot(t *testing.T) {
	d := newDesk(t)
	d.record("s9", "busy", "", 0)
	if got := d.look(1000).Session.ID; got != "s9" {
		t.Fatalf("listed %q", got)
	}
	file := filepath.Join(d.registry, fmt.Sprint(d.process.Pid)+".json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	judge := strings.Replace(string(text), `"cwd":"/"`, `"cwd":"/tmp/`+event.ModelDir+`123"`, 1)
	if err := os.WriteFile(file, []byte(judge), 0o600); err != nil {
		t.Fatal(err)
	}
	if seen := d.all(1000, false); len(seen) != 0 {
		t.Errorf("listed %+v", seen)
	}
}

// A second client of a session is a row of its own as long as none of its hooks have reported,
// unless the reported hooks may be its own.
func TestReaderShowsASecondClient(t *testing.T) {
	d := newDesk(t)
	other, ok := evidence.Process(os.Getppid(), evidence.ThisMachine())
	if !ok {
		t.Skip("the parent cannot be read")
	}
	mine := d.process
	d.process = other
	d.hook(event.PermissionRequest, 0, nil)
	d.process = mine
	d.record("s1", "busy", "", 10)
	seen := d.all(1000, false)
	if len(seen) != 2 || seen[0].Session.Record() == seen[1].Session.Record() {
		t.Fatalf("%d sessions", len(seen))
	}
	for i, want := range []state.State{state.Permission, state.Working} {
		if got := seen[i].Status.State; got != want {
			t.Errorf("%q is %s, want %s", seen[i].Session.Record(), got, want)
		}
	}

	d = newDesk(t)
	d.process = event.Process{}
	d.hook(event.PermissionRequest, 0, nil)
	d.process = mine
	d.record("s1", "busy", "", 10)
	d.want(1000, state.Permission, "")
}

// If two machines with one name share a state directory, a process on the other machine is
// never taken for dead, if its record says which machine that is.
func TestReaderOfMachinesWithOneName(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine string
		ago     event.Millis // before this machine's boot
		want    state.State
		reason  string
	}{
		{"the other machine waits", "another", -1000, state.Permission, ""},
		{"the other machine waited before this one's boot", "another", 1000, state.Permission, ""},
		{"of an older version's record, heard of since", "", -1000, state.Permission, ""},
		{"of an older version's record", "", 1000, state.Lost, "process is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			boot := evidence.ThisMachine().Booted
			if boot == 0 || d.process.Boot == "" || d.process.Host == "" {
				t.Skip("this platform does not tell when it booted, or has no name")
			}
			d.process.Boot, d.process.Machine = "another-boot", c.machine
			if c.machine == "another" && evidence.ThisMachine().ID == "" {
				t.Skip("this machine has no id")
			}
			d.hook(event.PermissionRequest, boot-c.ago-d.now, nil)
			v := d.look(boot + 2000 - d.now) // long after the boot: by then it has been silent for too long
			if v.Status.State != c.want || c.reason != "" && v.Status.Reason != c.reason {
				t.Errorf("it is %s (%s)", v.Status.State, v.Status.Reason)
			}
		})
	}
}

// The name is the registry's current one, else the one that a hook reported last. The name
// that the client derives from the directory does not count.
func TestNames(t *testing.T) {
	d := newDesk(t)
	d.hook(event.SessionStart, 0, nil)
	d.hook(event.UserPromptSubmit, 100, func(e *event.Event) { e.Prompt, e.Title = "go", "website" })
	for _, c := range []struct{ name, source, want string }{
		{"proj-ec", "derived", "website"}, {"shop front", "user", "shop front"}, {"", "", "website"},
	} {
		d.record("s1", "busy", "", 100)
		file := filepath.Join(d.registry, fmt.Sprint(d.process.Pid)+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		more := fmt.Sprintf(`{"name":%q,"nameSource":%q,`, c.name, c.source)
		if err := os.WriteFile(file, []byte(more+string(text[1:])), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.look(200); got.Session.Name != c.want || got.Evidence.Registry.Name != c.name {
			t.Errorf("%s by %q: named %q, the client's name is %q", c.name, c.source, got.Session.Name, got.Evidence.Registry.Name)
		}
	}
}

// A session whose file was removed while it was looked at keeps its id, and what was just seen.
func TestFoldOfRemovedSession(t *testing.T) {
	r := NewReader(store.Open(t.TempDir()), "")
	turn := state.Turn{Actor: state.SpeakerAgent, Text: "All is done.", At: 5, Source: state.TimeTranscript}
	s := state.Session{Schema: state.Schema, ID: "s", Seq: 3}
	if r.fold(&s, store.Update{Turns: []state.Turn{turn}}, state.Change{At: 5, Turn: &turn}) || s.ID != "s" || s.Seq != 3 {
		t.Errorf("got %+v", s)
	}
}
