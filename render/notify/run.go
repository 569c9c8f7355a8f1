package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"beckon/event/bounded"
	"beckon/event/home"
)

// run runs a program to its end or to the limit, when it is killed with its children. Its
// output never reaches ours.
func run(ctx context.Context, limit time.Duration, stdin io.Reader, env []string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Env = stdin, append(home.Environ(), env...)
	out := bounded.Buffer{Max: maxSaid}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	alone(cmd)
	err := cmd.Run()
	said := string(out.Kept)
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return said, nil
	case ctx.Err() != nil:
		return said, fmt.Errorf("%s did not end within %s", base(argv[0]), limit)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not installed", base(argv[0]))
	}
	return said, fmt.Errorf("%s: %w", base(argv[0]), err)
}

// maxSaid limits, in bytes, how much of a program's output is kept.
const maxSaid = 4 << 10

func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
