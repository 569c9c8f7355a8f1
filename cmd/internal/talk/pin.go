package talk

import (
	"fmt"

	"beckon/cmd/internal/cli"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// signer returns the key that signs an answer; it is called only if the user has a PIN.
type signer func() (*pin.Key, error)

// noPIN is the signer of a program that cannot ask for the PIN.
func noPIN() (*pin.Key, error) { return nil, request.ErrPIN }

// askPIN returns a signer that asks for the PIN at the terminal.
func askPIN(a *cli.App) signer {
	return func() (*pin.Key, error) {
		typed, err := pin.Type("PIN: ")
		if err != nil {
			return nil, err
		}
		return pin.Unlock(request.In(a.Store.Dir), typed)
	}
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
	set, err := pin.New(d)
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
