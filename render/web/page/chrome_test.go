package page

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/testdata/need"
)

// chrome is a headless Chromium, driven through the pipe of its DevTools protocol: JSON
// messages, each ended by a zero byte.
type chrome struct {
	cmd  *exec.Cmd
	to   io.Writer
	gone chan struct{} // closed when it says no more

	profile string // directory of what it keeps

	mu      sync.Mutex
	n       int
	answers map[int]chan reply
	events  map[string]func(session string, params json.RawMessage)
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// browsers lists suitable programs, the smallest first.
var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}

func findBrowser(t testing.TB, browsers []string) string {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	need.Missing(t, "the page's tests need one of %s", strings.Join(browsers, ", "))
	return ""
}

// startChrome starts a browser that ends with the test.
func startChrome(t *testing.T) *chrome {
	t.Helper()
	return startOneOf(t, browsers)
}

// startOneOf is startChrome with the first of those programs.
func startOneOf(t *testing.T, browsers []string) *chrome {
	t.Helper()
	path := findBrowser(t, browsers)
	if testing.Short() {
		t.Skip("a browser is slow")
	}
	in, to := pipe(t)
	from, out := pipe(t)
	c := &chrome{to: to, gone: make(chan struct{}), answers: map[int]chan reply{}, events: map[string]func(string, json.RawMessage){}}
	profile := t.TempDir()
	c.profile = profile
	c.cmd = exec.Command(path, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-extensions", "--disable-breakpad", "--disable-crash-reporter", "--disable-background-networking", "--disable-component-update",
		"--hide-scrollbars", "--force-color-profile=srgb", "--user-data-dir="+profile, "about:blank")
	c.cmd.Env = append(os.Environ(), "HOME="+profile, "TZ=UTC", "LANG=en_US.UTF-8")
	c.cmd.ExtraFiles = []*os.File{in, out}
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	_, _ = in.Close(), out.Close()
	go func() { defer close(c.gone); c.read(from) }()
	t.Cleanup(func() {
		c.quit()
		_, _ = to.Close(), from.Close() // a child of the browser may have the other ends
		<-c.gone
	})
	return c
}

// quit asks the browser to exit, so that its children exit, too, and kills it if it does not.
func (c *chrome) quit() {
	timer := time.AfterFunc(10*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_ = c.call("", "Browser.close", map[string]any{}, nil)
	_ = c.cmd.Wait()
}

func pipe(t *testing.T) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// read passes on the browser's messages until it is gone.
func (c *chrome) read(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		b, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID        int
			Method    string
			SessionID string `json:"sessionId"`
			Params    json.RawMessage
			reply
		}
		if json.Unmarshal(b[:len(b)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		answer, heard := c.answers[m.ID], c.events[m.Method]
		delete(c.answers, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m.reply
		}
		if heard != nil {
			heard(m.SessionID, m.Params)
		}
	}
}

// call sends a command and decodes its result into out.
func (c *chrome) call(session, method string, params, out any) error {
	c.mu.Lock()
	c.n++
	answer := make(chan reply, 1)
	c.answers[c.n] = answer
	b, err := json.Marshal(map[string]any{"id": c.n, "sessionId": session, "method": method, "params": params})
	if session == "" {
		b, err = json.Marshal(map[string]any{"id": c.n, "method": method, "params": params})
	}
	if err == nil {
		_, err = c.to.Write(append(b, 0))
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return errors.New(r.Error.Message)
		}
		if out != nil {
			return json.Unmarshal(r.Result, out)
		}
		return nil
	case <-c.gone:
		return fmt.Errorf("%s: the browser is gone", method)
	case <-time.After(60 * time.Second):
		return fmt.Errorf("%s: no answer from the browser", method)
	}
}

// tab is a page of the browser. Errors on its console fail the test.
type tab struct {
	t       *testing.T
	c       *chrome
	session string

	mu     sync.Mutex
	faults []string
	quiet  bool // network errors are expected, since the server is down
	mute   bool // all are expected: the page tries what it must not do
}

func (c *chrome) open(t *testing.T, url string) *tab {
	t.Helper()
	p := &tab{t: t, c: c}
	var target struct{ TargetID string }
	p.must(c.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target))
	var attached struct{ SessionID string }
	p.must(c.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached))
	p.session = attached.SessionID
	c.mu.Lock()
	c.events["Runtime.exceptionThrown"] = p.fault
	c.events["Log.entryAdded"] = p.fault
	c.mu.Unlock()
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable"} {
		p.do(domain, map[string]any{})
	}
	p.do("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true})
	p.size(1280, 900, false)
	p.do("Page.navigate", map[string]any{"url": url})
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, f := range p.faults {
			t.Errorf("the page's console: %s", f)
		}
	})
	return p
}

// fault records an exception, a violation of the security policy, or a missing file.
func (p *tab) fault(session string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := string(params)
	if session != p.session || p.mute || strings.Contains(s, `"level":"info"`) || strings.Contains(s, `"level":"verbose"`) {
		return
	}
	if p.quiet && strings.Contains(s, `"source":"network"`) {
		return
	}
	p.faults = append(p.faults, s)
}

func (p *tab) expectOutage() { p.mu.Lock(); p.quiet = true; p.mu.Unlock() }

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("driving the browser: %v", err)
	}
}

func (p *tab) do(method string, params any) {
	p.t.Helper()
	p.must(p.c.call(p.session, method, params, nil))
}

// size sets the window, in CSS pixels.
func (p *tab) size(width, height int, phone bool) {
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})
}

// scheme sets the system to light or dark.
func (p *tab) scheme(name string) {
	p.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{
		map[string]string{"name": "prefers-color-scheme", "value": name},
		map[string]string{"name": "prefers-reduced-motion", "value": "reduce"}}})
}

// eval runs an expression in the page, awaits it, and decodes its value.
func (p *tab) eval(expr string, out any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := p.c.call(p.session, "Runtime.evaluate", map[string]any{"expression": expr, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &r)
	switch {
	case err != nil:
		return err
	case r.ExceptionDetails != nil:
		return fmt.Errorf("%s: %s %s", expr, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	case out == nil || r.Result.Value == nil:
		return nil
	}
	return json.Unmarshal(r.Result.Value, out)
}

// get is eval for one value.
func get[T any](p *tab, expr string) (v T) {
	p.t.Helper()
	p.must(p.eval(expr, &v))
	return v
}

func (p *tab) await(what, expr string) {
	p.t.Helper()
	awaitIn(p.t, p, what, expr)
}

func (p *tab) goTo(url string) {
	p.t.Helper()
	p.do("Page.navigate", map[string]any{"url": "about:blank"}) // an address that differs only in its # is the same page
	p.do("Page.navigate", map[string]any{"url": url})
}

func (p *tab) load(script string) {
	p.t.Helper()
	p.must(p.eval(script+"; 0", nil))
}

// named are the keys without text.
var named = map[string]int{"Enter": 13, "Escape": 27, "Tab": 9}

// press presses a key as a keyboard would.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		down := map[string]any{"type": "keyDown", "key": k, "text": k}
		if code, ok := named[k]; ok {
			down = map[string]any{"type": "keyDown", "key": k, "code": k, "windowsVirtualKeyCode": code}
			if k == "Enter" {
				down["text"] = "\r"
			}
		}
		p.do("Input.dispatchKeyEvent", down)
		up := map[string]any{"type": "keyUp", "key": k}
		p.do("Input.dispatchKeyEvent", up)
	}
}

// shot writes a picture of the window.
func (p *tab) shot(path string) {
	p.t.Helper()
	var r struct{ Data string }
	p.must(p.c.call(p.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &r))
	b, err := base64.StdEncoding.DecodeString(r.Data)
	p.must(err)
	p.must(os.WriteFile(path, b, 0o644))
}
