package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"beckon/event/typed"
)

// failed returns what stopped a step with a file, and what the user can do about it. It never contains
// text of the file except the keys that lead to a place in it.
func failed(step, path string, err error, hint string) error {
	return typed.Advise(fmt.Errorf("%s %q: %w", step, path, cause(err)), hint)
}

// cause returns an error without the path that os adds.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// badProgram returns the error for a program path that must not be written into settings.
func badProgram(path, reason, hint string) error {
	return failed("program", path, errors.New(reason), hint)
}
