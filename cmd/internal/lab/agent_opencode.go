//go:build unix

package lab

import (
	"fmt"
	"runtime"
	"strings"
)

var opencode = &Agent{
	Name: "opencode", Version: "1.18.33", Package: "opencode-ai",
	program: "opencode-" + runtime.GOOS + "-" + npmArch() + "/bin/opencode",
	setup: func(h *Home) error {
		return writeJSON(h.path("home/.config/opencode/opencode.json"), fields{
			"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "model": "lab/lab-model", "small_model": "lab/lab-model",
			"enabled_providers": []string{"lab"},
			"provider": fields{"lab": fields{
				"npm": "@ai-sdk/openai-compatible", "name": "lab",
				"options": fields{"baseURL": h.api + "/v1", "apiKey": APIKey},
				"models":  fields{"lab-model": fields{"name": "lab-model", "limit": fields{"context": 200_000, "output": 8_000}}},
			}},
			"permission": fields{"bash": fields{"*": "ask", "./nap *": "allow"}},
		})
	},
	env: func(*Home) map[string]string {
		return map[string]string{
			"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
			"npm_config_fetch_retries": "0", // it fetches what plugins may need, and can do without
		}
	},
	title:  "Lab title",
	resume: []string{"--continue"},
	ready:  `Ask anything`,
	screen: []sign{
		on("permission", `Permission required`),
		on("question", `esc dismiss`),
		on("working", `esc (again to )?interrupt`),
		on("idle", `ctrl\+p commands`),
	},
	keys: map[string][]string{
		"approve": {"Enter"}, "refuse": {"Right", "Right", "Enter"}, "esc": {"Escape", "Escape"}, "choose": {"Enter"},
		"compact": {"/compact", "Enter"}, "clear": {"/new", "Enter"}, "quit": {"/exit", "Enter"},
	},
	tools: tools{
		run:  func(c string) Tool { return Tool{"bash", object("command", c, "description", "run it")} },
		asks: func(c string) Tool { return Tool{"bash", object("command", c, "description", "run it")} },
		form: func() Tool {
			return Tool{"question", `{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}]}]}`}
		},
		sub: func(p string) Tool {
			return Tool{"task", object("description", "look around", "prompt", p, "subagent_type", "general")}
		},
	},
	hooks: func(h *Home, command string) error {
		words := strings.Fields(command)
		return writeFile(h.path("home/.config/opencode/plugins/recorder.js"), fmt.Sprintf(recorderPlugin, words[len(words)-1]))
	},
}

// recorderPlugin writes what the recorder writes, by itself: processes would
// overtake each other.
const recorderPlugin = `import { appendFileSync } from "node:fs"

const silent = /^(plugin|catalog|reference|message|lsp|file|tui|server|installation|vcs|project)\./

const note = (kind, properties, id) => appendFileSync(%q, JSON.stringify({
  at_ms: Date.now(), kind, payload: { id, type: kind, properties },
  env: { ppid: String(process.pid), TMUX: process.env.TMUX, TMUX_PANE: process.env.TMUX_PANE },
}) + "\n")

export const Recorder = async ({ directory }) => {
  note("plugin.init", { directory, pid: process.pid })
  return {
    event: async ({ event }) => {
      if (silent.test(event.type)) return
      const kind = event.type === "session.status" ? "session.status." + event.properties.status.type : event.type
      note(kind, event.properties, event.id)
    },
    "chat.message": async (input, output) => note("chat.message", { ...input, parts: output.parts }),
    "tool.execute.before": async (input, output) => note("tool.execute.before", { ...input, args: output.args }),
    "tool.execute.after": async (input, output) => note("tool.execute.after", { ...input, output: output.output }),
    dispose: async () => note("dispose", {}),
  }
}
`
