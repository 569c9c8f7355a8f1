// Package pin signs the user's answers with a PIN, which agents do not know though they have the
// user's files.
//
// scrypt derives an ed25519 key from the PIN: each guess takes 64 MiB and a tenth of a second,
// where PBKDF2 would leave a PIN of six digits to a graphics card for a second. The state
// directory keeps the public half and the salt. The process that waits for an answer verifies its
// signature with them.
//
// It does not protect from guessing a short PIN offline, from replacing or removing the file or
// the programs, or from watching the user type.
package pin

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"beckon/event/plainfile"
	"beckon/state/request"

	"golang.org/x/crypto/scrypt"
)

// cost and block are scrypt's parameters N and r.
const (
	cost  = 1 << 16
	block = 8
)

// MinLength is the fewest characters of a PIN.
const MinLength = 4

// ErrWrong means that this is not the user's PIN.
var ErrWrong = errors.New("this is not your PIN")

// kept is the content of the file.
type kept struct {
	Salt   []byte `json:"salt"`
	Cost   int    `json:"n"`
	Block  int    `json:"r"`
	Public []byte `json:"public"`
}

// Key signs answers.
type Key struct{ private ed25519.PrivateKey }

// Set makes pin the user's PIN; an empty one removes it. The caller must find out that it is the
// user who sets it.
func Set(d request.Dir, pin string) error {
	if pin == "" {
		if err := os.Remove(d.PINFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the PIN: %w", err)
		}
		return nil
	}
	if utf8.RuneCountInString(pin) < MinLength {
		return fmt.Errorf("a PIN has at least %d characters", MinLength)
	}
	f := kept{Salt: make([]byte, 16), Cost: cost, Block: block}
	rand.Read(f.Salt)
	k, err := f.key(pin)
	if err != nil {
		return err
	}
	f.Public = k.private.Public().(ed25519.PublicKey)
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := plainfile.Write(d.PINFile(), b, 0o600, false); err != nil {
		return fmt.Errorf("keeping the PIN's public half: %w", err)
	}
	return nil
}

func (f *kept) key(pin string) (*Key, error) {
	seed, err := scrypt.Key([]byte(pin), f.Salt, f.Cost, f.Block, 1, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("deriving the PIN's key: %w", err)
	}
	return &Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// read reads what Set has written.
func read(d request.Dir) (f kept, err error) {
	b, err := plainfile.ReadFile(d.PINFile())
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err == nil && (len(f.Public) != ed25519.PublicKeySize || f.Cost > cost || f.Block < 1 || f.Block > block) {
		err = errors.New("it is damaged")
	}
	if err != nil {
		return f, fmt.Errorf("reading %s: %w", d.PINFile(), err)
	}
	return f, nil
}

// guessing makes guesses wait for each other, and for a second after a wrong one.
var guessing sync.Mutex

// afterWrong is how long a wrong PIN keeps others waiting.
const afterWrong = time.Second

// Unlock returns the key of the user's PIN. The error is ErrWrong for another one.
func Unlock(d request.Dir, pin string) (*Key, error) {
	guessing.Lock()
	defer guessing.Unlock()
	f, err := read(d)
	if err != nil {
		return nil, err
	}
	k, err := f.key(pin)
	if err != nil {
		return nil, err
	}
	if !k.private.Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(f.Public)) {
		time.Sleep(afterWrong)
		return nil, ErrWrong
	}
	return k, nil
}

// Sign signs an answer to the request that the user was shown.
func (k *Key) Sign(shown *request.Request, a *request.Answer) error {
	b, err := answerText(shown, *a)
	if err == nil {
		a.Signature = ed25519.Sign(k.private, b)
	}
	return err
}

// SignSaid signs a message to the session of a record.
func (k *Key) SignSaid(record string, s *request.Said) error {
	b, err := saidText(record, *s)
	if err == nil {
		s.Signature = ed25519.Sign(k.private, b)
	}
	return err
}

// Verify returns an error unless the user has no PIN, or has signed this answer to this request
// with it.
func Verify(d request.Dir, r *request.Request, a *request.Answer) error {
	return verify(d, a.Signature, func() ([]byte, error) { return answerText(r, *a) })
}

// VerifySaid is Verify for a message to the session of a record.
func VerifySaid(d request.Dir, record string, s *request.Said) error {
	return verify(d, s.Signature, func() ([]byte, error) { return saidText(record, *s) })
}

func verify(d request.Dir, signature []byte, text func() ([]byte, error)) error {
	if !d.HasPIN() {
		return nil
	}
	f, err := read(d)
	if err != nil {
		return err
	}
	b, err := text()
	if err != nil {
		return err
	}
	if !ed25519.Verify(f.Public, b, signature) {
		return errors.New("it is not signed with the user's PIN")
	}
	return nil
}

// answerText returns what is signed of an answer: all but the time, which is set when it is given;
// and with it all that the user was shown of the request.
func answerText(r *request.Request, a request.Answer) ([]byte, error) {
	a.At, a.Signature = 0, nil
	return signed("answer "+r.Sum, a)
}

func saidText(record string, s request.Said) ([]byte, error) {
	s.Signature = nil
	return signed("reply "+record, s)
}

// signed returns v as text, the same before and after it was written as JSON, where bytes that are
// no text are replaced.
func signed[T any](what string, v T) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var read T
	if err := json.Unmarshal(b, &read); err != nil {
		return nil, err
	}
	if b, err = json.Marshal(read); err != nil {
		return nil, err
	}
	return append([]byte("beckon "+what+"\n"), b...), nil
}
