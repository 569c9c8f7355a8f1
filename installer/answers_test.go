package installer

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// answersSpec is an install with answers for a client that can wake a session.
var answersSpec = Spec{Command: "/opt/beckon/bin/beckon-hook", Events: Events("2.1.330", CoreEvents), Client: "2.1.330", Answers: true}

// Answers are added and removed without a trace: without them the entries are, byte for byte,
// those of an install that never had them.
func TestAnswersRoundTrip(t *testing.T) {
	plain := answersSpec
	plain.Answers = false
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) {
			before, with := mustEdit(t, old, plain), mustEdit(t, old, answersSpec)
			if bytes.Contains(before, []byte("--answers")) || bytes.Contains(before, []byte("asyncRewake")) {
				t.Errorf("an install without answers has some:\n%s", before)
			}
			if again := mustEdit(t, with, answersSpec); !bytes.Equal(again, with) {
				t.Errorf("a second Edit changes the file:\n%s", Change{Old: with, New: again}.Diff())
			}
			if later := mustEdit(t, before, answersSpec); !bytes.Equal(mustEdit(t, later, plain), before) {
				t.Errorf("switched on and off:\n%s", Change{Old: before, New: mustEdit(t, later, plain)}.Diff())
			}
			for _, installed := range [][]byte{with, mustEdit(t, before, answersSpec), mustEdit(t, with, plain)} {
				checkRemoved(t, old, mustRemove(t, installed))
			}
		})
	}
}

func TestAnswersEntries(t *testing.T) {
	const program = `{"type": "command", "command": "/opt/beckon/bin/beckon-hook", "args": [`
	old := answersSpec
	old.Client = "2.1.197"
	older := answersSpec
	older.Client = "2.1.150"
	for _, c := range []struct {
		spec Spec
		slot string
		want string
	}{
		{answersSpec, "PermissionRequest", `"PermissionRequest", "--answers"], "timeout": 86400}`},
		{answersSpec, "PreToolUse", `"PreToolUse", "--answers"], "timeout": 60}`},
		{answersSpec, "Notification", `"Notification"], "timeout": 60}`},
		{answersSpec, "Stop", `"Stop"], "timeout": 60}`},
		{answersSpec, "Stop" + replySlot, `"Stop", "--reply"], "timeout": 86400, "asyncRewake": true, "rewakeMessage": "The user replies:", "rewakeSummary": "Reply from beckon"}`},
		{old, "StopFailure" + replySlot, `"StopFailure", "--reply"], "timeout": 86400, "asyncRewake": true}`},
	} {
		if got := oneLine(c.spec.entry(c.slot)); got != program+c.want {
			t.Errorf("got  %s\nwant %s", got, program+c.want)
		}
	}
	if slices.ContainsFunc(older.slots(), func(s string) bool { return strings.HasSuffix(s, replySlot) }) {
		t.Error("a client that cannot wake a session gets the entry for it")
	}
}

// Adding the events of a newer client keeps the answers.
func TestUpdateKeepsAnswers(t *testing.T) {
	h := newHome(t)
	spec := answersSpec
	spec.Client = "2.1.100"
	spec.Events = Events(spec.Client, CoreEvents)
	h.apply(Install(spec))
	want := answersSpec
	want.Answers, want.KeepAnswers = false, true
	h.apply(Install(want))
	got := h.read()
	for _, text := range []string{`"--answers"`, `"--reply"`, `"rewakeSummary"`} {
		if !strings.Contains(got, text) {
			t.Errorf("the settings lack %s:\n%s", text, got)
		}
	}
	h.apply(Install(want))
	if again := h.read(); strings.Count(again, "--reply") != 2 || strings.Count(again, "--answers") != len(answered) {
		t.Errorf("afterwards:\n%s", again)
	}
	h.apply(Uninstall())
}
