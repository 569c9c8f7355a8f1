package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// run runs a program to its end or to the limit, when it and what it started
// are killed. Nothing of it reaches our own output.
func run(ctx context.Context, limit time.Duration, stdin io.Reader, env []string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Env = stdin, append(environ(), env...)
	var out head
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	alone(cmd)
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return out.String(), nil
	case ctx.Err() != nil:
		return out.String(), fmt.Errorf("%s did not end within %s", base(argv[0]), limit)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not installed", base(argv[0]))
	}
	return out.String(), fmt.Errorf("%s: %w", base(argv[0]), err)
}

func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// environ is the environment for programs that we start: all but the client's
// messaging token, which they must not have.
func environ() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CLAUDE_CODE_MESSAGING_") {
			env = append(env, v)
		}
	}
	return env
}

// head keeps the first bytes that are written to it and takes the rest.
type head struct{ strings.Builder }

func (h *head) Write(p []byte) (int, error) {
	const most = 4096
	_, _ = h.Builder.Write(p[:min(len(p), max(0, most-h.Len()))])
	return len(p), nil
}
