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

// settingsError is the error for a settings file that is refused: the client could not read it,
// or its hooks cannot be edited safely. It never contains text of the file except the keys that
// lead to the place.
type settingsError struct {
	File    string // path of the file; empty from the pure functions
	Line    int    // from 1
	Column  int    // from 1, in characters
	Path    string // JSON path, such as hooks.Stop[0].hooks; empty for the top level
	Problem string
	advice
}

// Error returns file, place, JSON path and problem in one line.
func (e *settingsError) Error() string {
	text := e.Problem
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	text = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, text)
	if e.File != "" {
		text = fmt.Sprintf("%q: %s", e.File, text)
	}
	return text
}

// fileError is what stopped a step with a file.
type fileError struct {
	Step string // what was being done, as a gerund
	Path string
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
	return &fileError{"program", path, errors.New(reason), hint}
}

// inFile adds the file's name, as the client opens it, to an error of a pure function.
func inFile(err error, path string) error {
	if e, ok := errors.AsType[*settingsError](err); ok {
		e.File = path
	}
	if e, ok := errors.AsType[*fileError](err); ok {
		e.Path = cmp.Or(e.Path, path)
	}
	return err
}
