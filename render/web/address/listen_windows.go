package address

import "net"

// listenPrivate creates a socket. Its directory decides who may connect.
func listenPrivate(path string) (net.Listener, error) { return net.Listen("unix", path) }
