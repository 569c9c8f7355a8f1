// Command beckon-judge answers a hook where the policy has rules for it and
// nothing to start. beckon-hook becomes it, and it becomes beckon where there
// is more to do: it links no more than rules need, because what is linked is
// paid for at every start.
package main

import (
	"os"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/hook"
)

func main() {
	os.Exit(answer.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv, nil, hook.Become))
}
