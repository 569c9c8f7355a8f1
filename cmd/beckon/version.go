package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker in a release.
var version string

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.stdout, "beckon %s %s/%s %s\n", versionString(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}

// versionString is the release's version, else what the build recorded.
func versionString() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") && len(s.Value) >= 12 {
			v = s.Value[:12]
		}
	}
	if v == "" {
		return "(devel)"
	}
	return v
}
