package main

import (
	"fmt"
	"runtime"

	"beckon/cmd/internal/cli"
)

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.Stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("beckon %s %s/%s %s", cli.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
