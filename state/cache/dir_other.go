//go:build !linux && !darwin

package cache

import "beckon/event/plainfile"

// dir is never open: nothing here tells whether another machine may write in it.
type dir struct{}

func openDir(string) (d dir, ok bool) { return d, false }

func (dir) stamp(string) (s plainfile.Stamp, ok bool) { return s, false }

func (dir) close() {}
