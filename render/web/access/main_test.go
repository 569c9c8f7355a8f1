package access

import (
	"net"
	"net/http"
	"testing"

	"beckon/render/web/address"
	"beckon/render/web/respond"
	"beckon/render/web/webtest"
)

// site is a server under test that does what it is asked by whoever may use it.
type site struct {
	webtest.Site
	d *Door
	h http.Handler
}

func serve(t *testing.T, o Options) *site {
	t.Helper()
	l, err := address.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, o)
}

func serveOn(t *testing.T, l net.Listener, o Options) *site {
	o.Refused = func(string) {}
	d := New(o)
	d.Opens(l)
	mux := http.NewServeMux()
	d.Routes(mux)
	mux.HandleFunc("/{$}", http.NotFound) // it has no page
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _ = respond.Done(w) })
	x := &site{webtest.Site{T: t, URL: "http://" + l.Addr().String()}, d, d.Guard(mux)}
	s := &http.Server{Handler: x.h, ConnContext: Connect}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return x
}
