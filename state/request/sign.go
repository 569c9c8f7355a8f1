package request

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"beckon/event/plainfile"
)

// PINFile keeps the public half of the key that the user's PIN makes (package pin).
func (d Dir) PINFile() string { return filepath.Join(string(d), "pin.json") }

// PIN is the content of PINFile.
type PIN struct {
	Salt   []byte `json:"salt"`
	Cost   int    `json:"n"` // scrypt's parameters N and r
	Block  int    `json:"r"`
	Public []byte `json:"public"` // verifies what the PIN's key signs
}

// PINCost and PINBlock are the largest parameters of a PIN.
const (
	PINCost  = 1 << 16
	PINBlock = 8
)

// HasPIN reports whether answers must be signed with the user's PIN. If that cannot be told they
// must.
func (d Dir) HasPIN() bool {
	_, err := os.Lstat(d.PINFile())
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadPIN reads PINFile.
func (d Dir) ReadPIN() (p PIN, err error) {
	b, err := plainfile.ReadFile(d.PINFile())
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil && (len(p.Public) != ed25519.PublicKeySize || p.Cost > PINCost || p.Block < 1 || p.Block > PINBlock) {
		err = errors.New("it is damaged")
	}
	if err != nil {
		return p, fmt.Errorf("reading %s: %w", d.PINFile(), err)
	}
	return p, nil
}

// Key signs answers with the user's PIN.
type Key ed25519.PrivateKey

// Unlock returns the key of the user's PIN. It is called only if they have one.
type Unlock func() (Key, error)

// NoPIN is the Unlock of a program that cannot ask for the PIN.
func NoPIN() (Key, error) { return nil, ErrPIN }

// Sign signs an answer to the request that the user was shown.
func (k Key) Sign(shown *Request, a *Answer) {
	a.Signature = ed25519.Sign(ed25519.PrivateKey(k), a.signed(shown))
}

// Verify returns an error unless the user has no PIN, or has signed this answer to this request
// with it.
func (d Dir) Verify(r *Request, a *Answer) error {
	if !d.HasPIN() {
		return nil
	}
	p, err := d.ReadPIN()
	if err == nil && !ed25519.Verify(p.Public, a.signed(r), a.Signature) {
		err = errors.New("it is not signed with the user's PIN")
	}
	return err
}

// signed returns what is signed of an answer: all but the time, which is set when it is given;
// and with it all that the user was shown of the request. It is the same before and after the
// answer was written as JSON, where bytes that are no text are replaced.
func (a Answer) signed(r *Request) []byte {
	a.At, a.Signature = 0, nil
	b, _ := json.Marshal(a)
	var read Answer
	_ = json.Unmarshal(b, &read)
	b, _ = json.Marshal(read)
	return append([]byte("beckon answer "+r.Sum+"\n"), b...)
}
