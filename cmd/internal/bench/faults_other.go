//go:build !unix

package main

import "os"

// minorFaults is unknown on this system.
func minorFaults(*os.ProcessState) int64 { return 0 }
