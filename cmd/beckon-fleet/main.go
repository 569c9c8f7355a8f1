// Command beckon-fleet is the hub of a fleet for users who run no NATS server: it contains
// one. `beckon-fleet serve` creates a hub if there is none, with TLS, and serves it; `beckon
// fleet invite` lets hosts in.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"beckon/cmd/internal/hub"
	"beckon/event/home"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "beckon-fleet:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// errUsage marks errors of the command line.
var errUsage = errors.New("beckon-fleet --help shows more")

const usage = `usage: beckon-fleet serve [--dir DIR] [--listen ADDR:PORT] [--name NAME,..]

Serves a fleet's hub. The first time it makes one: with --name, the names that
hosts reach it by, for all machines and with TLS; without, for this one alone.
`

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] != "serve" {
		fmt.Fprint(out, usage)
		if len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
			return nil
		}
		return fmt.Errorf("the one command is serve: %w", errUsage)
	}
	flags := flag.NewFlagSet("beckon-fleet serve", flag.ContinueOnError)
	flags.SetOutput(out)
	dir := flags.String("dir", home.Config(os.Getenv, "hub"), "where the hub's keys and data are")
	listen := flags.String("listen", "", "the address of a new hub (default: 0.0.0.0:4222 with --name, else 127.0.0.1:4222)")
	names := flags.String("name", "", "the names or addresses by which hosts reach a new hub, separated by commas")
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", err, errUsage)
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %s: %w", flags.Arg(0), errUsage)
	}
	h, err := hub.Open(*dir)
	if err != nil {
		at := cmp.Or(*listen, map[bool]string{true: "0.0.0.0:4222", false: "127.0.0.1:4222"}[*names != ""])
		list := strings.FieldsFunc(*names, func(r rune) bool { return r == ',' || r == ' ' })
		if h, err = hub.Init(*dir, at, list); err != nil {
			return err
		}
	}
	return serve(ctx, h, out)
}

// serve serves a hub until ctx ends.
func serve(ctx context.Context, h *hub.Hub, out io.Writer) error {
	opts, err := server.ProcessConfigFile(h.Config())
	if err != nil {
		return err
	}
	opts.NoSigs = true
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.SetLoggerV2(logger{out}, false, false, false)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(30 * time.Second) {
		return fmt.Errorf("the server does not listen at %s; is the port taken?", h.Listen)
	}
	making, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := h.Prepare(making, 1, nats.InProcessServer(s)); err != nil {
		return err
	}
	fmt.Fprintf(out, "the hub listens at %s; its keys are in %s\n", h.Listen, h.Dir)
	if len(h.Names()) == 0 {
		fmt.Fprintf(out, "let a host in with: beckon fleet invite --host NAME%s\n", elsewhere(h.Dir))
	}
	<-ctx.Done()
	return nil
}

// elsewhere is the flag that names a directory that is not the usual one.
func elsewhere(dir string) string {
	if filepath.Clean(dir) == home.Config(os.Getenv, "hub") {
		return ""
	}
	return " --dir " + dir
}

// logger writes the server's warnings and errors.
type logger struct{ out io.Writer }

func (l logger) Noticef(string, ...any)         {}
func (l logger) Debugf(string, ...any)          {}
func (l logger) Tracef(string, ...any)          {}
func (l logger) Warnf(format string, v ...any)  { l.line(format, v) }
func (l logger) Errorf(format string, v ...any) { l.line(format, v) }
func (l logger) Fatalf(format string, v ...any) { l.line(format, v) }
func (l logger) line(format string, v []any) {
	fmt.Fprintf(l.out, "%s %s\n", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, v...))
}
