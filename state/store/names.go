package store

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// readNames lists a directory in no particular order, hidden files left out.
func readNames(dir string) ([]string, error) {
	f, err := openDir(dir)
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

// keyIn returns the key that a file's name begins with. No key has a dot.
func keyIn(name string) Key {
	k, _, _ := strings.Cut(name, ".")
	return Key(k)
}

// unique makes a word that is not made twice. It need not be secret:
// math/rand is seeded by the system and spares the hook crypto/rand.
func unique() string { return strconv.FormatUint(rand.Uint64(), 36) }
