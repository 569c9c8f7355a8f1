package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// hostsDir keeps the last good answer of every other host that was asked for
// its sessions, one file each.
const hostsDir = "hosts"

// KeepHost keeps what a host answered, in the place of what it answered
// before. The name may be anything.
func (st *Store) KeepHost(name string, answer []byte) error {
	id := hostID(name)
	return st.write(id+"."+unique(), hostsDir, id+".json", answer)
}

// Host returns the last answer of a host that was kept, of at most limit
// bytes.
func (st *Store) Host(name string, limit int) ([]byte, error) {
	return readFile(st.path(hostsDir, hostID(name)+".json"), limit)
}

func hostID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
