package state

import (
	"errors"

	"beckon/event/jsonenc"
)

// ErrNotSession is returned for data that is not a session file.
var ErrNotSession = errors.New("not a session file")

// ErrNewerSchema is returned for a session file that a newer version wrote. Such a file is
// left untouched.
var ErrNewerSchema = errors.New("session file of a newer version")

// AppendJSON appends s as one line of JSON, without a newline, of less than 64 KiB.
func AppendJSON(dst []byte, s *Session) []byte {
	b := jsonenc.Append(dst, s)
	for most := 256; len(b)-len(dst) > maxSize && most > 8; most /= 4 {
		b = jsonenc.Append(dst, s.shortened(most))
	}
	return b
}

// DecodeJSON decodes into s what AppendJSON or encoding/json wrote. It ignores unknown fields and
// returns ErrNewerSchema for a newer schema. On an error s is zero.
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

// Check returns ErrNewerSchema for a session that a newer version wrote, and ErrNotSession for
// one without a version.
func (s *Session) Check() error {
	switch {
	case s.Schema > Schema:
		return ErrNewerSchema
	case s.Schema <= 0:
		return ErrNotSession
	}
	return nil
}
