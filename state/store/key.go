package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"beckon/state"
)

// Key is the name of a session's files.
type Key string

// KeyOf returns the key of a record (state.Session.Record). A session id that is a plain name
// of at most 128 characters is its own key. Any other is replaced by the hex of its SHA-256,
// so that no id leads out of the directory. A part is appended.
func KeyOf(record string) Key {
	if plain(record) && !device(record) { // nearly always
		return Key(record)
	}
	if id, part, ok := cutPart(record); ok {
		return KeyOf(id).part(part)
	}
	sum := sha256.Sum256([]byte(record))
	return Key(hex.EncodeToString(sum[:]))
}

// partLen is the length of a part's name, in hex digits.
const partLen = 12

// part returns the key of a part of the session k.
func (k Key) part(part string) Key { return Key(state.Record(string(k), part)) }

// cutPart splits a record or key into id and part.
func cutPart(record string) (id, part string, ok bool) {
	i := len(record) - partLen - 1
	if i < 1 || record[i] != '~' || !plain(record[i+1:]) {
		return record, "", false
	}
	return record[:i], record[i+1:], true
}

// isKey reports whether name may be a key.
func isKey(name string) bool {
	id, _, _ := cutPart(name)
	return plain(id)
}

func plain(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !ok {
			return false
		}
	}
	return true
}

// device reports whether id, with any extension, is a device on Windows. The answer does not
// depend on the system, since a directory may be shared.
func device(id string) bool {
	if len(id) != 3 && len(id) != 4 {
		return false
	}
	switch name := strings.ToLower(id); name[:3] {
	case "con", "prn", "aux", "nul":
		return len(name) == 3
	case "com", "lpt":
		return len(name) == 4 && '0' <= name[3] && name[3] <= '9'
	}
	return false
}
