package web

import "net"

// listenPrivate makes a socket. Who may connect is what its directory allows.
func listenPrivate(path string) (net.Listener, error) { return net.Listen("unix", path) }
