package policy

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/quiet"

	"pgregory.net/rapid"
)

// quietPolicies lists policies whose rules the index must not miss.
var quietPolicies = map[string]string{
	"none":  `{"hooks":{"Stop":[{"hooks":[{"type":"rule","decision":"deny","reason":"r"}]}]}}`,
	"packs": `{"packs":["git","filesystem","secrets","database","containers","cloud","packages"]}`,
	"commands": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","decision":"deny","reason":"r","commands":["git push","never-1 -rf","python","mkfs*","curl | sh","npm run"]},
		{"type":"rule","decision":"allow","reason":"r","commands":["go test"]},{"type":"rule","decision":"warn","reason":"r","words":["token"],"commands":["make"]}]}]}}`,
	"paths": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","decision":"deny","reason":"r","paths":["*.pem","/srv/data/**","notes.txt"]}]}]}}`,
}

// quietHome returns a home directory with links, and a project in it.
func quietHome(t *testing.T) (home, project string) {
	t.Helper()
	home = t.TempDir()
	project = filepath.Join(home, "src", "shop")
	for _, dir := range []string{project + "/lib", home + "/.config/beckon", home + "/state", home + "/.claude", project + "/.beckon"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"conf": home + "/.config", "lib/own": home + "/.config/beckon", "key": "/x/a.pem"} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	return home, project
}

type quietCase struct {
	name  string
	index quiet.Index
	hooks []*config.Hook
}

func quietCases(t *testing.T, home, project string, policies map[string]string) (list []quietCase) {
	t.Helper()
	list = make([]quietCase, 0, len(policies))
	for name, text := range policies {
		c, err := config.Decode("policy.json", config.Global, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		l := Loaded{Hooks: append(c.Hooks, own([]string{home + "/.config/beckon/**", home + "/state/**", home + "/.claude/settings*.json", project + "/.beckon/**"})...)}
		list = append(list, quietCase{name, l.Index(home), l.Hooks})
	}
	return list
}

func toolCall(cwd, tool string, input map[string]string) []byte {
	b, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": input})
	return b
}

// agrees fails the test if a call is quiet although a rule applies to it.
func (q quietCase) agrees(t interface{ Errorf(string, ...any) }, home string, payload []byte) (silent bool) {
	return q.index.Silent(payload) && q.unspoken(t, Event{Payload: payload, Home: home})
}

// unspoken fails the test if a rule applies to an event before a call.
func (q quietCase) unspoken(t interface{ Errorf(string, ...any) }, ev Event) bool {
	ev.Kind, ev.RulesOnly = event.PreToolUse, true
	if r := NewEngine(q.hooks).Trigger(context.Background(), ev); r.Traceable() || len(r.Answer.Stdout) > 0 {
		t.Errorf("%s: quiet, but the rules say %s (%q): %s %s", q.name, r.Verdict.Decision, r.Verdict.Reason, ev.Dialect.Name(), ev.Payload)
	}
	return true
}

// No rule applies to a quiet call. This is tried with the corpus and with lines made of its
// words, in directories inside and outside of those that rules name.
func TestQuietAgrees(t *testing.T) {
	home, project := quietHome(t)
	cases := quietCases(t, home, project, quietPolicies)
	var words []string
	quietLines, lines := 0, 0
	for _, file := range []string{"harmful", "harmless"} {
		data, err := os.ReadFile(filepath.Join("packs", "testdata", file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			words = append(words, strings.Fields(line)...)
			for _, cwd := range []string{project, home, home + "/.config/beckon", "/"} {
				for _, q := range cases {
					lines++
					if q.agrees(t, home, toolCall(cwd, "Bash", map[string]string{"command": line})) {
						quietLines++
					}
				}
			}
		}
	}
	t.Logf("%d of %d lines are quiet", quietLines, lines)
	words = append(words, "beckon", ".config", "conf", "lib/own", "lib", "own", "key", ".", "..", "./", "/", "rm", "-rf", "-r", "mv", "cp", "-R", "cd", "&&", ";", "|", "head", "tee", "tar", "-C", "-Cconf", "-xf",
		"policy.json", ".claude", "settings.json", home, home+"/.config", "sudo", "env", "sh", "-c", "'rm", "a.pem", "x.pem'", "find", "-delete", "-exec", "git", "push", "\"git push\"", "x=git", "$x", "2>&1", ">", "notes.txt", "/srv", "/srv/data", "chmod", "touch", "sed", "-i", "python3", "python3.12", "-oconf/x", "--output=lib/own/x", "-okey", "beckon", "policy", "trust", "npm", "run", "mkfs.ext4", "/dev/x", "pushd", "popd", "rsync", "dd", "of=conf/beckon/policy.json")
	rapid.Check(t, func(r *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 7).Draw(r, "words"), " ")
		cwd := rapid.SampledFrom([]string{project, project + "/lib", home, home + "/.config", "/"}).Draw(r, "cwd")
		for _, q := range cases {
			q.agrees(r, home, toolCall(cwd, "Bash", map[string]string{"command": line}))
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		tool := rapid.SampledFrom(append([]string{"mcp__fs__write", "PowerShell", "Monitor"}, quiet.Tools...)).Draw(r, "tool")
		path := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"lib", "own", "conf", "beckon", "policy.json", "..", ".", "", "key", "a.pem", "~", ".config", home, "/srv/data/x"}), 1, 4).Draw(r, "path"), "/")
		cwd := rapid.SampledFrom([]string{project, project + "/lib", home + "/.config", home}).Draw(r, "cwd")
		name := rapid.SampledFrom([]string{"file_path", "notebook_path", "path", "pattern", "glob"}).Draw(r, "name")
		for _, q := range cases {
			q.agrees(r, home, toolCall(cwd, tool, map[string]string{name: path}))
		}
	})
}

// A plain call is quiet under every policy; otherwise the index is useless. A call that could
// hide a command or a path is not quiet.
func TestQuiet(t *testing.T) {
	home, project := quietHome(t)
	for _, q := range quietCases(t, home, project, quietPolicies) {
		for _, line := range []string{"npm test", "go build ./... && go vet ./...", "ls -la src 2>&1 | head -20", `grep -rn "needle" src`, "cargo test --workspace"} {
			if !q.index.Silent(toolCall(project, "Bash", map[string]string{"command": line})) {
				t.Errorf("%s: %q is not quiet", q.name, line)
			}
		}
		for _, line := range []string{"rm ~/.config/b*", "rm $X", "rm conf/beckon/policy.json", "cd conf; rm x", "rm -rf ..", `r""m x`, "echo x > lib/own/y", "rm lib/own/policy.json", "cp x -t lib/own", "tar x -C ..", "rm -rf /", "cd && rm x", "x | sh"} {
			if q.index.Silent(toolCall(project, "Bash", map[string]string{"command": line})) {
				t.Errorf("%s: %q is quiet", q.name, line)
			}
		}
		if q.index.Silent(toolCall(home+"/.config/beckon", "Bash", map[string]string{"command": "rm policy.json"})) {
			t.Errorf("%s: a line in beckon's own directory is quiet", q.name)
		}
		if q.index.Silent([]byte(`{"tool_name":"Bash","cwd":"` + project + `","tool_input":{"command":"rm \u002e\u002e/x/\u0062eckon"}}`)) {
			t.Errorf("%s: escapes hide a name", q.name)
		}
	}
	strict, err := config.Decode("policy.json", config.Global, []byte(`{"strict":true,"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","decision":"deny","reason":"r","commands":["git push"]}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if x := (Loaded{Hooks: strict.Hooks}).Index(home); x.Silent(toolCall(project, "Bash", map[string]string{"command": "npm test"})) {
		t.Error("a rule that decides where it is not sure leaves lines quiet")
	}
}
