package request

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/state/evidence"
)

const question = `{"session_id":"s1","cwd":"/p","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[` +
	`{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]},` +
	`{"question":"Which fruits?","multiSelect":true,"options":[{"label":"Apple"},{"label":"Pear"},{"label":"Plum"}]}]}}`

const write = `{"session_id":"s1","cwd":"/p","hook_event_name":"PermissionRequest","tool_name":"Write","tool_input":{"file_path":"/p/a","content":"x"},` +
	`"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`

// made returns a request for whose answer this process waits.
func made(t *testing.T, d Dir, kind Kind, payload string, now time.Time) Request {
	t.Helper()
	self, ok := evidence.Process(os.Getpid(), evidence.ThisMachine())
	if !ok {
		t.Skip("processes cannot be read here")
	}
	at := event.MillisOf(now)
	o := Request{Kind: kind, Event: "PermissionRequest", Record: "s1", Session: "s1", Made: at, Expires: at + 60_000, Waiter: self, Client: self, Payload: []byte(payload)}
	if err := d.Make(&o, now); err != nil {
		t.Fatal(err)
	}
	return o
}

func allow(o Request) Answer {
	return Answer{Request: o.ID, Digest: o.Digest, Word: Allow, From: Terminal, By: "kim"}
}

// Of any number of answers exactly one counts, and the other senders learn who gave it.
func TestOneAnswerCounts(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	for range 20 {
		o := made(t, d, Permission, write, now)
		var given atomic.Int32
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				a := allow(o)
				a.By = string(rune('a' + i))
				var taken *TakenError
				switch err := d.Give(a, now); {
				case err == nil:
					given.Add(1)
				case !errors.As(err, &taken) || taken.By.By == "":
					t.Errorf("the other was told %v", err)
				}
			})
		}
		all.Wait()
		if n := given.Load(); n != 1 {
			t.Errorf("%d answers counted", n)
		}
		if list, err := d.List(now); err != nil || len(list) != 0 {
			t.Errorf("answered, and still open: %v, %v", list, err)
		}
		if !d.Close(o.ID, "") {
			t.Error("it was closed before")
		}
		if err := d.Give(allow(o), now); !errors.As(err, new(*TakenError)) {
			t.Errorf("afterwards: %v", err)
		}
	}
}

func TestRefusedAnswers(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	q := made(t, d, Question, question, now)
	with := func(a Answer, change func(*Answer)) Answer { change(&a); return a }
	for name, c := range map[string]struct {
		a    Answer
		at   time.Time
		want error
	}{
		"another id":       {with(allow(o), func(a *Answer) { a.Request = "AAAAAAAAAAAAAAAAAAAAAAAAAA" }), now, ErrNone},
		"a path for an id": {with(allow(o), func(a *Answer) { a.Request = "../../sessions" }), now, ErrNone},
		"another's digest": {with(allow(o), func(a *Answer) { a.Digest = q.Digest }), now, ErrChanged},
		"no digest":        {with(allow(o), func(a *Answer) { a.Digest = "" }), now, ErrChanged},
		"late":             {allow(o), now.Add(time.Hour), ErrExpired},
		"always by phone":  {with(allow(o), func(a *Answer) { a.Always, a.From = 1, Phone }), now, ErrAlways},
		"no such rule":     {with(allow(o), func(a *Answer) { a.Always = 2 }), now, nil},
		"another's word":   {with(allow(o), func(a *Answer) { a.Word = Say }), now, nil},
		"no choice":        {allow(q), now, nil},
		"one of two":       {with(allow(q), func(a *Answer) { a.Choices = map[string]string{"Which colour?": "Red"} }), now, nil},
		"another question": {with(allow(q), func(a *Answer) { a.Choices = map[string]string{"Which colour?": "Red", "x": "y"} }), now, nil},
		"a huge message":   {with(allow(o), func(a *Answer) { a.Word, a.Message = Deny, string(make([]byte, maxMessage+1)) }), now, nil},
	} {
		err := d.Give(c.a, c.at)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	good := with(allow(q), func(a *Answer) {
		a.Choices = map[string]string{"Which colour?": "my own", "Which fruits?": "Apple, Plum"}
	})
	if err := d.Give(good, now); err != nil {
		t.Error(err)
	}
	if got, ok := d.Answered(q.ID); !ok || got.Choices["Which fruits?"] != "Apple, Plum" || got.At == 0 {
		t.Errorf("kept %+v, %v", got, ok)
	}
}

// A payload that was changed after the request was made is rejected: it is not the one that was
// shown.
func TestAlteredPayload(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	was, err := os.ReadFile(d.open(o.ID, callFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.open(o.ID, callFile), append(was, ' '), fileMode); err != nil {
		t.Fatal(err)
	}
	if err := d.Give(allow(o), now); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if _, _, err := d.given(o.ID, o.Digest); !errors.Is(err, ErrChanged) {
		t.Errorf("the process that waits got %v", err)
	}
}

func TestRequestsOfTheDead(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	o.Waiter.Start = "1" // its pid has been reused
	if err := d.Make(&o, now); err != nil {
		t.Fatal(err)
	}
	if list, _ := d.List(now); len(list) != 1 || list[0].ID == o.ID {
		t.Errorf("listed %v", list)
	}
	if err := d.Give(allow(o), now); !errors.Is(err, ErrOver) {
		t.Errorf("got %v", err)
	}
	for _, dir := range []string{d.open(o.ID), d.done(o.ID, callFile)} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
	if out, known := d.Outcome(o.ID, 0); !known || out.Why != WhyKilled {
		t.Errorf("became %+v, %v", out, known)
	}
}

// A process killed while it makes a request leaves a part of one, which goes with the next look.
func TestHalfMade(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	half := made(t, d, Permission, write, now)
	half.Waiter.Start = "1"
	b, err := json.Marshal(half)
	if err != nil {
		t.Fatal(err)
	}
	tmp := d.open("." + half.ID)
	if err := os.Rename(d.open(half.ID), tmp); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tmp, callFile), b, fileMode); err != nil {
		t.Fatal(err)
	}
	if d.Sweep(now); d.hasFiles(t) {
		t.Error("it is still there")
	}
	if err := os.MkdirAll(tmp, dirMode); err != nil { // killed before it wrote anything
		t.Fatal(err)
	}
	if d.Sweep(now); !d.hasFiles(t) {
		t.Error("a request in the making was removed")
	}
	if d.Sweep(now.Add(silent + time.Minute)); d.hasFiles(t) {
		t.Error("an empty directory is still there")
	}
}

func (d Dir) hasFiles(t *testing.T) bool {
	t.Helper()
	names, err := os.ReadDir(d.OpenDir())
	if err != nil {
		t.Fatal(err)
	}
	return len(names) > 0
}

// When a request is over its question is removed, and who answered is kept for an hour.
func TestClosed(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	if !d.Close(o.ID, WhyCall) || d.Close(o.ID, WhyCall) {
		t.Error("it is not closed once")
	}
	out, known := d.Outcome(o.ID, time.Second)
	if !known || out.Taken || out.Why != WhyCall || out.At == 0 {
		t.Errorf("became %+v, %v", out, known)
	}
	if err := d.Give(allow(o), now); !errors.Is(err, ErrOver) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(d.done(o.ID, callFile)); err == nil {
		t.Error("the payload is kept")
	}
	made(t, d, Permission, write, now.Add(2*kept))
	if _, err := os.Stat(d.done(o.ID)); err == nil {
		t.Error("it is kept for ever")
	}
}

// Who answered is kept, but not the words.
func TestClosedWithoutTexts(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	a := allow(o)
	a.Word, a.Message = Deny, "the password is swordfish"
	if err := d.Give(a, now); err != nil {
		t.Fatal(err)
	}
	// A program that answers at the same moment, or that was killed, leaves a part of its answer.
	for _, name := range []string{".new-1", ".new-2"} {
		if err := os.WriteFile(d.open(o.ID, name), []byte(a.Message), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !d.Close(o.ID, "") {
		t.Fatal("it was closed before")
	}
	if left, err := os.ReadDir(d.OpenDir()); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
	if by, ok := d.Answered(o.ID); !ok || by.By != a.By || by.Word != Deny || by.Message != "" {
		t.Errorf("kept %+v, %v", by, ok)
	}
}

// While a request is removed, nobody can put another answer in the place of the one that counted.
func TestClosedAtOnce(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	if err := d.Give(allow(o), now); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(part, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 { // it takes a while to remove them
		if err := os.WriteFile(d.open(o.ID, ".new-"+strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := make(chan bool)
	go func() {
		for {
			err := os.Link(part, d.open(o.ID, answerFile))
			if !errors.Is(err, fs.ErrExist) {
				second <- err == nil
				return
			}
		}
	}()
	if !d.Close(o.ID, "") || <-second {
		t.Error("a second answer was accepted")
	}
}

// What an earlier version's process kept of a request that it closed is read, and swept.
func TestClosedByEarlierVersion(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	a := allow(o)
	if err := d.Give(a, now); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(d.done(), 0o700), os.Remove(d.open(o.ID, callFile)),
		os.Rename(d.open(o.ID), d.done(o.ID)),
		os.WriteFile(d.done(o.ID, "outcome.json"), []byte(`{"taken":true,"at":1}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, known := d.Outcome(o.ID, 0); !known || !out.Taken {
		t.Errorf("became %+v, %v", out, known)
	}
	var taken *TakenError
	if id, became := d.Past(o.ID[:6]); id != o.ID || !errors.As(became, &taken) || taken.By.By != a.By {
		t.Errorf("%q became %v", id, became)
	}
	if d.Close(o.ID, WhyCall) {
		t.Error("it is closed twice")
	}
	made(t, d, Permission, write, now.Add(2*kept))
	if _, err := os.Stat(d.done(o.ID)); err == nil {
		t.Error("it is kept for ever")
	}
}

func TestPrivate(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	o := made(t, d, Permission, write, now)
	if err := d.Give(allow(o), now); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{callFile, answerFile} {
		if info, err := os.Stat(d.open(o.ID, f)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info, err)
		}
	}
	for _, dir := range []string{d.open(o.ID), d.open(), filepath.Dir(d.open())} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestAway(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	is := func(at time.Time) bool {
		_, away := d.IsAway(at)
		return away
	}
	if is(now) {
		t.Error("away before they went")
	}
	err := d.GoAway(event.MillisOf(now.Add(time.Hour)))
	if err != nil || !is(now) || is(now.Add(2*time.Hour)) {
		t.Errorf("away for an hour: %v", err)
	}
	if err := d.GoAway(0); err != nil || !is(now.Add(1000*time.Hour)) {
		t.Errorf("away: %v", err)
	}
	if was, err := d.Back(); !was || err != nil {
		t.Errorf("back: %v, %v", was, err)
	}
	if was, err := d.Back(); was || err != nil {
		t.Errorf("back again: %v, %v", was, err)
	}
}

// What is typed chooses options by their numbers; any other text, also a larger number, is the
// user's own answer.
func TestChoiceRead(t *testing.T) {
	one := Choice{Question: "When?", Options: []Option{{Label: "today"}, {Label: "later"}, {Label: "never"}}}
	several := one
	several.Several = true
	for _, c := range []struct {
		of          Choice
		typed, want string // no want: an error
	}{
		{one, "2", "later"}, {one, " 2 ", "later"}, {one, "2026", "2026"}, {one, "0", "0"}, {one, "-1", "-1"}, {one, "in 2 days", "in 2 days"},
		{one, "4", ""}, {one, "1,3", ""}, {one, "", ""}, {one, " , ", ""},
		{several, "1,3", "today, never"}, {several, "3 1", "never, today"}, {several, "1, 3", "today, never"}, {several, "1,1", "today"}, {several, "1,4", ""}, {several, "1,30", "1,30"},
		{Choice{Question: "Which?", Options: make([]Option, 12)}, "13", "13"},
	} {
		got, err := c.of.Read(c.typed)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.typed, got, err, c.want)
		}
	}
}
