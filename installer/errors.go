package installer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// advice is what the user can do about an error; it may be empty.
type advice string

// Hint implements the interface of errors with advice.
func (a advice) Hint() string { return string(a) }

// fileError is what stopped a step with a file. It never contains text of the file except the keys that
// lead to a place in it.
type fileError struct {
	Step string // what was being done, as a gerund
	Path string // empty from the pure functions
	Err  error
	advice
}

// Error returns step, file and cause in one line.
func (e *fileError) Error() string { return fmt.Sprintf("%s %q: %v", e.Step, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *fileError) Unwrap() error { return e.Err }

// failed returns a fileError, without the path that os adds to a cause.
func failed(step, path string, err error, hint advice) error {
	return &fileError{step, path, cause(err), hint}
}

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
func badProgram(path, reason string, hint advice) error {
	return failed("program", path, errors.New(reason), hint)
}

// inFile adds the file's name, as the client opens it, to an error of a pure function.
func inFile(err error, path string) error {
	if e, ok := errors.AsType[*fileError](err); ok {
		e.Path = cmp.Or(e.Path, path)
	}
	return err
}
