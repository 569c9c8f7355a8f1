//go:build unix

package suite

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The counts are those of the two clients, minus the three events that are never registered.
func TestEventsOf(t *testing.T) {
	for version, want := range map[string]int{V197: 30 - 3, V329: 33 - 3, V330: 33 - 3} {
		names := EventsOf(version)
		if len(names) != want {
			t.Errorf("%s: %d events; want %d", version, len(names), want)
		}
		for _, never := range []string{"WorktreeCreate", "WorktreeRemove", "MessageDisplay"} {
			if slices.Contains(names, never) {
				t.Errorf("%s: %s may not be registered", version, never)
			}
		}
	}
}

func TestRecordingIsScrubbedAndOrdered(t *testing.T) {
	root := t.TempDir()
	h := &Home{Root: root, Dir: filepath.Join(root, "home"), Project: filepath.Join(root, "proj")}
	dashed := notAlnum.ReplaceAllString(h.Project, "-")
	log := `{"at_ms":1200,"kind":"Stop","payload":{"a":"<b>","f":"` + root + `/tmp/claude-0/` + dashed + `/x"},"env":{"TMUX":"` + h.path("t.sock") + `,1,0"}}
{"at_ms":900,"kind":"SessionStart","payload":{"cwd":"` + h.Project + `","u":"127.0.0.1:4711"},"env":{}}
{"at_ms":950,"kind":"PreT`
	if err := os.WriteFile(h.path("recorder.jsonl"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	waiting := "permission prompt"
	r := &Recorder{home: h, log: h.path("recorder.jsonl")}
	for ms, row := range [][]Registered{{{PID: 1}}, {{PID: 1}}, {{PID: 1, Status: "waiting", WaitingFor: &waiting}}, {}} {
		r.note(time.UnixMilli(1000+50*int64(ms)), row)
	}
	var b bytes.Buffer
	if err := r.Write(&b, time.UnixMilli(1000), [][]string{{"say", "lab:hi"}}); err != nil {
		t.Fatal(err)
	}
	const rest = `"procStart":"","sessionId":"","kind":"",`
	const times = `"statusUpdatedAt":0,"updatedAt":0,"startedAt":0}]}`
	want := []string{
		`{"t_ms":0,"kind":"start","t0_epoch_ms":1000,"scenario":[["say","lab:hi"]]}`,
		`{"t_ms":-100,"kind":"SessionStart","payload":{"cwd":"/lab/proj","u":"127.0.0.1:8995"},"env":{}}`,
		`{"t_ms":0,"kind":"registry","sessions":[{"pid":1,` + rest + `"status":null,"waitingFor":null,` + times,
		`{"t_ms":100,"kind":"registry","sessions":[{"pid":1,` + rest + `"status":"waiting","waitingFor":"permission prompt",` + times,
		`{"t_ms":150,"kind":"registry","sessions":[]}`,
		`{"t_ms":200,"kind":"Stop","payload":{"a":"<b>","f":"/lab/tmp/claude/-lab-proj/x"},"env":{"TMUX":"/run/tmux/lab,1,0"}}`,
	}
	if got := strings.TrimSpace(b.String()); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
