package main

import (
	"errors"
	"fmt"
	"strings"

	"beckon/state"
	"beckon/state/store"
)

// updateAdvice is for files that a newer beckon wrote. They are left as they are: what
// this one does not know of would be lost.
const updateAdvice = "update beckon, or find the older one: which -a beckon beckon-hook"

// complain tells on stderr which sessions could not be read.
func (a *app) complain(problems []store.Problem) {
	a.unread = problems
	newer := false
	for _, p := range problems {
		fmt.Fprintf(a.stderr, "beckon: reading session %q: %v\n", string(p.Key), p.Err)
		newer = newer || errors.Is(p.Err, state.ErrNewerSchema)
	}
	if newer {
		fmt.Fprintf(a.stderr, "  hint: %s\n", updateAdvice)
	}
}

// unreadable returns the error of the session that arg names and that is there, but
// could not be read; or nil.
func (a *app) unreadable(arg string) error {
	for _, p := range a.unread {
		if arg != "" && strings.HasPrefix(string(p.Key), string(store.KeyOf(arg))) {
			return fmt.Errorf("session %q cannot be read", arg)
		}
	}
	return nil
}
