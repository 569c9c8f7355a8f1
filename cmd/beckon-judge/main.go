// Command beckon-judge answers a hook when the policy has rules for it and starts no other
// program. beckon-hook execs it, and it execs beckon where there is more to do. It links no
// more than rules need, because every start pays for what is linked.
package main

import (
	"os"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/hook"
)

func main() {
	os.Exit(answer.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv, nil, hook.BecomeHook))
}
