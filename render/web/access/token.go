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
	"beckon/event/typed"
)

// A token has at least 128 bits: 32 digits if it is hexadecimal, else 22 characters, as in base64.
var (
	tokenForm = regexp.MustCompile(`^[\w+/=-]{22,}$`)
	shortHex  = regexp.MustCompile(`^[[:xdigit:]]{0,31}$`)
)

// Token returns the token stored in the state directory dir. It makes one the first time, and
// instead of a file that has none, which a power cut can leave.
func Token(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	path, made := filepath.Join(dir, "token"), rand.Text()
	err := plainfile.Create(path, []byte(made+"\n"))
	if !errors.Is(err, fs.ErrExist) {
		return made, err
	}
	if token, err := readToken(path); err != nil || token != "" {
		return token, err
	}
	return made, plainfile.Write(path, []byte(made+"\n"), 0o600, true)
}

// readToken returns the token in the file at path, empty if it has none.
func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", typed.Advise(fmt.Errorf("%s is not yours alone, so others may know it", path),
			"remove it: the next start makes a new one")
	}
	b, err := os.ReadFile(path)
	token := strings.TrimSpace(string(b))
	if err != nil || !tokenForm.MatchString(token) || shortHex.MatchString(token) {
		return "", err
	}
	return token, nil
}
