package setup

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/event/home"
	"beckon/installer"
)

// programs returns the programs that setup registers; with an error, where the first two should
// be.
func programs(a *cli.App) (hook, program, small string, err error) {
	if hook, err = HookProgram(a, ""); err == nil {
		program, err = beside(a, hook, "beckon")
	}
	if err == nil {
		small, err = statusProgram(a, program)
	}
	if err != nil {
		hook = home.Beside("beckon-hook")
		program = filepath.Join(filepath.Dir(hook), home.Program("beckon"))
	}
	return hook, program, small, err
}

// HookProgram returns the program that the entries name: the given one, else beckon-hook next
// to this program.
func HookProgram(a *cli.App, asked string) (string, error) {
	path := cmp.Or(asked, home.Beside("beckon-hook"))
	if path == "" {
		return "", errors.New("finding this program: the system does not say where it is")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return lasting(a, path)
}

// beside returns the program of that name in the directory of another one.
func beside(a *cli.App, program, name string) (string, error) {
	return lasting(a, filepath.Join(filepath.Dir(program), home.Program(name)))
}

// lasting returns a path of the program that stays valid.
func lasting(a *cli.App, path string) (string, error) {
	goCache := a.Getenv("GOCACHE") // of `go run`
	if dir, err := os.UserCacheDir(); err == nil && goCache == "" {
		goCache = filepath.Join(dir, "go-build")
	}
	return installer.StablePath(path, installer.Places{Home: a.Getenv("HOME"), Temp: os.TempDir(), GoCache: goCache})
}

// statusProgram returns the program for a status line: the one that starts fast if it is there.
func statusProgram(a *cli.App, program string) (string, error) {
	if path, err := beside(a, program, "beckon-hook"); err == nil {
		return path, nil
	}
	return beside(a, program, "beckon")
}
