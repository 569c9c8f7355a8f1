package access

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A guessable token is refused.
func TestCheckToken(t *testing.T) {
	for token, good := range map[string]bool{
		"": false, "x": false, "secret": false, "correct horse battery staple and so on": false, testToken: true, testToken[1:]: false,
		strings.ToUpper(testToken): true, "0123456789abcdef012345": false, // base64 of 128 bits, but hexadecimal of 88
		"q+8/Zw==": false, "q83vASNFZ4mrze8BI0VniQ==": true, "q83vASNFZ4mrze8BI0VniQ": true, "-_3vASNFZ4mrze8BI0VniQ": true, "q83vASNFZ4mrze8BI0Vn": false,
	} {
		if err := CheckToken(token); (err == nil) != good {
			t.Errorf("%q: %v", token, err)
		}
	}
}

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
	if err := CheckToken(first); err != nil {
		t.Fatalf("%q: %v", first, err)
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
	for _, broken := range []string{"", "\n", "\x00\x00\x00\x00", first[:9], "no token"} { // as a power cut leaves it
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := Token(dir)
		if err != nil || CheckToken(token) != nil || token == first {
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
