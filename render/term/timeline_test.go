package term

import (
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state/stats"
)

// A column shows the most urgent state in its time; the hours are those of the time zone.
func TestDrawTimeline(t *testing.T) {
	zone := time.FixedZone("here", 5*3600+1800)
	from := time.Date(2026, 3, 1, 9, 0, 0, 0, zone)
	at := func(minutes int) time.Time { return from.Add(time.Duration(minutes) * time.Minute).UTC() }
	line := render.Timeline{From: from.UTC(), To: at(240), Tracks: []render.Track{
		{Project: "shop", Branch: "main", Spans: []stats.Span{
			{From: at(0), To: at(60), Kind: stats.Busy}, {From: at(60), To: at(61), Kind: stats.Waiting},
			{From: at(61), To: at(120), Kind: stats.Busy}, {From: at(120), To: at(240), Kind: stats.Idle}}},
		{Name: "a name that is longer than there is room for it", Spans: []stats.Span{{From: at(200), To: at(240), Kind: stats.Failed}}},
	}}
	var out strings.Builder
	out.WriteString(DrawTimeline(line, zone, Style{Width: 26 + 48}))
	want := strings.Join([]string{
		"                          09:00 09:30 10:00 10:30 11:00 11:30 12:00 12:30",
		"shop main                 ████████████!███████████························",
		"a name that is longer t…                                          xxxxxxxx",
	}, "\n")
	got := strings.Split(out.String(), "\n\n")[0]
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	out.Reset()
	line.From, line.To = at(3), at(4) // no round time is in it
	out.WriteString(DrawTimeline(line, zone, Style{Width: 26 + 48}))
	if got, want := strings.TrimSpace(strings.Split(out.String(), "\n")[0]), "09:03"; got != want {
		t.Errorf("above a minute: %q, want %q", got, want)
	}
	for _, width := range []int{0, 1, 20, 500} {
		out.WriteString(DrawTimeline(line, zone, Style{Width: width, Color: true}))
	}
}

// A time is as short as it is clear, before and after.
func TestMoment(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin") // the clock goes back on 25 October 2026
	if err != nil {
		t.Skip(err)
	}
	now := time.Date(2026, 10, 25, 12, 0, 0, 0, zone)
	for days, want := range map[int]string{-9: "Oct 16", -6: "Mon 12:30", -1: "Sat 12:30", 0: "12:30", 1: "Mon 12:30", 6: "Sat 12:30", 7: "Nov 1"} {
		at := time.Date(2026, 10, 25+days, 12, 30, 0, 0, zone)
		if got := Moment(at.UTC(), now); got != want {
			t.Errorf("%d days from now: %q, want %q", days, got, want)
		}
	}
}
