package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/bounded"
	"beckon/render"
)

// Parse reads a host as the command line gives it, "ssh:NAME", and returns
// the name. A name has letters, digits and "._-@:%[]" only and begins neither
// itself nor its host part with a "-": so ssh can take it for nothing else, and
// a ProxyCommand that has it in is safe.
func Parse(spec string) (name string, err error) {
	name, ok := strings.CutPrefix(spec, "ssh:")
	_, address, at := strings.Cut(name, "@")
	if !ok || name == "" || len(name) > 255 || name[0] == '-' || name[0] == '@' || at && (address == "" || address[0] == '-') ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@:%[]") != "" {
		return "", fmt.Errorf("host %q: a host is ssh:NAME, where NAME is an alias or [user@]address of ssh's", spec)
	}
	return name, nil
}

// listing is what runs there. It is constant: nothing of ours is quoted into
// it. sh is named because the user's shell may be another.
const listing = `exec sh -c 'PATH="$PATH:$HOME/.local/bin:$HOME/go/bin"; exec beckon list --json'`

// maxAnswer bounds what is read of a host's answer.
const maxAnswer = 8 << 20

// arguments are those of the ssh that asks name: it asks no question of its
// own, forwards nothing and gives up in time.
// The connection stays for a while, so that the next question is a matter of
// milliseconds.
func arguments(name string) []string {
	return append(shared(), "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=3", "-o", "ClearAllForwardings=yes", "--", name, listing)
}

// keepOpen is how long a connection stays that nobody asks anything.
const keepOpen = "60s"

// shared has ssh use one connection for all questions, where there is a place for
// its socket that is short enough and nobody else's.
func shared() []string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" || len(dir) > 40 || !filepath.IsAbs(dir) || strings.ContainsAny(dir, "% \t\"'") {
		return nil
	}
	return []string{"-o", "ControlMaster=auto", "-o", "ControlPersist=" + keepOpen, "-o", "ControlPath=" + filepath.Join(dir, "beckon-%C")}
}

// ask asks one host by ssh.
func ask(ctx context.Context, name string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "ssh", arguments(name)...)
	out, said := bounded.Buffer{Max: maxAnswer}, bounded.Buffer{Max: maxAnswer}
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = 100 * time.Millisecond // a ProxyCommand may keep the pipes
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the connection that stays has the pipes; the answer is whole
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no answer in %v", deadline)
	case out.Cut:
		return nil, errors.New("the answer is too long")
	case err == nil:
		return out.Kept, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, err
	}
	if exit.ExitCode() == 127 {
		return nil, errors.New("beckon is not there")
	}
	return nil, errors.New(cmp.Or(lastLine(string(said.Kept)), err.Error()))
}

// lastLine returns the last line that says something: ssh's own warnings come
// before it.
func lastLine(s string) string {
	lines := strings.Split(s, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := render.OneLine(lines[i]); line != "" {
			return event.Cut(line, 300)
		}
	}
	return ""
}
