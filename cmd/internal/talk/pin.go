package talk

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/state/request"
	"beckon/state/request/pin"

	"golang.org/x/term"
)

// signer returns the key that signs an answer; it is called only if the user has a PIN.
type signer func() (*pin.Key, error)

// noPIN is the signer of a program that cannot ask for the PIN.
func noPIN() (*pin.Key, error) { return nil, request.ErrPIN }

// askPIN returns a signer that asks for the PIN at the terminal.
func askPIN(a *cli.App) signer {
	return func() (*pin.Key, error) {
		typed, err := typePIN("PIN: ")
		if err != nil {
			return nil, err
		}
		return pin.Unlock(request.In(a.Store.Dir), typed)
	}
}

// typePIN asks for a PIN at the process's own terminal, whatever stdin is, without an echo.
func typePIN(label string) (string, error) {
	in, out := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		in, out = "CONIN$", "CONOUT$"
	}
	tty, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		return "", cli.Hint("run it in a terminal", "%w", request.ErrPIN)
	}
	defer tty.Close()
	to, err := os.OpenFile(out, os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	defer to.Close()
	fmt.Fprint(to, label)
	typed, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(to)
	if err != nil {
		return "", fmt.Errorf("reading the PIN: %w", err)
	}
	return strings.TrimSpace(string(typed)), nil
}

// PINCmd is `beckon config pin`.
type PINCmd struct{}

// Run asks for a new PIN, and for the one there is first.
func (PINCmd) Run(a *cli.App) error {
	if err := mayAnswer(a); err != nil {
		return err
	}
	d := request.In(a.Store.Dir)
	if d.HasPIN() {
		if _, err := askPIN(a)(); err != nil {
			return err
		}
	}
	set, err := NewPIN(d)
	switch {
	case err != nil:
		return err
	case set:
		_, err = fmt.Fprintln(a.Stdout, "answers now take your PIN; notifications have no buttons")
	default:
		_, err = fmt.Fprintln(a.Stdout, "answers take no PIN")
	}
	return err
}

// NewPIN asks for a new PIN at the terminal, twice, and sets it; an empty one means none. The
// caller must find out that the user asks for it.
func NewPIN(d request.Dir) (set bool, err error) {
	first, err := typePIN(fmt.Sprintf("A PIN for answers, %d characters or more (Enter for none): ", pin.MinLength))
	if err != nil {
		return false, err
	}
	if first != "" {
		again, err := typePIN("Once more: ")
		if err != nil {
			return false, err
		}
		if again != first {
			return false, errors.New("these are two PINs: nothing has changed")
		}
	}
	return first != "", pin.Set(d, first)
}
