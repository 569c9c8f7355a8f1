package page

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/testdata/need"
)

// firefox is a headless Firefox with one tab, driven by its own protocol: JSON messages, each
// preceded by its length.
type firefox struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	n    int
}

// startFirefox starts a browser that ends with the test.
func startFirefox(t *testing.T) *firefox {
	t.Helper()
	path := need.Program(t, "firefox-esr", "firefox")
	if testing.Short() {
		t.Skip("a browser is slow")
	}
	profile := t.TempDir()
	prefs := `user_pref("marionette.port", 0);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("ui.prefersReducedMotion", 1);
`
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile, "TZ=UTC", "LANG=en_US.UTF-8", "MOZ_CRASHREPORTER_DISABLE=1")
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	f := &firefox{t: t}
	t.Cleanup(func() {
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		if f.conn != nil {
			_ = f.call("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}}, nil)
			_ = f.conn.Close()
		} else {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
	})
	for end := time.Now().Add(90 * time.Second); f.conn == nil; time.Sleep(50 * time.Millisecond) {
		if port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort")); err == nil {
			f.conn, _ = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		}
		if f.conn == nil && time.Now().After(end) {
			t.Fatal("Firefox does not listen")
		}
	}
	f.in = bufio.NewReader(f.conn)
	if _, err := f.message(); err != nil { // it says who it is
		t.Fatal(err)
	}
	f.must(f.call("WebDriver:NewSession", map[string]any{"pageLoadStrategy": "none"}, nil))
	f.must(f.call("WebDriver:SetTimeouts", map[string]any{"script": 60_000}, nil))
	t.Cleanup(f.faults)
	return f
}

func (f *firefox) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("driving Firefox: %v", err)
	}
}

// message reads one message.
func (f *firefox) message() ([]byte, error) {
	if err := f.conn.SetReadDeadline(time.Now().Add(90 * time.Second)); err != nil {
		return nil, err
	}
	length, err := f.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(f.in, b)
	return b, err
}

// call sends a command and decodes its result into out.
func (f *firefox) call(command string, params map[string]any, out any) error {
	f.n++
	b, err := json.Marshal([]any{0, f.n, command, params})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(b), b); err != nil {
		return err
	}
	answer, err := f.message()
	if err != nil {
		return err
	}
	var m [4]json.RawMessage // its kind, the number, an error, the result
	if err := json.Unmarshal(answer, &m); err != nil {
		return err
	}
	if fault := string(m[2]); fault != "null" {
		return fmt.Errorf("%s: %.300s", command, fault)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(m[3], out)
}

// run runs a script in the page, or in the browser itself.
func (f *firefox) run(script string, out any) error {
	var r struct{ Value json.RawMessage }
	err := f.call("WebDriver:ExecuteAsyncScript", map[string]any{"script": script, "args": []any{}, "newSandbox": false}, &r)
	if err != nil || out == nil || string(r.Value) == "null" {
		return err
	}
	return json.Unmarshal(r.Value, out)
}

func (f *firefox) eval(expr string, out any) error {
	return f.run(`const done = arguments[arguments.length - 1]; (async () => (`+expr+`))().then((v) => done(v ?? null), (e) => done({ fault: String(e) }))`, out)
}

// load runs a script without a result.
func (f *firefox) load(script string) {
	f.t.Helper()
	f.must(f.call("WebDriver:ExecuteScript", map[string]any{"script": script, "args": []any{}, "newSandbox": false}, nil))
}

// inBrowser runs a script with the browser's own rights.
func (f *firefox) inBrowser(expr string, out any) {
	f.t.Helper()
	f.must(f.call("Marionette:SetContext", map[string]any{"value": "chrome"}, nil))
	err := f.eval(expr, out)
	f.must(f.call("Marionette:SetContext", map[string]any{"value": "content"}, nil))
	f.must(err)
}

func (f *firefox) goTo(url string) {
	f.t.Helper()
	f.must(f.call("WebDriver:Navigate", map[string]any{"url": "about:blank"}, nil)) // an address that differs only in its # is the same page
	f.await("the page before is gone", `location.href === "about:blank"`)
	f.must(f.call("WebDriver:Navigate", map[string]any{"url": url}, nil))
}

func (f *firefox) size(width, height int, _ bool) {
	f.t.Helper()
	f.must(f.call("WebDriver:SetWindowRect", map[string]any{"width": 1400, "height": 1200}, nil))
	f.inBrowser(fmt.Sprintf(`(() => { const s = gBrowser.selectedBrowser.style; s.minWidth = s.maxWidth = "%dpx"; s.minHeight = s.maxHeight = "%dpx"; })()`, width, height), nil)
	f.await("the window has its size", fmt.Sprintf(`innerWidth === %d && innerHeight === %d`, width, height))
}

func (f *firefox) scheme(name string) {
	f.t.Helper()
	f.inBrowser(fmt.Sprintf(`Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", %d)`, map[string]int{"dark": 0, "light": 1}[name]), nil)
}

func (f *firefox) press(keys ...string) {
	f.t.Helper()
	for _, k := range keys {
		value := map[string]string{"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}[k]
		if value == "" {
			value = k
		}
		key := func(kind string) map[string]string { return map[string]string{"type": kind, "value": value} }
		f.must(f.call("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": []any{key("keyDown"), key("keyUp")}}}}, nil))
	}
}

func (f *firefox) await(what, expr string) {
	f.t.Helper()
	awaitIn(f.t, f, what, expr)
}

func (f *firefox) shot(path string) {
	f.t.Helper()
	var r struct{ Value string }
	f.must(f.call("WebDriver:TakeScreenshot", map[string]any{"full": false}, &r))
	b, err := base64.StdEncoding.DecodeString(r.Value)
	f.must(err)
	f.must(os.WriteFile(path, b, 0o644))
}

// faults fails the test for each exception and each violation of the security policy on the
// page's console.
func (f *firefox) faults() {
	if f.t.Failed() {
		return
	}
	var found []string
	f.inBrowser(`Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError && !(m.flags & 1) && /^http:/.test(m.sourceName)).map((m) => m.sourceName + ":" + m.lineNumber + " " + m.errorMessage)`, &found)
	for _, m := range found {
		f.t.Errorf("the page's console: %s", m)
	}
}
