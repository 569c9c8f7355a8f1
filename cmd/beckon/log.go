package main

import (
	"bytes"
	"io"
	"os"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/plainfile"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

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
