package render

import (
	"slices"
	"time"

	"beckon/event"
	"beckon/state/stats"
	"beckon/state/store"
)

// Digest is what happened while the user was away: the format of `digest --json`.
type Digest struct {
	Schema   int         `json:"schema"`
	Since    time.Time   `json:"since,omitzero"`
	Sessions []DigestRow `json:"sessions"` // those that need the user first
}

// DigestRow is a session as it stands, and what it did since.
type DigestRow struct {
	Row
	Asked    int   `json:"asked"`  // how often it waited for the user
	Failures int   `json:"failed"` // how often a turn failed
	WorkedS  int64 `json:"worked_seconds"`
	WaitedS  int64 `json:"waited_seconds"`
}

// NewDigest returns the digest of the rows of every session, including ended ones, and of the
// lanes, which may begin earlier. It leaves out sessions that were only idle.
func NewDigest(since time.Time, rows []Row, counted []stats.Track) Digest {
	d := Digest{Schema: 1, Since: since.UTC(), Sessions: []DigestRow{}}
	for i := range rows {
		r := DigestRow{Row: rows[i]}
		at := slices.IndexFunc(counted, func(l stats.Track) bool { return l.Session == string(store.KeyOf(r.Record())) })
		var worked, waited event.Millis
		if at >= 0 {
			for _, span := range counted[at].Spans {
				span.From = max(span.From, event.MillisOf(since))
				if span.From >= span.To {
					continue
				}
				switch span.Kind {
				case stats.Busy:
					worked += span.To - span.From
				case stats.Waiting:
					r.Asked++
					waited += span.To - span.From
				case stats.Failed:
					r.Failures++
				}
			}
		}
		r.WorkedS, r.WaitedS = int64(worked/1000), int64(waited/1000)
		left := !r.State.Live() && !r.Since.Before(since)
		if worked > 0 || r.Asked+r.Failures > 0 || left || r.State.Live() && r.NeedsYou {
			d.Sessions = append(d.Sessions, r)
		}
	}
	return d
}
