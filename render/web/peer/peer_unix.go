//go:build linux || darwin

package peer

import (
	"net/netip"
	"os"
	"strconv"
)

// holder returns the user of the socket from there to here.
func holder(there, here netip.AddrPort) Peer {
	s, err := ask(there, here)
	if err != nil {
		return Peer{}
	}
	who := Another
	switch int(s.uid) {
	case os.Geteuid():
		who = Owner
	case 0:
		who = Unknown
	}
	return Peer{who, strconv.FormatUint(uint64(s.uid), 10)}
}
