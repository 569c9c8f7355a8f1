//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beckon/render/term"
)

const displayPage = "../internal/manual/display.md"

// readmeSnippet returns the indented block after a mark in the manual.
func readmeSnippet(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(displayPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "<!-- snippet: "+name+" -->\n")
	if !ok {
		t.Fatalf("the manual has no snippet %q", name)
	}
	var out strings.Builder
	for line := range strings.Lines(rest) {
		text, indented := strings.CutPrefix(line, "    ")
		if !indented {
			break
		}
		out.WriteString(text)
	}
	return out.String()
}

// TestManualSnippets runs the manual's snippets for bars.
func TestManualSnippets(t *testing.T) {
	t.Parallel()
	d := newRoom(t)
	d.waits()
	env := append(d.env(), "PATH="+filepath.Dir(d.beckon)+":/usr/bin:/bin")
	run := func(script string) string {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
		return string(out)
	}

	var bar map[string]struct {
		Exec       string
		ReturnType string `json:"return-type"`
		Interval   int
	}
	if err := json.Unmarshal([]byte("{"+readmeSnippet(t, "waybar")+"}"), &bar); err != nil {
		t.Fatal(err)
	}
	module := bar["custom/beckon"]
	var shown term.Bar
	if err := json.Unmarshal([]byte(run(module.Exec)), &shown); err != nil || shown.Text != "!1" || module.ReturnType != "json" || module.Interval < 1 {
		t.Errorf("waybar: %v, %+v of %+v", err, shown, module)
	}

	keys := map[string]string{}
	for line := range strings.Lines(readmeSnippet(t, "polybar")) {
		if k, v, ok := strings.Cut(line, "="); ok {
			keys[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	if keys["type"] != "custom/script" || run(keys["exec"]) != "!1\n" {
		t.Errorf("polybar: %v", keys)
	}

	menu := strings.Split(strings.TrimSpace(run(strings.Replace(readmeSnippet(t, "swiftbar"), "PATH=$HOME/.local/bin:$PATH", ":", 1))), "\n")
	if len(menu) != 4 || menu[0] != "!1" || menu[1] != "---" || !strings.Contains(menu[3], "api") || strings.Count(menu[3], "|") != 1 {
		t.Errorf("swiftbar: %q", menu)
	}

	const said = `sketchybar() { printf '%s\n' "$@"; }; `
	_, script, _ := strings.Cut(run(said+readmeSnippet(t, "sketchybar")), "script=")
	if got := strings.Fields(run(said + script)); !slices.Equal(got, []string{"--set", "beckon", "label=!1"}) {
		t.Errorf("sketchybar: %q sets %q", script, got)
	}

	// The waiting session of the test has no terminal to go to.
	raycast := strings.Replace(readmeSnippet(t, "raycast"), "PATH=$HOME/.local/bin:$PATH", ":", 1)
	if got := run(raycast + " 2>&1 || true"); !strings.Contains(raycast, "\n# @raycast.mode compact\n") || !strings.Contains(got, "jumping to api") {
		t.Errorf("raycast: %q says %q", raycast, got)
	}
}

// TestManualFields: every field of a template, and its default, are in the manual.
func TestManualFields(t *testing.T) {
	b, err := os.ReadFile(displayPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for table, fields := range map[string][]string{"| field of `statusline`": term.StatusFields, "| field of `prompt": term.PromptFields} {
		_, rest, _ := strings.Cut(text, table)
		rest, _, _ = strings.Cut(rest, "\n\n")
		for _, f := range fields {
			if f != "wrap" && !strings.Contains(rest, "`"+f+"`") {
				t.Errorf("%s lacks %q", table, f)
			}
		}
	}
	if !strings.Contains(text, "`"+term.DefaultStatus+"`") {
		t.Error("the default template is another")
	}
}

// README's first command installs the user's programs, but neither those that build beckon nor
// a fleet's hub.
func TestReadmeInstallsThePrograms(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "go install ")
	packages, _, ok := strings.Cut(after, " &&")
	if !ok {
		t.Fatal("README installs nothing")
	}
	list := exec.Command("go", "list", "-f", "{{if eq .Name `main`}}{{.ImportPath}}{{end}}")
	list.Args = append(list.Args, strings.Fields(packages)...)
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); !slices.Equal(got, []string{"beckon/cmd/beckon", "beckon/cmd/beckon-hook"}) {
		t.Errorf("go install %s installs %q", packages, got)
	}
}
