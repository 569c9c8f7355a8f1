// Command recorder is the hook and status line command of the lab: it appends
// what it got to a file and says nothing.
//
//	recorder FILE KIND < payload
package main

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// line is an entry of the file.
type line struct {
	AtMS    int64             `json:"at_ms"`
	Kind    string            `json:"kind"`
	Payload json.RawMessage   `json:"payload"`
	Env     map[string]string `json:"env"`
}

// kept are the variables that a reader of the recording needs. Never the whole environment: it
// contains secrets.
var kept = map[string]bool{
	"CLAUDECODE": true, "CLAUDE_CODE_CHILD_SESSION": true, "CLAUDE_CODE_ENTRYPOINT": true,
	"CLAUDE_CODE_SESSION_ATTENDED": true, "CLAUDE_CODE_SESSION_ID": true, "CLAUDE_ENV_FILE": true,
	"CLAUDE_EFFORT": true, "CLAUDE_PID": true, "CLAUDE_PROJECT_DIR": true, "PWD": true, "TERM": true,
	"TMUX": true, "TMUX_PANE": true, "BECKON_AGENT_ID": true, "BECKON_TMUX_SESSION": true,
}

const statusLine = "statusline"

func main() {
	at := time.Now()
	payload, _ := io.ReadAll(os.Stdin) // a cut payload is dropped below
	if len(os.Args) != 3 || !json.Valid(payload) {
		return
	}
	kind := os.Args[2]
	b, err := json.Marshal(line{at.UnixMilli(), kind, payload, environment(kind)})
	if err != nil {
		return
	}
	f, err := os.OpenFile(os.Args[1], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(b, '\n')) // one write, so that lines of parallel hooks do not mix
}

// environment returns nothing for the status line, which runs in the client's own shell.
func environment(kind string) map[string]string {
	env := map[string]string{}
	if kind == statusLine {
		return env
	}
	for _, e := range os.Environ() {
		if k, v, _ := strings.Cut(e, "="); kept[k] {
			env[k] = v
		}
	}
	env["ppid"] = strconv.Itoa(os.Getppid())
	return env
}
