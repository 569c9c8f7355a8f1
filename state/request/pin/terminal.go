package pin

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"beckon/state/request"

	"golang.org/x/term"
)

// Type asks for a PIN at the process's own terminal, whatever stdin is, and does not show it. The
// error is request.ErrPIN if there is no terminal.
func Type(label string) (string, error) {
	in, out := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		in, out = "CONIN$", "CONOUT$"
	}
	from, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		return "", request.ErrPIN
	}
	defer from.Close()
	to, err := os.OpenFile(out, os.O_WRONLY, 0)
	if err != nil {
		return "", request.ErrPIN
	}
	defer to.Close()
	fmt.Fprint(to, label)
	typed, err := term.ReadPassword(int(from.Fd()))
	fmt.Fprintln(to)
	if err != nil {
		return "", fmt.Errorf("reading the PIN: %w", err)
	}
	return strings.TrimSpace(string(typed)), nil
}

// New asks for a new PIN at the terminal, twice, and sets it; an empty one means none. The caller
// must find out that it is the user's terminal.
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
