package card

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/state/request"
)

// of returns the card of a call on this machine.
func of(t *testing.T, dir, tool string, input any) Card {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"tool_name": tool, "tool_input": input})
	if err != nil {
		t.Fatal(err)
	}
	return Of(&request.Request{Kind: request.Permission, Tool: tool, Cwd: dir, Host: "here", Branch: "main", Payload: payload}, "here")
}

func (c Card) text() string {
	var b strings.Builder
	for _, l := range c.Lines {
		b.WriteString(string(l.Kind) + "|" + l.Text + "\n")
	}
	return b.String()
}

type in = map[string]any

func TestCards(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	main := write("main.go", "one\ntwo\nthree\nfour\n")
	binary := write("data.bin", "a\x00b")
	notebook := write("n.ipynb", `{"cells":[{"id":"c1","source":["x = 1\n","y = 2\n"]}]}`)
	for name, c := range map[string]struct {
		tool  string
		input in
		title string
		has   []string
	}{
		"command":       {"Bash", in{"command": "cd x\nrm -rf y", "description": "tidy up", "run_in_background": true}, "Bash", []string{"text|cd x\ntext|rm -rf y\n", "text|description: tidy up\n", "text|run_in_background: true\n"}},
		"hidden":        {"Bash", in{"command": "echo a\u202eb\u200b\x1b[2K\u00a0"}, "Bash", []string{"text|echo a‹U+202E›b‹U+200B›‹U+001B›[2K‹U+00A0›\n"}},
		"edit":          {"Edit", in{"file_path": main, "old_string": "two", "new_string": "2", "replace_all": false}, "Edit main.go", []string{"head|" + main, "delete|-two\nadd|+2\n", "text| one\n"}},
		"all of them":   {"Edit", in{"file_path": main, "old_string": "o", "new_string": "0", "replace_all": true}, "Edit main.go", []string{"delete|-one\ndelete|-two\nadd|+0ne\nadd|+tw0\n", "add|+f0ur\n"}},
		"no match":      {"Edit", in{"file_path": main, "old_string": "five", "new_string": "5"}, "Edit main.go", []string{"note|the text to be replaced is not in the file", "delete|-five\n", "add|+5\n"}},
		"new file":      {"Write", in{"file_path": filepath.Join(dir, "new.txt"), "content": "a\nb\n"}, "Write new.txt", []string{"note|a new file", "add|+a\nadd|+b\n"}},
		"overwritten":   {"Write", in{"file_path": main, "content": "one\n"}, "Write main.go", []string{"delete|-two\n", "text| one\n"}},
		"over a binary": {"Write", in{"file_path": binary, "content": "text\n"}, "Write data.bin", []string{"note|the file that is there is no text", "add|+text\n"}},
		"cell":          {"NotebookEdit", in{"notebook_path": notebook, "cell_id": "c1", "new_source": "x = 1\ny = 3\n"}, "NotebookEdit n.ipynb", []string{"text|cell_id: c1\n", "head|new_source:\ntext|x = 1\ntext|y = 3\n", "text|notebook_path: " + notebook}},
		"another tool":  {"mcp__db__run", in{"sql": "drop table x;\n-- now", "args": []int{1}}, "mcp__db__run", []string{"head|sql:\ntext|drop table x;\ntext|-- now\n", "text|  1\n"}},
		"more of it":    {"Write", in{"file_path": main, "content": "one\n", "mode": "0777"}, "Write main.go", []string{"text|mode: 0777\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := of(t, dir, c.tool, c.input)
			if got.Title != c.title || !got.Whole || got.Dir != dir || got.Branch != "main" {
				t.Errorf("got %+v", got)
			}
			for _, text := range c.has {
				if !strings.Contains(got.text(), text) {
					t.Errorf("lacks %q:\n%s", text, got.text())
				}
			}
		})
	}
}

// A card is not whole if nobody reads it to its end, or if two readers may read it
// differently.
func TestNotWhole(t *testing.T) {
	if c := of(t, "/", "Bash", in{"command": strings.Repeat("true\n", maxLines+1)}); c.Whole || c.Why == "" {
		t.Error("thousands of lines are whole")
	}
	if c := of(t, "/", "Bash", in{"command": strings.Repeat("x", maxBytes+1)}); c.Whole {
		t.Error("a quarter of a megabyte is whole")
	}
	for _, payload := range []string{`{"tool_input":{"command":"ls","command":"rm"}}`, `{"tool_input":{"a":[{"b":1,"b":2}]}}`, `{"tool_input":{"a":[[{"b":1,"b":2}]]}}`, `{"tool_input":"ls"}`} {
		if c := Of(&request.Request{Kind: request.Permission, Tool: "Bash", Payload: []byte(payload)}, "here"); c.Whole {
			t.Errorf("%s is whole", payload)
		}
	}
	if c := Of(&request.Request{Kind: request.Plan, Tool: "ExitPlanMode", Payload: []byte(`{"tool_input":{}}`)}, "here"); c.Whole {
		t.Error("a plan that nobody sees is whole")
	}
}

// Nothing in a card controls the terminal, whatever the call contains.
func TestCardPrints(t *testing.T) {
	for r := rune(0); r < 0x3000; r++ {
		shown := Line1(string(r))
		for _, x := range shown {
			if x != ' ' && unseen(x) {
				t.Fatalf("%U is shown as %q", r, shown)
			}
		}
	}
	for _, r := range "\u034f\u17b4\u180b\u180e\u2800\u3164\ufe00\U000e0100" {
		if got := Line1(string(r)); got != fmt.Sprintf("‹U+%04X›", r) {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
	if got := Line1("a\xff\u2028b"); got != "a‹0xFF›‹U+2028›b" {
		t.Errorf("got %q", got)
	}
}

func TestSuggestions(t *testing.T) {
	for update, want := range map[string]string{
		`{"type":"setMode","mode":"acceptEdits","destination":"session"}`:                                                                                   "accept all edits, in this session",
		`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"}`:                     "always allow Bash(npm test:*), in this project, for you",
		`{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//x/**"},{"toolName":"WebSearch"}],"behavior":"allow","destination":"userSettings"}`: "always allow Read(//x/**), WebSearch, everywhere",
		`{"type":"addDirectories","directories":["/x"],"destination":"session"}`:                                                                            "work in /x, in this session",
		`{"type":"setMode","mode":"bypassPermissions","destination":"session"}`:                                                                             "ask for NOTHING any more, in this session",
		`{"type":"else"}`: `{"type":"else"}`,
	} {
		if got := Suggestion([]byte(update)); got != want {
			t.Errorf("%s: %q, want %q", update, got, want)
		}
	}
}

// A notification shows a short call in full, and says so only then.
func TestBrief(t *testing.T) {
	const rows = 6
	for name, c := range map[string]struct {
		card  Card
		want  string
		whole bool
	}{
		"short":        {of(t, "/x", "Bash", in{"command": "make test"}), "Bash\nmake test\nin /x (main) on here", true},
		"just enough":  {of(t, "/x", "Bash", in{"command": "1\n2\n3\n4"}), "Bash\n1\n2\n3\n4\nin /x (main) on here", true},
		"a line more":  {of(t, "/x", "Bash", in{"command": "1\n2\n3\n4\nrm -rf /"}), "Bash\n1\n2\n3\n4\n…\nin /x (main) on here", false},
		"a long line":  {of(t, "/x", "Bash", in{"command": strings.Repeat("x", 4*rowWidth+1)}), "Bash\n…\nin /x (main) on here", false},
		"wide letters": {of(t, "/x", "Bash", in{"command": strings.Repeat("漢", 4*rowWidth)}), "Bash\n…\nin /x (main) on here", false},
		"long words":   {of(t, "/x", "Bash", in{"command": strings.Repeat(strings.Repeat("x", rowWidth/2+1)+" ", 6)}), "Bash\n…\nin /x (main) on here", false},
		"not whole":    {of(t, "/x", "Bash", in{"command": strings.Repeat("\n", maxLines+1)}), "Bash\n\n\n\n\n…\n(it is too long to be read here: 2001 lines)\nin /x (main) on here", false},
	} {
		if got, whole := c.card.Brief(rows); got != c.want || whole != c.whole {
			t.Errorf("%s: %q, %v", name, got, whole)
		}
	}
	far := of(t, "/x", "Bash", in{"command": "ls"})
	far.Dir, far.Agent = strings.Repeat("d", 6*rowWidth), "Explore"
	if got, whole := far.Brief(rows); whole || !strings.Contains(got, "asked by its subagent Explore") {
		t.Errorf("a place that does not fit: %q, %v", got, whole)
	}
}
