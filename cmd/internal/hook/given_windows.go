package hook

import "os"

// first reads nothing: another program has no part in this one's descriptors.
func first(*os.File) []byte { return nil }

func hand(_ []byte, args []string) []string { return args }
