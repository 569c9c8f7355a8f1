// Package home locates beckon's own files and programs, and reads its configuration.
package home

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Dir returns the user's home directory, "" if the environment has none.
func Dir(getenv func(string) string) string {
	if d := getenv("HOME"); d != "" {
		return d
	}
	return getenv("USERPROFILE")
}

// Config returns the path of a file of beckon's configuration: in $XDG_CONFIG_HOME/beckon,
// else in ~/.config/beckon; "" if there is no absolute home.
func Config(getenv func(string) string, name string) string {
	if d := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "beckon", name)
	}
	if d := Dir(getenv); filepath.IsAbs(d) {
		return filepath.Join(d, ".config", "beckon", name)
	}
	return ""
}

// Beside returns the path of the program of that name in this program's directory, "" if that
// directory is unknown.
func Beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(self), Program(name))
}

// Program returns the file name of a program on this system.
func Program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// Environ returns the environment for programs that beckon starts: everything but the client's
// messaging token, which they do not need.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CODE_MESSAGING_") })
}

// WithVar returns an environment in which one variable has another value.
func WithVar(getenv func(string) string, name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return getenv(n)
	}
}
