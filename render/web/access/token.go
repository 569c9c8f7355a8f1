package access

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"beckon/event/atomicfile"
	"beckon/render"
)

// CheckToken returns an error for a token that could be guessed: it must have at least 128
// bits in hexadecimal or base64.
func CheckToken(token string) error {
	if bitsOf(token) >= keyBits {
		return nil
	}
	return render.Advise(fmt.Errorf("BECKON_TOKEN is not %d bits in hexadecimal or base64", keyBits), "openssl rand -hex 16 makes one; without BECKON_TOKEN beckon makes its own")
}

func bitsOf(token string) int {
	if strings.Trim(strings.ToLower(token), "0123456789abcdef") == "" {
		return 4 * len(token)
	}
	for _, form := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if b, err := form.DecodeString(token); err == nil {
			return 8 * len(b)
		}
	}
	return 0
}

// Token returns the token stored in the state directory dir, and creates it the first time.
func Token(dir string) (string, error) {
	path := filepath.Join(dir, "token")
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(dir, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making a token: %w", err)
	}
	return readToken(path) // two may have started at once: one of them created it
}

func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if !info.Mode().IsRegular() || !private(info) {
		return "", render.Advise(fmt.Errorf("%s is not yours alone, so others may know it", path), "remove it: the next start makes a new one")
	}
	b, err := os.ReadFile(path)
	token := strings.TrimSpace(string(b))
	if err == nil && CheckToken(token) != nil {
		err = render.Advise(fmt.Errorf("%s holds no token", path), "remove it: the next start makes a new one")
	}
	return token, err
}

// makeToken writes a token to path, whole or not at all, unless there is one.
func makeToken(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	token := []byte(rand.Text() + "\n")
	err := atomicfile.Create(path, token)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return atomicfile.Write(path, token, 0o600, false) // a file system without links
}
