package event

import "testing"

func TestByName(t *testing.T) {
	for i := range Kinds {
		if k := Kinds[i].Kind; ByName(string(k)) != k {
			t.Errorf("%s is %q", k, ByName(string(k)))
		}
	}
	for name, want := range map[string]Kind{
		"pre-tool-use": PreToolUse, "pre_tool_use": PreToolUse, "pretooluse": PreToolUse, "preToolUse": PreToolUse, "-Stop_": Stop,
		"": Unknown, "-": Unknown, "Stops": Unknown, "Sto": Unknown, "Stop\x00": Unknown, "Stóp": Unknown, "StopFailure!": Unknown,
	} {
		if got := ByName(name); got != want {
			t.Errorf("ByName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestActivity(t *testing.T) {
	for k, want := range map[Kind]bool{PreToolUse: true, Stop: true, Notification: false, "ConfigChange": false, Unknown: false, "New": false} {
		if k.Activity() != want {
			t.Errorf("%q: activity %v", k, !want)
		}
	}
	if _, ok := Lookup(Unknown); ok {
		t.Error("the table has a row for Unknown")
	}
}
