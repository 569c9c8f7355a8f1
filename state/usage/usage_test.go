package usage

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/event"
)

const (
	minute = event.Millis(60_000)
	hour   = 60 * minute
	day    = 24 * hour
	noon   = 20_000*day + 12*hour
)

// said is one session's report, and what is known after it.
type said struct {
	at     event.Millis // after noon
	by     string
	used   float64
	resets event.Millis // after noon
	want   float64
	cross  int // the limit step that the report crosses, 0 for none
}

// Every session of an account repeats the limits that it received last, however old. A report
// counts only if it can be newer than what is known.
func TestReport(t *testing.T) {
	for name, reports := range map[string][]said{
		"grows":                       {{0, "a", 10, 3 * hour, 10, 0}, {minute, "b", 12.5, 3 * hour, 12.5, 0}},
		"an idle session is behind":   {{0, "a", 60, 3 * hour, 60, 0}, {minute, "b", 40, 3 * hour, 60, 0}, {2 * minute, "b", 61, 3 * hour, 61, 0}},
		"put right":                   {{0, "a", 60, 3 * hour, 60, 0}, {minute, "a", 20, 3 * hour, 20, 0}},
		"a new window":                {{0, "a", 90, hour, 90, 80}, {2 * hour, "a", 3, 6 * hour, 3, 0}},
		"an old window after the new": {{0, "a", 90, 6 * hour, 90, 80}, {minute, "b", 99, hour, 90, 0}},
		"over when it is told":        {{0, "a", 90, -minute, 0, 0}},
		"over since":                  {{0, "a", 90, hour, 90, 80}, {hour, "", 0, 0, 0, 0}},
		"the end a moment later":      {{0, "a", 79, 3 * hour, 79, 0}, {minute, "b", 81, 3*hour + 20_000, 81, 80}, {2 * minute, "a", 82, 3 * hour, 82, 0}},
		"each step once":              {{0, "a", 70, 3 * hour, 70, 0}, {minute, "a", 80, 3 * hour, 80, 80}, {2 * minute, "b", 94.9, 3 * hour, 94.9, 0}, {3 * minute, "a", 95, 3 * hour, 95, 95}, {4 * minute, "b", 100, 3 * hour, 100, 0}},
		"both steps at once":          {{0, "a", 99, 3 * hour, 99, 95}},
		"each window anew":            {{0, "a", 96, hour, 96, 95}, {2 * hour, "a", 96, 7 * hour, 96, 95}},
	} {
		t.Run(name, func(t *testing.T) {
			d := t.TempDir()
			for i, r := range reports {
				var limits []event.Limit
				if r.by != "" {
					limits = []event.Limit{{Name: "five_hour", Used: int64(r.used * 100), Resets: noon + r.resets}}
				}
				a, crossed, err := Report(d, "", r.by, limits, noon+r.at)
				if err != nil {
					t.Fatal(err)
				}
				got, step := 0.0, 0
				if len(a.Windows) > 0 {
					got = a.Windows[0].Percent()
				}
				if len(crossed) > 0 {
					step = crossed[0].Percent
				}
				if got != r.want || step != r.cross {
					t.Errorf("report %d: %v %% are known and step %d is crossed, want %v %% and %d", i, got, step, r.want, r.cross)
				}
			}
		})
	}
}

// The file is private, and written only when a report is new.
func TestFile(t *testing.T) {
	state := t.TempDir()
	d := state
	path := filepath.Join(state, "usage", "default.json")
	limits := []event.Limit{{Name: "five_hour", Used: 41_50, Resets: noon + hour}, {Name: "seven_day", Used: 81_00, Resets: noon + day}}
	if _, _, err := Report(d, "", "a", nil, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("nothing was reported, and there is a file: %v", err)
	}
	report := func(by string) os.FileInfo {
		t.Helper()
		if _, _, err := Report(d, "", by, limits, noon); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := report("a")
	if first.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("mode %v", first.Mode())
	}
	if second := report("b"); !os.SameFile(first, second) {
		t.Error("the same report again replaced the file")
	}
	limits[0].Used++
	if third := report("b"); os.SameFile(first, third) {
		t.Error("news did not replace the file")
	}
	for _, junk := range []string{"", "{", `{"windows": 3}`, `[]`} {
		if err := os.WriteFile(path, []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		report("a")
	}
	if _, _, err := Report(d, "/home/u/.claude-work", "c", limits[:1], noon); err != nil {
		t.Fatal(err)
	}
	all, err := Read(d, noon)
	if err != nil || len(all) != 2 || len(all[0].Windows)+len(all[1].Windows) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := Read(d, noon+2*hour); err != nil || len(all) != 1 || all[0].Name != "" {
		t.Errorf("when the short windows are over: %+v, %v", all, err)
	}
}

// The limit that is used most is the nearest.
func TestNearest(t *testing.T) {
	long := Window{Limit: event.Limit{Name: "seven_day", Used: 70_00, Resets: noon + day}}
	short := Window{Limit: event.Limit{Name: "five_hour", Used: 60_00, Resets: noon + 3*hour}}
	if _, ok := Nearest(nil); ok {
		t.Error("none is nearest")
	}
	if w, ok := Nearest([]Account{{Windows: []Window{short}}, {Windows: []Window{long}}}); !ok || w.Name != "seven_day" {
		t.Errorf("%q is nearest", w.Name)
	}
}
