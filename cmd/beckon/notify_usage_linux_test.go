package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event/recording"

	"github.com/tidwall/gjson"
)

// limitReports returns a recording's inputs of the status line that have usage limits, as if
// they were recorded now.
func limitReports(t *testing.T) (reports [][]byte) {
	t.Helper()
	f, err := os.Open("../../testdata/recordings/2.1.329/limits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	steps, err := recording.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var late int64 // the first of them was recorded three hours before the end of the short window
	for _, s := range steps {
		payload := s.Payload
		for _, of := range []string{"five_hour", "seven_day"} {
			at := gjson.GetBytes(payload, "rate_limits."+of+".resets_at")
			if !at.Exists() {
				continue
			}
			if late == 0 {
				late = time.Now().Add(3*time.Hour).Unix() - at.Int()
			}
			payload = bytes.Replace(payload, []byte(at.Raw), []byte(strconv.FormatInt(at.Int()+late, 10)), 1)
		}
		if gjson.GetBytes(payload, "rate_limits").Exists() {
			reports = append(reports, payload)
		}
	}
	if len(reports) < 2 {
		t.Fatalf("%d reports", len(reports))
	}
	return reports
}

// The limits that a real client reported are shown, and the user is notified of each once,
// however many sessions report it at the same moment, and only if they asked for that.
func TestUsageNotifies(t *testing.T) {
	t.Parallel()
	for setting, asked := range map[string]bool{
		`"notify_on": ["done"]`:          false,
		`"notify_on": ["done", "limit"]`: true,
	} {
		t.Run(setting, func(t *testing.T) {
			heard := filepath.Join(t.TempDir(), "heard")
			p := newOffice(t, fmt.Sprintf(`{"notify": ["command", "terminal"], %s, "notify_command": ["/bin/sh", "-c", "cat >>%s"]}`, setting, heard))
			reports := limitReports(t)
			var wait sync.WaitGroup
			for i, payload := range append(reports, reports...) {
				wait.Go(func() {
					cmd := p.command("beckon", "statusline")
					cmd.Stdin = bytes.NewReader(bytes.ReplaceAll(payload, []byte(sessionID(payload)), []byte("s"+strconv.Itoa(i))))
					out, err := cmd.CombinedOutput()
					if err != nil || !strings.Contains(string(out), "% (resets ") {
						t.Errorf("the status line says %q, %v", out, err)
					}
				})
			}
			wait.Wait()
			cmd := p.command("beckon", "statusline") // of simultaneous reports one may be lost until its session reports again
			cmd.Stdin = bytes.NewReader(reports[len(reports)-1])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			for end := time.Now().Add(10 * time.Second); asked && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if b, _ := os.ReadFile(heard); len(b) > 0 {
					break
				}
			}
			time.Sleep(time.Second) // for one too many
			b, _ := os.ReadFile(heard)
			if got := bytes.Count(b, []byte(`"title":"usage limit 7d: 80 % used"`)); got != map[bool]int{true: 1}[asked] {
				t.Errorf("notified %d times: %s", got, b)
			}
			if asked && !strings.HasPrefix(gjson.GetBytes(b, "body").Str, "resets ") {
				t.Errorf("it says %s", b)
			}
			out, err := p.command("beckon", "stats", "--json").Output()
			if err != nil || gjson.GetBytes(out, `limits.#(name=="five_hour").used_percentage`).Num != 44 {
				t.Errorf("stats: %s, %v", out, err)
			}
			if out, _ := p.command("beckon", "notify", "log").Output(); asked != strings.Contains(string(out), "limit ") {
				t.Errorf("explain: %s", out)
			}
		})
	}
}
