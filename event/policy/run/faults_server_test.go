//go:build linux

package run

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

func fastServer(t *testing.T, url string) handler {
	t.Helper()
	h := newServer(config.Spec{URL: url, Retries: 1, RetryDelay: 10 * time.Millisecond}, 200*time.Millisecond, "")
	return h
}

// served starts a server that is closed, with all its connections, before leftovers are
// counted.
func served(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func TestFaultServerHangs(t *testing.T) {
	url := served(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	o := fault(t, fastServer(t, url), bashCall("ls"))
	timedOut(t, o)
	if o.Attempts != 2 {
		t.Errorf("%d tries", o.Attempts)
	}
}

func TestFaultServerDrips(t *testing.T) {
	url := served(t, func(w http.ResponseWriter, r *http.Request) {
		for _, b := range []byte(strings.Repeat(" ", 600) + `{"version":"1.0","decision":"allow"}`) {
			if _, err := w.Write([]byte{b}); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	timedOut(t, fault(t, fastServer(t, url), bashCall("ls")))
}

func TestFaultServer500(t *testing.T) {
	url := served(t, always500)
	o := fault(t, fastServer(t, url), bashCall("ls"))
	if o.Err == nil || o.TimedOut || o.Attempts != 2 || !strings.Contains(o.Err.Error(), "answered 500") {
		t.Errorf("got %+v", o)
	}
}

func always500(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }

func TestFaultServer503Then200(t *testing.T) {
	first := true
	url := served(t, func(w http.ResponseWriter, _ *http.Request) {
		if first {
			first = false
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"version":"1.0","decision":"block","reason":"no"}`)
	})
	o := fault(t, fastServer(t, url), bashCall("ls"))
	if o.Err != nil || o.Decision != wire.Deny || o.Reason != "no" || o.Attempts != 2 {
		t.Errorf("got %+v", o)
	}
}

func TestFaultServerClosesEarly(t *testing.T) {
	for name, promise := range map[string]string{
		"before the header": "", "in the header": "HTTP/1.1 200 OK\r\nContent-Le",
		"in the body": "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"version\":\"1.0\",\"decision\":\"allow\"}",
	} {
		t.Run(name, func(t *testing.T) {
			o := fault(t, fastServer(t, "http://"+raw200(t, promise)), bashCall("ls"))
			if o.Err == nil || o.Decision != wire.Silence || o.Attempts != 2 {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// raw200 starts a server that sends a text to every caller and closes the connection.
func raw200(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1<<16))
			_, _ = io.WriteString(c, text)
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestFaultServerRedirects(t *testing.T) {
	reached := false
	other := served(t, func(w http.ResponseWriter, _ *http.Request) {
		reached = true
		_, _ = io.WriteString(w, `{"version":"1.0","decision":"allow"}`)
	})
	url := served(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other, http.StatusTemporaryRedirect)
	})
	o := fault(t, fastServer(t, url), bashCall("ls"))
	if o.Err == nil || reached || o.Attempts != 1 || o.Decision != wire.Silence {
		t.Errorf("reached %t, got %+v", reached, o)
	}
}

func TestFaultServerAnswersAGigabyte(t *testing.T) {
	url := served(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 1 << 14 {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	o := fault(t, fastServer(t, url), bashCall("ls"))
	if o.Err == nil || !strings.Contains(o.Err.Error(), "larger than") || o.Attempts != 1 {
		t.Errorf("got %+v", o)
	}
}

func TestFaultServerIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	o := fault(t, fastServer(t, "http://"+address), bashCall("ls"))
	if o.Err == nil || o.Attempts != 2 || !strings.Contains(o.Err.Error(), "refused") {
		t.Errorf("got %+v", o)
	}
}

// If the context leaves no time for the delay, there is no second try and no useless wait.
func TestFaultServerNoTimeForAnotherTry(t *testing.T) {
	h := newServer(patient(served(t, always500)), 5*time.Second, "")
	o := fault(t, h, bashCall("ls"))
	if o.Err == nil || o.Attempts != 1 || o.Took >= deadline {
		t.Errorf("got %+v", o)
	}
}
