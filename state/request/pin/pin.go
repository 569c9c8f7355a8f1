// Package pin makes the key that signs the user's answers from a PIN, which agents do not know
// though they have the user's files.
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
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"beckon/event/plainfile"
	"beckon/state/request"

	"golang.org/x/crypto/scrypt"
	"golang.org/x/term"
)

// MinLength is the fewest characters of a PIN.
const MinLength = 4

// ErrWrong means that this is not the user's PIN.
var ErrWrong = errors.New("this is not your PIN")

// Set makes pin the user's PIN; an empty one removes it. The caller must find out that they set it.
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
	p := request.PIN{Salt: make([]byte, request.PINSalt)}
	rand.Read(p.Salt)
	key, err := derive(&p, pin)
	if err != nil {
		return err
	}
	p.Public = key[ed25519.SeedSize:]
	b, err := json.Marshal(p)
	if err == nil {
		err = plainfile.Write(d.PINFile(), b, 0o600, false)
	}
	if err != nil {
		return fmt.Errorf("keeping the PIN's public half: %w", err)
	}
	return nil
}

func derive(p *request.PIN, pin string) (ed25519.PrivateKey, error) {
	seed, err := scrypt.Key([]byte(pin), p.Salt, 1<<16, 8, 1, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("deriving the PIN's key: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// guessing makes guesses wait for each other, and for a second after a wrong one.
var guessing sync.Mutex

// Unlock returns the key of the user's PIN, ErrWrong for another one, request.ErrPIN for none.
func Unlock(d request.Dir, pin string) (request.Key, error) {
	if pin == "" {
		return request.NoPIN()
	}
	guessing.Lock()
	defer guessing.Unlock()
	p, err := d.ReadPIN()
	if err != nil {
		return nil, err
	}
	key, err := derive(&p, pin)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(key[ed25519.SeedSize:], p.Public) {
		time.Sleep(time.Second)
		return nil, ErrWrong
	}
	return request.Key(key), nil
}

// Asked returns an Unlock that asks for the PIN at the terminal.
func Asked(d request.Dir) request.Unlock {
	return func() (request.Key, error) {
		typed, err := Type("PIN: ")
		if err != nil {
			return nil, err
		}
		return Unlock(d, typed)
	}
}

// Type asks for a PIN at the process's own terminal, whatever stdin is, and does not show it. The
// error is request.ErrPIN if there is no terminal.
func Type(label string) (string, error) {
	in := "/dev/tty"
	if runtime.GOOS == "windows" {
		in = "CONIN$"
	}
	from, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		return "", request.ErrPIN
	}
	defer from.Close()
	fmt.Fprint(os.Stderr, label)
	typed, err := term.ReadPassword(int(from.Fd()))
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return "", fmt.Errorf("reading the PIN: %w", err)
	}
	return strings.TrimSpace(string(typed)), nil
}

// New asks twice for a new PIN at the terminal, which must be the user's, and sets it; empty for none.
func New(d request.Dir) (set bool, err error) {
	label := fmt.Sprintf("A PIN for answers from elsewhere, %d characters or more (Enter for none): ", MinLength)
	first, err := Type(label)
	if err != nil {
		return false, err
	}
	if first != "" {
		again, err := Type("Once more: ")
		if err != nil {
			return false, err
		}
		if again != first {
			return false, errors.New("these are two PINs: nothing has changed")
		}
	}
	return first != "", Set(d, first)
}
