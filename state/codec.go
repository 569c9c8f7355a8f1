package state

import (
	"errors"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
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
func DecodeJSON(data []byte) (Session, error) {
	text := string(data) // which the session shares from here on
	var s Session
	if !gjson.Valid(text) || !jsonenc.Decode(gjson.Parse(text), &s) {
		return Session{}, ErrNotSession
	}
	switch {
	case s.Schema > Schema:
		return Session{}, ErrNewerSchema
	case s.Schema <= 0:
		return Session{}, ErrNotSession
	}
	return s, nil
}
