package installer

import (
	"cmp"
	"errors"
	"fmt"

	"beckon/event/typed"
)

// failed returns what stopped a step with a file, and what the user can do about it. It never contains
// text of the file except the keys that lead to a place in it.
func failed(step, path string, err error, hint string) error {
	err = cmp.Or(errors.Unwrap(err), err) // without the path, which is said already
	return typed.Advise(fmt.Errorf("%s %q: %w", step, path, err), hint)
}

// badProgram returns the error for a program path that must not be written into settings.
func badProgram(path, reason, hint string) error {
	return failed("program", path, errors.New(reason), hint)
}
