package store

import (
	"cmp"
	"os"
	"slices"
	"sync/atomic"
)

var spoolCount atomic.Int64

// readNames lists a directory in no particular order, hidden files left out.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return slices.DeleteFunc(names, func(n string) bool { return n[0] == '.' }), err
}

// sortBy sorts names by a number in them, then by name.
func sortBy(names []string, num func(string) int64) {
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(num(a), num(b)), cmp.Compare(a, b))
	})
}
