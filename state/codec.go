package state

import (
	"errors"

	"beckon/event/jsonenc"
)

// ErrNotSession is returned for bytes that are no session file.
var ErrNotSession = errors.New("not a session file")

// ErrNewerSchema is returned for a session written by a newer version. Such a
// file is left untouched.
var ErrNewerSchema = errors.New("session file of a newer version")

// AppendJSON appends s as one line of JSON, without a newline.
func AppendJSON(dst []byte, s *Session) []byte { return jsonenc.Append(dst, s) }

// DecodeJSON reads what AppendJSON or encoding/json wrote. Unknown members
// are skipped; a newer schema is ErrNewerSchema.
func DecodeJSON(data []byte) (s Session, err error) {
	err = s.DecodeJSON(data)
	return s, err
}

// DecodeJSON is the function DecodeJSON, into s. With an error s is zero.
func (s *Session) DecodeJSON(data []byte) error {
	*s = Session{}
	err := ErrNotSession
	if jsonenc.Decode(string(data), s) {
		err = s.Check()
	}
	if err != nil {
		*s = Session{}
	}
	return err
}

// Check returns ErrNewerSchema for a session that a newer version wrote, and
// ErrNotSession for one of no version.
func (s *Session) Check() error {
	switch {
	case s.Schema > Schema:
		return ErrNewerSchema
	case s.Schema <= 0:
		return ErrNotSession
	}
	return nil
}
