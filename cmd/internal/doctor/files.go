package doctor

import (
	"fmt"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/render/term"
)

// RepairCmd is what `fsck` was: it lists the state files that could not be read.
type RepairCmd struct {
	Rebuild bool `help:"Remove them."`
}

// Run is doctor --repair alone.
func (c *RepairCmd) Run(a *cli.App) error {
	files, err := a.Store.Aside()
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(a.Stdout, f)
	}
	if len(files) == 0 {
		fmt.Fprintln(a.Stdout, "every state file could be read")
		return nil
	}
	if c.Rebuild {
		return a.Store.ClearAside()
	}
	fmt.Fprintln(a.Stdout, "beckon doctor --repair removes them")
	return cli.ErrSilent
}

// files reports state files that could not be read, and a file system without locks.
func (d *doctor) files() {
	if err := d.Store.LockProblem(); err != nil {
		d.add(resultWarning, "locks", "put BECKON_STATE_DIR on a local disk",
			"files in %s cannot be locked (%v): two hooks of one session at the same moment may lose one event", d.Store.Dir, err)
	}
	files, err := d.Store.Aside()
	if err != nil || len(files) == 0 {
		return
	}
	d.add(
		resultWarning,
		"files",
		"beckon doctor --repair removes what was set aside",
		"%s could not be read, and the session began anew: %s",
		term.Plural(len(files), "state file"),
		filepath.Dir(files[0]),
	)
	d.newest().repair = d.Store.ClearAside
}
