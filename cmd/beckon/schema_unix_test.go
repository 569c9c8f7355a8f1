//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	forms "github.com/google/jsonschema-go/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"beckon/render"
)

// The published schema of `list --json` is that of the program, and what the program prints fits it.
// BECKON_UPDATE=1 writes the schema anew.
func TestListSchema(t *testing.T) {
	const file = "../internal/manual/list.schema.json"
	s, err := forms.For[render.List](nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "beckon list --json"
	anyMember(s) // later versions add some
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if os.Getenv("BECKON_UPDATE") != "" {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	published, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(published, text) {
		t.Fatalf("%s is out of date (%v): BECKON_UPDATE=1 writes it anew", file, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(published))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("list.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("list.json")
	if err != nil {
		t.Fatal(err)
	}

	dir, bin := t.TempDir(), commandDir(t)
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "BECKON_STATE_DIR=" + filepath.Join(dir, "state")}
	client := filepath.Join(dir, "claude")
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(sh); err != nil || os.WriteFile(client, text, 0o700) != nil {
		t.Fatal(err)
	}
	asked := `,"tool_name":"AskUserQuestion","tool_use_id":"t","tool_input":{"questions":[{"question":"A4?","header":"Size","options":[{"label":"A4","description":"210 by 297"}]}]}`
	for id, events := range map[string][][2]string{
		"idle":    {{"SessionStart", ""}},
		"working": {{"SessionStart", ""}, {"UserPromptSubmit", `,"prompt":"go on"`}},
		"asks":    {{"UserPromptSubmit", `,"prompt":"print it"`}, {"PreToolUse", asked}, {"PermissionRequest", asked}},
		"needs":   {{"UserPromptSubmit", `,"prompt":"x"`}, {"PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"make"}`}},
		"over":    {{"SessionStart", ""}, {"SessionEnd", `,"reason":"other"`}},
	} {
		// A session is its client's process: a shell of that name runs the hooks and stays.
		script := ""
		for i, e := range events {
			payload := filepath.Join(dir, fmt.Sprint(id, i))
			text := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q%s}`, id, dir, e[0], e[1])
			if err := os.WriteFile(payload, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			script += fmt.Sprintf("beckon-hook %s <%s; ", e[0], payload)
		}
		cmd := exec.Command(client, "-c", script+"echo; read x")
		cmd.Env = env
		ready, err := cmd.StdoutPipe()
		if _, e := cmd.StdinPipe(); err != nil || e != nil || cmd.Start() != nil { // an open one keeps it
			t.Fatal(err, e)
		}
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	show := exec.Command(filepath.Join(bin, "beckon"), "list", "--json", "--all")
	show.Env = env
	out, err := show.Output()
	if err != nil {
		t.Fatal(err)
	}
	printed, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(printed); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	var list render.List
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, r := range list.Sessions {
		phases = append(phases, r.SessionID+" "+r.Phase)
	}
	slices.Sort(phases)
	if want := []string{"asks requires_action", "idle idle", "needs requires_action", "over ", "working running"}; !slices.Equal(phases, want) {
		t.Errorf("phases are %q, want %q", phases, want)
	}
	broken := bytes.Replace(out, []byte(`"phase": "idle"`), []byte(`"phase": 1`), 1)
	if printed, _ := jsonschema.UnmarshalJSON(bytes.NewReader(broken)); schema.Validate(printed) == nil {
		t.Error("the schema takes a number for a phase")
	}
}

// anyMember lets objects have members that the schema does not name.
func anyMember(s *forms.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = nil
	anyMember(s.Items)
	for _, p := range s.Properties {
		anyMember(p)
	}
}
