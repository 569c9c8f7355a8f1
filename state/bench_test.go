package state

import (
	"testing"

	"beckon/event"
)

// typical returns a session in the middle of its work, folded from one client's recordings,
// and the event of an open tool call.
func typical(tb testing.TB) (Session, event.Event) {
	var s Session
	at := t0
	var last event.Event
	for _, tr := range tracks(tb) {
		if tr.version != "2.1.329" {
			continue
		}
		for _, events := range tr.events(tb) {
			at += 1000
			first := events[0].At
			for _, e := range events {
				if e.Kind == event.SessionEnd {
					continue
				}
				e.At = at + e.At - first
				e.SessionID = "s1"
				s = applied(s, e)
				if e.Kind == event.PreToolUse {
					last = e
				}
			}
			at = s.Updated
		}
	}
	last.At = at + 1000
	last.Tool.UseID, last.Origin = "toolu_bench", nil
	return s, last
}

func BenchmarkApply(b *testing.B) {
	s, e := typical(b)
	c := Change{Seq: s.Seq + 1, At: e.At, Event: &e}
	b.ReportAllocs()
	for b.Loop() {
		Apply(s, c)
	}
}

func BenchmarkResolve(b *testing.B) {
	s, e := typical(b)
	s = applied(s, e)
	ev := Evidence{Process: Alive, Registry: Registry{Status: "busy", At: e.At - 100}}
	b.ReportAllocs()
	for b.Loop() {
		Resolve(s, ev, e.At+1000)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	s, _ := typical(b)
	buf := AppendJSON(nil, &s)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendJSON(buf[:0], &s)
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	s, _ := typical(b)
	buf := AppendJSON(nil, &s)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeJSON(buf); err != nil {
			b.Fatal(err)
		}
	}
}
