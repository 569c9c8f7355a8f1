package access

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The token is created once, for this user only; one that others may know is not used.
func TestTokenFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	made := make(chan string, 8)
	for range cap(made) {
		go func() {
			token, err := Token(dir)
			if err != nil {
				token = err.Error()
			}
			made <- token
		}()
	}
	first := <-made
	if len(first)*5 < keyBits {
		t.Fatalf("%q", first)
	}
	for range cap(made) - 1 {
		if token := <-made; token != first {
			t.Errorf("tokens %s and %s", first, token)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(dir, "token")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, broken := range []string{"", "\n", "\x00\x00\x00\x00", first[:9], "no token", "0123456789abcdef01234567", "correct horse battery staple and so on"} { // as a power cut leaves it
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := Token(dir)
		if err != nil || len(token)*5 < keyBits || token == first {
			t.Errorf("instead of %q: %q, %v", broken, token, err)
		}
		if again, err := Token(dir); err != nil || again != token {
			t.Errorf("after %q: %q, then %q, %v", broken, token, again, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if token, err := Token(dir); err == nil {
		t.Errorf("a token that others can read is taken: %s", token)
	}
	_ = os.Rename(path, path+".other")
	_ = os.Chmod(path+".other", 0o600)
	if err := os.Symlink(path+".other", path); err != nil {
		t.Fatal(err)
	}
	if token, err := Token(dir); err == nil {
		t.Errorf("a link is followed: %s", token)
	}
}
