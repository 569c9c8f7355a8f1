package main

import (
	"fmt"
	"runtime"

	"beckon/cmd/internal/cli"
)

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.Stdout, "beckon %s %s/%s %s\n", cli.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}
