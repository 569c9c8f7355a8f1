package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/service"
	"beckon/event/plainfile"
	handlers "beckon/event/policy/run"
	"beckon/event/redact"
	"beckon/render"
	"beckon/render/web"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/alert"

	"github.com/rs/zerolog"
	"golang.org/x/term"
	"rsc.io/qr"
)

type serveCmd struct {
	What    string   `arg:"" name:"url|token" optional:"" enum:",url,token" default:"" help:"url: print a link that signs one browser in at the running server. token: print the token for programs."`
	Scope   string   `arg:"" optional:"" enum:",read,events,answer" default:"" help:"Print a token that opens only this: read, events or answer."`
	Addr    string   `default:"127.0.0.1:7483" placeholder:"HOST:PORT" help:"Address to listen on (default: ${default}); beyond loopback everybody needs the token."`
	Host    []string `name:"name" aliases:"host" placeholder:"NAME" help:"Answer requests for this host name, too."`
	QR      bool     `name:"qr" help:"Show a QR code that signs one phone in."`
	Notify  bool     `help:"Send notifications through the configured channels, even of what no hook reports."`
	Hooks   bool     `hidden:"" default:"true" negatable:"" help:"Take events that are posted to /hook (default: yes)."`
	Fleet   bool     `help:"Add the sessions of other machines: of the fleet that this one joined, and of the setting hosts."`
	Service bool     `help:"Write a unit for systemd, on macOS for launchd, that serves while you are logged in."`
}

// Validate implements kong's validation.
func (c *serveCmd) Validate() error {
	if c.Scope != "" && c.What != "token" {
		return errors.New("only a token has a scope")
	}
	_, port, err := net.SplitHostPort(c.Addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("--addr %q: want HOST:PORT, as %s", c.Addr, access.DefaultAddr)
	}
	return nil
}

func (c *serveCmd) Run(a *app) error {
	token, err := access.Token(a.Store.Dir)
	if err != nil {
		return err
	}
	switch {
	case c.What == "url":
		return c.visit(a, token)
	case c.What == "token":
		return c.printToken(a, token)
	case c.Service:
		return service.Unit{
			Name:  "serve",
			About: "beckon serve: the sessions of coding agents on a page",
			Args: slices.DeleteFunc(slices.Clone(os.Args[1:]), func(word string) bool {
				return strings.HasPrefix(word, "--service")
			}),
		}.Write(a.App)
	}
	logger := newLog(a.App, "serve")
	logError := func(err error) { logger.Error().Err(err).Send() }
	if c.QR { // before anything is started
		if _, err := access.Elsewhere(c.Addr, c.Host); err != nil {
			return err
		}
	}
	l, err := access.Listen(c.Addr)
	if err != nil {
		return err
	}
	others, err := (&fleets.Flags{Fleet: c.Fleet}).Others(a.App)
	if err != nil {
		logError(err)
	}
	s := web.New(web.Options{
		Store:    a.Store,
		Registry: filepath.Join(a.ClaudeDir(), "sessions"),
		Log:      logError,
		Queue:    a.Queue(""),
		Notifier: a.follower(c.Notify),
		Others:   others.Follow,
		Version:  cli.Version(),
		Token:    token,
		User:     a.User(),
		Hosts:    c.Host,
		Closed:   !c.Hooks,
		Policy:   &hook.Served{Store: a.Store, Starter: handlers.Starter{}, Getenv: a.Getenv},
		Stats:    func(days int) (any, error) { return a.statsOf(days) },
		Timeline: func(date string) (any, error) { return a.timeline(date) },
		Digest:   func() (any, error) { return a.digest(0) },
		Config:   a.redactedConfig,
		Act:      a.Act,
		Alerts:   func() alert.Settings { return a.Configured().Alert },
		Jump: func(ctx context.Context, v state.Seen) error {
			_, err := a.jumpTo(ctx, render.Rows([]state.Seen{v}, true)[0])
			return err
		},
	})
	debug.SetGCPercent(25)         // less memory for a thousand streams, for a little more work
	debug.SetMemoryLimit(64 << 20) // above it, garbage is collected at once
	c.Addr = l.Addr().String()     // with the port that the system chose
	link := func(url string) string { return access.Link(token, s.Name(), url) }
	c.say(a, link)
	logger.Info().Str("address", c.Addr).Str("version", cli.Version()).Msg("serving")
	defer func() { logger.Info().Msg("stopped") }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	return s.Serve(ctx, l)
}

// urls returns the addresses of the server: for this machine, and for others.
func (c *serveCmd) urls() []string {
	urls := []string{access.Local(c.Addr)}
	if url, err := access.Elsewhere(c.Addr, c.Host); err == nil && url != urls[0] {
		urls = append(urls, url)
	}
	return urls
}

// printToken prints the token for programs, or one of its scope.
func (c *serveCmd) printToken(a *app, token string) error {
	if c.Scope == "" || c.Scope == "answer" {
		if err := a.InAgent("serve token"); err != nil {
			return err
		}
	}
	if c.Scope != "" {
		token = access.ScopedToken(token, c.Scope)
	}
	return a.Printf("%s\n", token)
}

// say prints where the server is. What signs a browser in is shown only to the user who
// started it, never written to a log that others may read.
func (c *serveCmd) say(a *app, link func(string) string) {
	urls := c.urls()
	fmt.Fprintf(a.Stdout, "beckon serves on %s\n", urls[0])
	if confidential(a.Stdout) {
		for _, url := range urls {
			fmt.Fprintf(a.Stdout, "  open %s\n", link(url))
		}
		fmt.Fprintln(a.Stdout, "  each link signs one browser in, within ten minutes; beckon serve url prints new ones")
	} else {
		fmt.Fprintln(a.Stdout, "  beckon serve url prints the link that opens it in a browser")
	}
	if c.QR {
		if err := c.showCode(a, link); err != nil {
			fmt.Fprintf(a.Stderr, "beckon: %v\n", err)
		}
	}
	if host, _, err := net.SplitHostPort(c.Addr); err == nil && !access.Loopback(host) {
		fmt.Fprintln(a.Stdout, "  without TLS the network sees all that is sent: `tailscale serve` or `ssh -L` hides it")
	}
}

// confidential reports whether only the user who runs the program can read what is written to
// w: a terminal, a pipe, or a file that nobody else may read. The system's log, a socket, is
// not.
func confidential(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	switch {
	case err != nil || info.Mode().Type() == os.ModeSocket:
		return false
	case info.Mode().IsRegular():
		return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 == 0
	}
	return true
}

// showCode shows the QR code of a link that signs in one phone, once.
func (c *serveCmd) showCode(a *app, link func(string) string) error {
	if !confidential(a.Stdout) {
		return cli.Hint("run beckon serve url --qr in a terminal", "others may read what is printed here")
	}
	url, err := access.Elsewhere(c.Addr, c.Host)
	if err != nil {
		return err
	}
	url = link(url)
	code, err := drawQR(url, a.Color(""))
	if err != nil {
		return err
	}
	return a.Printf("%s  it signs one phone in, within ten minutes: %s\n", code, url)
}

// visit prints links or a code for the server that was started with the same --addr. Another
// user's server may have the port: a link to it would open nothing.
func (c *serveCmd) visit(a *app, token string) error {
	url := access.Local(c.Addr)
	health, whose, ok := access.Ask(url)
	link := func(url string) string { return access.Link(token, health.Name, url) }
	switch {
	case !ok:
		return cli.Hint("beckon serve starts one; give the --addr that it was started with", "no beckon serves on %s", c.Addr)
	case whose.IsAnother():
		return cli.Hint("give another port with --addr", "another user serves on %s", url)
	case !access.IsName(health.Name) || health.Token != access.Fingerprint(token):
		return cli.Hint("use its state directory (BECKON_STATE_DIR), or start it again",
			"the server on %s has another token", url)
	case c.QR:
		return c.showCode(a, link)
	default:
		for _, url := range c.urls() {
			fmt.Fprintln(a.Stdout, link(url))
		}
	}
	return nil
}

// redactedConfig returns the configuration without anything that looks like a secret.
func (a *app) redactedConfig() (any, error) {
	values, err := a.configValues()
	for name, v := range values {
		v.Value = redact.Text(v.Value)
		values[name] = v
	}
	return values, err
}

// maxLog is the size at which the log is renamed.
const maxLog = 1 << 20

// newLog returns the log of a program: lines of JSON in the state directory's
// log, and readable ones on a terminal. It must be given no text of a payload.
func newLog(a *cli.App, program string) zerolog.Logger {
	writers := []io.Writer{logFile(a.Store.LogFile())}
	if f, ok := a.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		writers = append(writers, zerolog.ConsoleWriter{Out: f, TimeFormat: time.TimeOnly, FieldsExclude: []string{"pid"}})
	}
	log := zerolog.New(zerolog.MultiLevelWriter(writers...)).With().Timestamp()
	return log.Str("program", program).Int("pid", os.Getpid()).Logger()
}

// logFile is the path of a log.
type logFile string

func (f logFile) Write(line []byte) (int, error) {
	return len(line), plainfile.AppendLine(string(f), bytes.TrimSuffix(line, []byte("\n")), maxLog)
}

// quiet is the margin around a QR code, in modules, as the standard requires.
const quiet = 4

// drawQR returns text as a QR code, two modules per character. It is dark on light whatever the
// terminal's colours are; without colour it assumes a dark terminal.
func drawQR(text string, color bool) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", err
	}
	begin, end := "", "\n"
	if color {
		begin, end = "\x1b[30;107m", "\x1b[0m\n"
	}
	ink := map[[2]bool]string{{false, false}: " ", {false, true}: "▄", {true, false}: "▀", {true, true}: "█"}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		b.WriteString(begin)
		for x := -quiet; x < code.Size+quiet; x++ { // what is outside is light
			b.WriteString(ink[[2]bool{code.Black(x, y) == color, code.Black(x, y+1) == color}])
		}
		b.WriteString(end)
	}
	return b.String(), nil
}
