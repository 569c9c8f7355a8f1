package segment

import (
	"bytes"
	"context"
	"time"

	"beckon/render/run"
)

// maxWrapped limits, in bytes, what is read of a wrapped command's output.
const maxWrapped = 64 << 10

// runWrapped runs a status-line command as the client would, in a shell with the same stdin,
// and kills it with all its children after wait. Background processes of a command that ends
// in time go on: some refresh a cache. It returns the output, nil without a command or if it
// failed without any.
func runWrapped(command string, payload []byte, wait time.Duration) *string {
	if command == "" {
		return nil
	}
	p := run.Program{Line: command, Stdin: bytes.NewReader(payload), Limit: wait, Max: maxWrapped}
	out, _, err := p.Outputs(context.Background())
	text := string(out.Kept)
	if err != nil && text == "" {
		return nil
	}
	return &text
}
