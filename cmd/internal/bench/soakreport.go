package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sample is the state of the server and the files at one moment.
type sample struct {
	rss, goroutines, threads, descriptors int64
	sessions, journals, rest              int64 // bytes in sessions/, in journal/, and elsewhere
	leftovers                             int64 // files in tmp/ and spool/
}

func (s *soak) sample() sample {
	pid := s.site.cmd.Process.Pid
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	out := sample{rss: status(pid, "VmRSS"), threads: status(pid, "Threads"), descriptors: int64(len(fds)), goroutines: s.metric("beckon_goroutines")}
	_ = filepath.WalkDir(s.site.st.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		switch dir := filepath.Base(filepath.Dir(path)); dir {
		case "sessions":
			out.sessions += info.Size()
		case "journal":
			out.journals += info.Size()
		case "tmp", "spool":
			out.leftovers++
		default:
			out.rest += info.Size()
		}
		return nil
	})
	return out
}

// metric returns one of the server's numbers.
func (s *soak) metric(name string) int64 {
	res, err := http.Get(s.site.url + "/metrics")
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

// summary describes the result; its error is what should not have happened.
func (s *soak) summary(samples []sample) (string, error) {
	lost, segments, err := s.check()
	var b strings.Builder
	fmt.Fprintf(&b, "# A soak\n\nWritten by `go run ./cmd/internal/bench -soak %v`: %d sessions, %d hooks a second wanted, `serve` with an event stream and a\nstalled one, and `list`, `watch --once` and `prompt` over and over.\n\n", s.span, s.sessions, s.rate)
	fmt.Fprintf(&b, "- %d hooks ran, %d readers, %d events came down the stream.\n", s.hooks.Load(), s.reads.Load(), s.heard.Load())
	sent := 0
	for _, t := range s.talks {
		sent += len(t.sent)
	}
	fmt.Fprintf(&b, "- Of %d events sent, those before it to fill %d journals included, %d are missing. Every session's file is the fold of what was\n  sent to it: %s.\n", sent, longSessions, lost, yes(err))
	fmt.Fprintf(&b, "- Journals rotated: %d. Sessions archived: %d of %d. Old archived sessions pruned: %d of %d.\n\n",
		segments, justOver-s.files("sessions/over-*.json"), justOver, oldArchived-s.files("archive/archive-*.json"), oldArchived)
	fmt.Fprintf(&b, "| | second quarter | last quarter | ratio |\n|---|---|---|---|\n")
	for _, q := range []struct {
		name string
		of   func(sample) int64
	}{
		{"`serve`: memory, KiB", func(x sample) int64 { return x.rss }},
		{"`serve`: goroutines", func(x sample) int64 { return x.goroutines }},
		{"`serve`: threads", func(x sample) int64 { return x.threads }},
		{"`serve`: descriptors", func(x sample) int64 { return x.descriptors }},
		{"bytes in sessions/", func(x sample) int64 { return x.sessions }},
		{"bytes in journal/, which grow with every event", func(x sample) int64 { return x.journals }},
		{"bytes elsewhere", func(x sample) int64 { return x.rest }},
		{"files in tmp/ and spool/", func(x sample) int64 { return x.leftovers }},
	} {
		early, late := quarter(samples, 1, q.of), quarter(samples, 3, q.of)
		fmt.Fprintf(&b, "| %s | %d | %d | %.2f |\n", q.name, early, late, float64(late)/float64(max(early, 1)))
	}
	if segments < longSessions || s.files("archive/archive-*.json") > 0 || s.files("sessions/over-*.json") > 0 {
		err = errors.Join(err, errors.New("housekeeping was not done"))
	}
	return b.String(), err
}

// quarter returns the median of a quarter of the samples.
func quarter(samples []sample, which int, of func(sample) int64) int64 {
	n := len(samples)
	var values []int64
	for _, x := range samples[n*which/4 : n*(which+1)/4] {
		values = append(values, of(x))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func yes(err error) string {
	if err != nil {
		return "no"
	}
	return "yes"
}
