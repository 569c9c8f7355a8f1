// Package home says where beckon's own files and programs are.
package home

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Dir is the user's home directory, empty when the environment has none.
func Dir(getenv func(string) string) string {
	if d := getenv("HOME"); d != "" {
		return d
	}
	return getenv("USERPROFILE")
}

// Config is the path of a file of beckon's configuration: in
// $XDG_CONFIG_HOME/beckon, else in ~/.config/beckon. It is empty when there is
// no absolute home.
func Config(getenv func(string) string, name string) string {
	if d := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "beckon", name)
	}
	if d := Dir(getenv); filepath.IsAbs(d) {
		return filepath.Join(d, ".config", "beckon", name)
	}
	return ""
}

// Beside is the program of that name in the directory of this one, empty when
// that directory is not known.
func Beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(self), Program(name))
}

// Program is what the file of a program is called on this system.
func Program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// Environ is the environment for programs that beckon starts: all but the client's
// messaging token, for which they have no use.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CODE_MESSAGING_") })
}

// WithVar is an environment in which one variable has another value.
func WithVar(getenv func(string) string, name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return getenv(n)
	}
}
