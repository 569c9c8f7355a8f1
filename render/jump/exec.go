package jump

import (
	"context"
	"os"
	"os/exec"
	"time"

	"beckon/event/bounded"
)

// run runs c with nothing on its stdin and returns both outputs. A child of
// it that keeps the pipe open does not hold us up.
func run(ctx context.Context, c Command) (string, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.WaitDelay = 100 * time.Millisecond
	out := bounded.Buffer{Max: 4 << 20} // enough for the panes of any tmux server
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return string(out.Kept), err
}
