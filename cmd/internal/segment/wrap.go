package segment

import (
	"bytes"
	"context"
	"time"

	"beckon/event/bounded"
)

// wrapped is what the status line that was there before had to say. ok is
// false when there was none, and when it failed without a word.
type wrapped struct {
	text string
	ok   bool
}

// maxWrapped bounds, in bytes, what is taken of a wrapped command's output.
const maxWrapped = 64 << 10

// runWrapped runs a status-line command as the client would, in a shell with
// the same stdin, and ends it with all that it started after wait. What it
// leaves in the background when it ends in time goes on: some refresh a cache.
func runWrapped(command string, payload []byte, wait time.Duration) wrapped {
	if command == "" {
		return wrapped{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	cmd := shell(ctx, command)
	cmd.Stdin = bytes.NewReader(payload)
	out := bounded.Buffer{Max: maxWrapped}
	cmd.Stdout = &out
	cmd.WaitDelay = 100 * time.Millisecond // for a child that holds stdout
	err := cmd.Run()
	text := string(out.Kept)
	return wrapped{text, err == nil || text != ""}
}
