package main

import (
	"os"
	"time"

	"beckon/state/store"

	"github.com/rs/zerolog"
)

// note writes what a reader could not read to the log that hooks write to, in
// the same form. Nothing is opened when there is nothing to say, and a log that
// cannot be written is not an error of the command.
func (a *app) note(problems []store.Problem) {
	if len(problems) == 0 {
		return
	}
	f, err := a.st.OpenLog()
	if err != nil {
		return
	}
	defer f.Close()
	log := zerolog.New(f).With().Int("pid", os.Getpid()).Time("time", time.Now().UTC()).Logger()
	for _, p := range problems {
		log.Error().Err(p.Err).Str("session", string(p.Key)).Msg("reading session")
	}
}
