package state

import (
	"fmt"
	"testing"

	"beckon/event"

	"pgregory.net/rapid"
)

// Clients before 2.0.43, and senders that pass on only some fields, send no call ids. After
// each event of a turn the session has the same state as with ids.
func TestIDsMakeNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var with, without Session
		now := t0
		fire := func(k event.Kind, tool event.Tool) {
			now += event.Millis(rapid.IntRange(1, 2000).Draw(t, "gap"))
			e := event.Event{Agent: event.ClaudeCode, Kind: k, Name: string(k), At: now, SessionID: "s", Tool: tool}
			with = Apply(with, Change{Seq: with.Seq + 1, At: now, Event: &e})
			bare := e
			bare.Tool.UseID = ""
			without = Apply(without, Change{Seq: without.Seq + 1, At: now, Event: &bare})
			a, b := Resolve(with, Evidence{}, now).State, Resolve(without, Evidence{}, now).State
			if a != b || waits(&with) != waits(&without) {
				t.Fatalf("after %s %s: with ids %s, %d wait, without %s, %d wait", k, tool.Name, a, waits(&with), b, waits(&without))
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			fire(event.UserPromptSubmit, event.Tool{})
			for m := range rapid.IntRange(0, 3).Draw(t, "messages") {
				message(t, fmt.Sprint(with.Counts.Turns, ".", m), fire)
			}
			fire(event.Stop, event.Tool{})
		}
	})
}

// waits counts the calls that wait.
func waits(s *Session) (n int) {
	for range s.waits(func(WaitKind) bool { return true }) {
		n++
	}
	return n
}

// message fires the events of one message's calls. Some calls ask, they end in any order, and
// a call whose input the user or the client changed ends with the new input.
func message(t *rapid.T, id string, fire func(event.Kind, event.Tool)) {
	var calls []event.Tool
	asked := map[string]bool{} // by input: of equal calls all ask, or none
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		name := rapid.SampledFrom([]string{"Bash", "Edit", "AskUserQuestion", "ExitPlanMode"}).Draw(t, "tool")
		c := event.Tool{Name: name, Hash: name + rapid.SampledFrom([]string{"1", "2"}).Draw(t, "input"), UseID: fmt.Sprint(id, ".", len(calls))}
		if _, known := asked[c.Hash]; !known {
			asked[c.Hash] = asksByItself(name, nil) != "" || rapid.Bool().Draw(t, "asks")
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		fire(event.PreToolUse, c)
	}
	for _, c := range calls {
		if asked[c.Hash] {
			request := c
			request.UseID = ""
			fire(event.PermissionRequest, request)
		}
	}
	for _, c := range rapid.Permutation(calls).Draw(t, "order") {
		if asksByItself(c.Name, nil) != "" {
			c.Hash += " answered"
		}
		fire(event.PostToolUse, c)
	}
}
