package event_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/recording"
)

// TestParseStatusOfRecordings reads every status-line payload that was recorded.
func TestParseStatusOfRecordings(t *testing.T) {
	files, err := filepath.Glob("../testdata/recordings/*/*.jsonl")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	lines, full, spent := 0, 0, 0
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := recording.Read(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		version := filepath.Base(filepath.Dir(path))
		for _, s := range steps {
			if s.Kind != "statusline" {
				continue
			}
			lines++
			got, ok := event.ParseStatus(s.Payload)
			if !ok || got.SessionID == "" || got.Cwd == "" || got.Project == "" || !strings.HasPrefix(got.Model, "Opus") ||
				!strings.HasPrefix(got.Meter.Model, "claude-") || got.Meter.Version != version {
				t.Errorf("%s at %d: %v %+v", path, s.T, ok, got)
			}
			if got.Meter.HasContext {
				full++
			}
			if got.Meter.Cost > 0 {
				spent++
			}
		}
	}
	if lines < 100 || full == 0 || full == lines || spent == 0 {
		t.Errorf("%d status lines, %d with context, %d with cost", lines, full, spent)
	}
}

func TestParseStatusOfAnything(t *testing.T) {
	for _, c := range []struct {
		payload string
		want    event.Status
		ok      bool
	}{
		{"", event.Status{}, false},
		{"[]", event.Status{}, false},
		{`{"session_id":"x"`, event.Status{}, false},
		{`{}`, event.Status{}, true},
		{`{"session_id":1,"cwd":"/a","model":"x","cost":null,"context_window":[]}`, event.Status{Cwd: "/a"}, true},
		{`{"cost":{"total_cost_usd":-1,"total_lines_added":1e300}}`, event.Status{}, true},
		{`{"cost":{"total_cost_usd":0.028999999999999998},"context_window":{"used_percentage":12.345}}`,
			event.Status{Meter: event.Meter{Cost: 29000, Context: 1235, HasContext: true}}, true},
		{`{"rate_limits":{"seven_day":{"used_percentage":81,"resets_at":1795600000},"five_hour":{"used_percentage":41.555,"resets_at":1795200000},"other":{"used_percentage":1,"resets_at":1}}}`,
			event.Status{Limits: []event.Limit{{"five_hour", 4156, 1795200000_000}, {"seven_day", 8100, 1795600000_000}}}, true},
		{`{"rate_limits":{"seven_day":{"used_percentage":81},"five_hour":{"used_percentage":"x","resets_at":1795200000},"spend_limit":3}}`, event.Status{}, true},
		{`{"context_window":{"used_percentage":250}}`, event.Status{Meter: event.Meter{Context: 10000, HasContext: true}}, true},
	} {
		got, ok := event.ParseStatus([]byte(c.payload))
		if ok != c.ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v %+v, want %v %+v", c.payload, ok, got, c.ok, c.want)
		}
	}
}
