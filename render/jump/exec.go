package jump

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"
)

// run runs c with nothing on its stdin and returns both outputs. A child of
// it that keeps the pipe open does not hold us up.
func run(ctx context.Context, c Command) (string, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.WaitDelay = 100 * time.Millisecond
	var out bounded
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// bounded keeps the first 4 MiB: enough for the panes of any tmux server.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	const most = 4 << 20
	b.Buffer.Write(p[:min(len(p), max(0, most-b.Len()))])
	return len(p), nil
}
