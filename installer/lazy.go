package installer

import (
	"regexp"
	"sync"
)

// lazily compiles an expression at its first use: this package is linked into the program that
// answers hooks, which starts at every tool call and needs none of them (compiling all takes a
// third of a process start).
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
