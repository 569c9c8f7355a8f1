//go:build !linux && !darwin

package installer

import "errors"

// exchange swaps two files in one step, which this system cannot.
func exchange(string, string) error { return errors.ErrUnsupported }
