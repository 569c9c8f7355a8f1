package cli

import (
	"cmp"
	"runtime/debug"
)

// version is set by the linker in a release.
var version string

// Version returns the release's version, else the one that the build recorded.
func Version() string {
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
	return cmp.Or(v, "(devel)")
}
