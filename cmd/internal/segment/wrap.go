package segment

import (
	"bytes"
	"context"
	"time"

	"beckon/render/run"
)

// wrapped is the output of the previous status line. ok is false if there was none, or if it
// failed without output.
type wrapped struct {
	text string
	ok   bool
}

// maxWrapped limits, in bytes, what is read of a wrapped command's output.
const maxWrapped = 64 << 10

// runWrapped runs a status-line command as the client would, in a shell with the same stdin,
// and kills it with all its children after wait. Background processes of a command that ends
// in time go on: some refresh a cache.
func runWrapped(command string, payload []byte, wait time.Duration) wrapped {
	if command == "" {
		return wrapped{}
	}
	p := run.Program{Line: command, Stdin: bytes.NewReader(payload), Limit: wait, Max: maxWrapped}
	out, _, err := p.Outputs(context.Background())
	text := string(out.Kept)
	return wrapped{text, err == nil || text != ""}
}
