package access

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"beckon/event/plainfile"
	"beckon/render"

	"github.com/gofrs/flock"
)

// tokenForm is a token of at least 128 bits in base32, base64 or hexadecimal.
var tokenForm = regexp.MustCompile(`^[\w+/=-]{22,}$`)

// Token returns the token stored in the state directory dir. It makes one the first time, and
// instead of a file that has none, which a power cut can leave.
func Token(dir string) (string, error) {
	path := filepath.Join(dir, "token")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	lock := flock.New(path + ".lock")
	_ = lock.Lock() // without locks, two that start at once write one each, and the later counts
	defer os.Remove(lock.Path())
	defer lock.Unlock()
	token, err := readToken(path)
	if err == nil && token == "" {
		token = rand.Text()
		err = plainfile.Write(path, []byte(token+"\n"), 0o600, true)
	}
	return token, err
}

// readToken returns the token in the file at path, empty if it has none.
func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", render.Advise(fmt.Errorf("%s is not yours alone, so others may know it", path),
			"remove it: the next start makes a new one")
	}
	b, err := os.ReadFile(path)
	token := strings.TrimSpace(string(b))
	if err != nil || !tokenForm.MatchString(token) {
		return "", err
	}
	return token, nil
}
