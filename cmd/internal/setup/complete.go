package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/event/plainfile"
	"beckon/installer"
)

// completeInstall adds the events that a client knows which has just begun a session, and that
// no install knew. Of two clients on one machine the older one counts: it would open a warning
// about an event that it does not know.
func completeInstall(a *cli.App, version string) error {
	v := installer.ParseVersion(version)
	if !v.Known() {
		return cli.Usage("--complete %q: not a version", version)
	}
	ctx := context.Background()
	if c := installer.FindClient(ctx, a.ClaudeDir()); c.Version.Known() && c.Version.Compare(v) < 0 {
		v = c.Version
	}
	changed, err := installer.Complete(ctx, keepDir(a), v)
	for _, c := range changed {
		fmt.Fprintf(a.Stdout, "completed the hooks in %s (client %s)\n", c.File, v)
	}
	if err != nil {
		a.Store.Log(fmt.Errorf("completing the install: %w", err)) // nobody reads the output of what a hook starts
	}
	return errors.Join(err, noteChosenFor(a))
}

// noteChosenFor records for the hooks which client the installed events were chosen for.
func noteChosenFor(a *cli.App) error {
	path := hook.ChosenFor(a.Store.Dir)
	v, installed := installer.ChosenFor(keepDir(a))
	if !installed {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(path, []byte(v.String()+"\n"), 0o600)
}

// UnknownClient returns what list and doctor say about an install from before the client was
// there, else "".
func UnknownClient(a *cli.App) string {
	chosen, err := plainfile.ReadFile(hook.ChosenFor(a.Store.Dir))
	if err != nil || installer.ParseVersion(string(chosen)).Known() {
		return ""
	}
	return "the hooks were installed before the client was there and lack some events, so an API error is not reported: beckon setup adds them, and so does the next session that starts"
}
