package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/state/request"
)

// evil is markup that would run if it were interpreted, in each way that a text could be.
const evil = `"><img src=x onerror=boom()><script>boom()</script><svg onload=boom()>'+boom()+'${boom()}`

// Whatever a session says is shown as text: nothing in it runs, loads or becomes an element,
// on the board and on its own page.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	project := filepath.Join(w.home, `<img src=x onerror=boom()>`)
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Skipf("this file system has no such names: %v", err)
	}
	branch := "<img/src=x/onerror=boom()>"
	if err := os.WriteFile(filepath.Join(project, ".git", "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.start()
	a := w.agent("hi")
	say := func(kind string, more map[string]any) {
		p := map[string]any{"session_id": "hostile", "cwd": project, "hook_event_name": kind, "permission_mode": evil, "model": evil}
		for k, v := range more {
			p[k] = v
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		a.run(kind, string(b))
	}
	say("SessionStart", map[string]any{"source": evil})
	say("UserPromptSubmit", map[string]any{"prompt": "\u202egnp.exe " + evil})
	say("SubagentStart", map[string]any{"agent_id": evil, "agent_type": evil})
	say("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": evil}})
	say("PostToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": evil}})
	say("PreToolUse", map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": "t1", "tool_input": map[string]any{"questions": []any{map[string]any{
		"header": evil, "question": evil, "options": []any{map[string]any{"label": evil, "description": evil}}}}}})

	p := c.open(t, "about:blank")
	p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `window.booms = 0; window.boom = () => { booms++; };`})
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("its card is there", `document.querySelectorAll("#groups .card.needs").length === 1`)
	harmless := func(where string) {
		t.Helper()
		if n := get[int](p, `booms + document.querySelectorAll("img, body script, [onerror], [onload]").length`); n != 0 {
			t.Errorf("%s: %d pieces of a text became more than text", where, n)
		}
	}
	asked := []any{map[string]any{"header": evil, "question": evil, "options": []any{map[string]any{"label": evil, "description": evil}}}}
	for kind, payload := range map[request.Kind]map[string]any{
		request.Permission: {"tool_input": map[string]any{"command": evil}, "permission_suggestions": []any{map[string]any{"type": "setMode", "mode": evil, "destination": evil}}},
		request.Question:   {"tool_input": map[string]any{"questions": asked}},
		request.Plan:       {"tool_input": map[string]any{"plan": "# **" + evil + "**\n\n- `" + evil + "`\n- [" + evil + "](javascript:boom())\n\n" + evil + "\n"}},
	} {
		o := w.asks("hostile", kind, evil, quote(payload))
		p.await("what it asks is text", at(o)+`.textContent.includes(`+quote(evil)+`)`)
		if kind == request.Plan {
			p.await("it is Markdown", at(o)+`.querySelectorAll(".block").length === 4`)
		}
	}
	harmless("the board")
	for what, expr := range map[string]string{
		"title": `.name`, "question": `.ask`, "option": `.options b`, "project": `.project`, "branch": `.branch`,
	} {
		got := get[string](p, `document.querySelector(`+jsString(expr)+`).textContent`)
		want := map[string]string{"project": filepath.Base(project), "branch": branch}[what]
		if want == "" {
			want = `<img src=x onerror=boom()><script>boom()</script>`
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s is shown as %q", what, got)
		}
		if strings.ContainsRune(got, '\u202e') {
			t.Errorf("%s turns the order of letters: %q", what, got)
		}
	}
	p.must(p.eval(`document.querySelector(".name").click()`, nil))
	p.await("its page is there", `document.querySelectorAll(".line.turn").length > 0`)
	p.must(p.eval(`document.getElementById("every").click()`, nil))
	p.await("every event is there", `document.querySelectorAll(".line:not(.turn)").length > 4`)
	harmless("its page")

	// An address is text, too. The console reports its 404.
	p.expectOutage()
	p.do("Page.navigate", map[string]any{"url": w.url() + "session/%3Cimg%20src=x%20onerror=boom()%3E"})
	p.await("it is not found", `document.getElementById("session").textContent.includes("There is no such session.")`)
	harmless("an address")
}

func jsString(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}
