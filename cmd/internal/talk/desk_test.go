package talk

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render/fleet/ctl"
	"beckon/state/evidence"
	"beckon/state/offer"
	"beckon/state/store"
)

// machine returns a desk with its own home.
func machine(t *testing.T, config string) desk {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "beckon")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"HOME": home, "USER": "owner"}[name] }
	return desk{&cli.App{Getenv: getenv, Stdout: os.Stdout, Stderr: os.Stderr, Store: store.Open(filepath.Join(home, "state"))}}
}

// ask makes an offer at which this process waits.
func (d desk) ask(t *testing.T, tool, payload string) offer.Offer {
	t.Helper()
	self, ok := evidence.Process(os.Getpid(), evidence.ThisMachine())
	if !ok {
		t.Skip("processes cannot be read here")
	}
	now := time.Now()
	o := offer.Offer{Kind: offer.Permission, Event: "PermissionRequest", Record: "s1", Session: "s1", Tool: tool, Cwd: t.TempDir(),
		Made: event.MillisOf(now), Expires: event.MillisOf(now.Add(time.Hour)), Waiter: self, Client: self, Payload: []byte(payload)}
	if err := offer.In(d.a.Store.Dir).Make(&o, now); err != nil {
		t.Fatal(err)
	}
	return o
}

// Only users and keys that the configuration names may answer, and nobody if it names none or
// cannot be read.
func TestDeskAllows(t *testing.T) {
	key, other := "UA5SVUUFFPKHPYZQJQDYJQ7MNYAOR3VF663YUM2RDBH3J644EXKBBIOK", "UAVODESKC5GPYTOERB4Y726UIMFNFXNBN3Z7E3MTWQE6XVGWIGPKWW7T"
	laptop := ctl.Who{User: "ann", Host: "laptop", Key: key}
	for config, want := range map[string]bool{
		`{}`: false, `{"answers_from_fleet": []}`: false, `{"answers_from_fleet": ["bob", "` + other + `"]}`: false, `{"answers_from_fleet": ["ann"]}`: true, `{"answers_from_fleet": ["` + key + `"]}`: true,
		`{"answers_from_fleet": ["Ann"]}`: false, `{"answers_from_fleet": ["*"]}`: false, `{"answers_from_fleet": ["laptop"]}`: false, `{"answers_from_fleet": "ann"}`: false,
		`{"answers_from_fleet": ["ann"], "colour": 1}`: false, `{"answers_from_fleet": ["ann", ""]}`: false, `{`: false,
	} {
		d := machine(t, config)
		if err := d.Allowed(laptop); (err == nil) != want {
			t.Errorf("%s: %v", config, err)
		}
		if d.Listens() != want && !strings.Contains(config, "bob") && !strings.Contains(config, "Ann") && !strings.Contains(config, "*") && !strings.Contains(config, `["laptop`) {
			t.Errorf("%s listens", config)
		}
	}
	// A hub can give users any name, even that of a key.
	if d := machine(t, `{"answers_from_fleet": ["`+key+`"]}`); d.Allowed(ctl.Who{User: key, Key: other}) == nil {
		t.Error("a user who is called as a key that may answer is taken for it")
	}
}

// A call that cannot be shown in full there cannot be allowed from there, nor can a permanent
// rule; what is allowed is logged with the user who allowed it.
func TestDeskAnswers(t *testing.T) {
	d := machine(t, `{"answers_from_fleet": ["ann"]}`)
	laptop := ctl.Who{User: "ann", Host: "laptop", Key: "UA"}
	answer := func(o offer.Offer, word offer.Word) offer.Answer {
		return offer.Answer{Offer: o.ID, Digest: o.Digest, Word: word, From: offer.Terminal, By: "root"}
	}
	twice := d.ask(t, "Bash", `{"tool_input":{"command":"ls","command":"rm -rf /"}}`)
	if _, err := d.Answer(laptop, answer(twice, offer.Allow)); err == nil || !strings.Contains(err.Error(), "at its session") {
		t.Errorf("a call with a member twice: %v", err)
	}
	var text strings.Builder // which does not compress
	for text.Len() < 256<<10 {
		text.WriteString(rand.Text())
	}
	long := d.ask(t, "Bash", `{"tool_input":{"command":"`+text.String()+`"}}`)
	if _, err := d.Answer(laptop, answer(long, offer.Allow)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a call that is too long: %v", err)
	}
	o := d.ask(t, "Bash", `{"tool_input":{"command":"ls"},"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`)
	always := answer(o, offer.Allow)
	always.Always = 1
	if _, err := d.Answer(laptop, always); err == nil || !strings.Contains(err.Error(), offer.ErrAlways.Error()) {
		t.Errorf("always: %v", err)
	}
	changed := answer(o, offer.Allow)
	changed.Digest = twice.Digest
	if _, err := d.Answer(laptop, changed); err == nil {
		t.Error("another digest is taken")
	}
	go func() { _ = taken(d, o.ID) }()
	if done, err := d.Answer(laptop, answer(o, offer.Allow)); done != "allowed" || err != nil {
		t.Errorf("%q, %v", done, err)
	}
	if a, ok := offer.In(d.a.Store.Dir).Answered(o.ID); !ok || a.By != "ann at laptop" || a.From != offer.Fleet {
		t.Errorf("%+v", a)
	}
	if _, err := d.Answer(laptop, answer(o, offer.Deny)); err == nil {
		t.Error("it is answered twice")
	}
	if list, err := d.Look("s2"); err != nil || len(list) != 0 {
		t.Errorf("of another session: %v, %v", list, err)
	}
	for _, f := range []func(ctl.Who, string) (string, error){d.Stop, func(w ctl.Who, s string) (string, error) { return d.Say(w, s, "x") }} {
		if _, err := f(laptop, "s"); err == nil {
			t.Error("a part of an id is taken for a session")
		}
	}
}

// taken plays the process that holds a call.
func taken(d desk, id string) error {
	dir := offer.In(d.a.Store.Dir)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, ok := dir.Answered(id); ok {
			return dir.Close(id, offer.Outcome{Taken: true})
		}
	}
	return nil
}

// The log is private, and does not grow without limit.
func TestDeskNotes(t *testing.T) {
	d := machine(t, `{}`)
	long := strings.Repeat("x", 1<<20)
	for range 2 * maxNotes / 300 {
		d.Note(ctl.Entry{Op: long, Refused: "é" + long})
	}
	path := notesFile(d.a.Store.Dir)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > maxNotes+2000 {
		t.Errorf("%v, %v", info, err)
	}
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Skip(err)
	}
	d.Note(ctl.Entry{})
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("a link is followed")
	}
}
