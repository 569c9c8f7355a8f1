package config

import (
	"strings"
	"testing"
)

// The hooks of the client's three settings files run as in a policy: the project's two files
// before the global one, in their order, identical hooks once, and beckon's own never.
func TestImport(t *testing.T) {
	hook := func(command string) string { return `{"type":"command","command":"` + command + `","timeout":30}` }
	settings := func(matcher string, list ...string) []byte {
		return []byte(`{"model":"opus","hooks":{"PreToolUse":[{"matcher":"` + matcher + `","hooks":[` + strings.Join(list, ",") + `]}]}}`)
	}
	files := []Settings{
		{"global", Global, settings("Bash", hook("everywhere"), hook("shared"), hook("beckon-hook"))},
		{"project", Project, settings("Bash", hook("first"), hook("shared"))},
		{"local", Project, settings("Bash", hook("mine"), hook("first"), `{"type":"agent","prompt":"x"}`)},
	}
	own := func(h []byte) bool { return strings.Contains(string(h), "beckon-hook") }
	list := Import(files, own)
	var got []string
	for _, i := range list {
		word := i.File + " " + i.Problem
		if i.Hook != nil {
			word = i.File + " " + i.Hook.Spec.Command
		}
		got = append(got, word)
	}
	want := "project first|project shared|local mine|local type \"agent\" is the client's own; a prompt, or a command that runs an agent, can do the same|global everywhere"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got %s", s)
	}
	text, _, err := FromClient(files, Project, own)
	if err != nil {
		t.Fatal(err)
	}
	if c := decoded(t, string(text)); len(c.Hooks) != 4 || c.Hooks[0].Spec.Command != "first" || c.Hooks[0].Matcher.Text() != "Bash" || c.Hooks[0].Timeout.Seconds() != 30 {
		t.Errorf("as a policy: %s", text)
	}
}

// What only the client has is translated to the policy's terms. What the client ignores is
// left out.
func TestImportPutsItInOurWords(t *testing.T) {
	data := []byte(`{"hooks":{"Stop":[{"matcher":"ignored","hooks":[{"type":"command","command":"log","async":true,"once":true}]}]}}`)
	list := Import([]Settings{{"f", Global, data}}, func([]byte) bool { return false })
	if len(list) != 1 || list[0].Hook == nil || !list[0].Hook.Observe || list[0].Matcher != "" {
		t.Fatalf("got %+v", list)
	}
	if want := `{"command":"log","observe":true,"type":"command"}`; string(list[0].JSON) != want {
		t.Errorf("got %s", list[0].JSON)
	}
	if got := Import([]Settings{{"f", Global, []byte(`{"hooks":{}}`)}, {"g", Global, []byte(`not json`)}}, nil); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}
