package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// hostsDir keeps the last good answer of every other host, one file each.
const hostsDir = "hosts"

// KeepHost stores a host's answer and replaces the previous one. Any name is allowed.
func (st *Store) KeepHost(name string, answer []byte) error {
	id := hostID(name)
	return st.write(id+"."+unique(), hostsDir, id+".json", answer)
}

// Host returns the stored answer of a host, which may have at most limit bytes.
func (st *Store) Host(name string, limit int) ([]byte, error) {
	return readFile(st.path(hostsDir, hostID(name)+".json"), limit)
}

func hostID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
