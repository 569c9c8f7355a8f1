package evidence

import (
	"bytes"
	"testing"
)

// An agent that is a script is known by what its interpreter runs, and nothing else
// is taken for one.
func TestAgentsThatAreScripts(t *testing.T) {
	for line, want := range map[string]bool{
		"node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js":                               true,
		"/usr/bin/node --max-old-space-size=4096 /usr/lib/node_modules/@qwen-code/qwen-code/cli.js -y": true,
		"node /home/you/.local/bin/qwen":                                                               true,
		"/opt/node_modules/@github/copilot-linux-x64/copilot --allow-tool x":                           true,
		"node server.js": false,
		"vim gemini":     false,
		"bash":           false,
		"":               false,
		"node":           false,
	} {
		if got := startsAgent(bytes.Fields([]byte(line))); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
