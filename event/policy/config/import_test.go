package config

import (
	"strings"
	"testing"
)

// The hooks of the client's settings files become those of a policy: in their order, identical hooks
// once, and beckon's own never.
func TestFromClient(t *testing.T) {
	hook := func(command string) string { return `{"type":"command","command":"` + command + `","timeout":30}` }
	settings := func(matcher string, list ...string) []byte {
		return []byte(`{"model":"opus","hooks":{"PreToolUse":[{"matcher":"` + matcher + `","hooks":[` + strings.Join(list, ",") + `]}]}}`)
	}
	files := [][]byte{
		settings("Bash", hook("first"), hook("shared"), hook("beckon-hook")),
		settings("Bash", hook("mine"), hook("first"), `{"type":"agent","prompt":"x"}`),
		[]byte("not json"),
	}
	own := func(h []byte) bool { return strings.Contains(string(h), "beckon-hook") }
	text, left, err := FromClient(files, Project, own)
	if err != nil {
		t.Fatal(err)
	}
	c := decoded(t, string(text))
	var got []string
	for _, h := range c {
		got = append(got, h.Spec.Command)
	}
	if strings.Join(got, " ") != "first shared mine" || c[0].Matcher.Text != "Bash" || c[0].Timeout.Seconds() != 30 {
		t.Errorf("as a policy: %s", text)
	}
	want := "PreToolUse: type \"agent\" is the client's own; a prompt, or a command that runs an agent, can do the same"
	if len(left) != 1 || left[0] != want {
		t.Errorf("left out: %q", left)
	}
}

// What only the client has is translated to the policy's terms. What the client ignores is
// left out.
func TestFromClientPutsItInOurWords(t *testing.T) {
	data := []byte(`{"hooks":{"Stop":[{"matcher":"ignored","hooks":[{"type":"command","command":"log","async":true,"once":true}]}]}}`)
	text, left, err := FromClient([][]byte{data}, Global, func([]byte) bool { return false })
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	c := decoded(t, string(text))
	if len(c) != 1 || !c[0].Observe || strings.Contains(string(text), "ignored") || strings.Contains(string(text), "once") {
		t.Errorf("got %s", text)
	}
}
