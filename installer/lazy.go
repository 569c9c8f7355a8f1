package installer

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first used: this package is linked
// into the program that answers hooks, which starts at every tool call and
// needs none of them (compiling them all is a third of a process start).
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
