package doctor

import (
	"os"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/render"
)

func (d *doctor) configuration() {
	for _, err := range cli.Each(d.CheckConfig()) {
		d.add(resultError, "config", render.HintOf(err), "%v", err)
	}
}

// stateDir checks that the state directory can be written to, and not by others.
func (d *doctor) stateDir() {
	dir := d.Store.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.add(resultError, "state", cli.StateAdvice, "%v", err)
		return
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.add(resultError, "state", cli.StateAdvice, "%s cannot be written: %v", dir, err)
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if answer.Shared(dir) {
		d.add(resultError, "state", cli.StateAdvice, "%s is not yours alone: others can change what is in it", dir)
		d.newest().repair = func() error { return os.Chmod(dir, 0o700) }
		return
	}
	d.add(resultOK, "state", "", "%s", dir)
}
