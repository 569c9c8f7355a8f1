package access

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// site is a server under test that does what it is asked by whoever may use it.
type site struct {
	client
	d *Guard
	h http.Handler
}

func serve(t *testing.T, o Options) *site {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, o)
}

func serveOn(t *testing.T, l net.Listener, o Options) *site {
	o.Refused, o.Log = func(string) {}, func(error) {}
	d := New(o)
	mux := http.NewServeMux()
	needs := func(r *http.Request) Scope {
		switch r.URL.Path {
		case "/healthz", "/api/login", "/api/proof":
			return Open
		case "/hook":
			return Events
		case "/api/jump":
			return Act
		case "/api/answer":
			return Answer
		}
		return Read
	}
	handle := func(pattern string, h func(http.ResponseWriter, *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if v, err := h(w, r); err != nil {
				Error(w, err.(*Fault))
			} else if v != nil {
				JSON(w, http.StatusOK, v)
			}
		})
	}
	handle("POST /api/login", d.Login)
	handle("POST /api/logout", d.Logout)
	handle("GET /api/proof", d.Prove)
	handle("/", func(http.ResponseWriter, *http.Request) (any, error) { return Done, nil })
	x := &site{client{T: t, URL: "http://" + l.Addr().String()}, d, d.Protect(needs, mux)}
	s := &http.Server{Handler: x.h, ConnContext: Connect}
	listener := d.Listen(l)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(func() { _ = s.Close() })
	return x
}

// code returns a code for a browser of this machine.
func (x *site) code() string { return Code(x.d.o.Token, x.d.name, true, time.Now()) }

// from returns a request as it comes from somebody.
func from(by Peer, r *http.Request) *http.Request {
	return r.WithContext(Connect(r.Context(), &conn{peer: by}))
}
