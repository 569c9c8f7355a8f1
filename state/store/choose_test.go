package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestChooseSeat(t *testing.T) {
	sits := func(by Method, seat string) candidate { return candidate{claim: claim{Seat: seat, Key: "k"}, by: by} }
	taken := func(by Method) candidate {
		return candidate{claim: claim{Seat: "taken", Key: "k"}, by: by, taken: true}
	}
	none := sits(ByProcess, "")
	for _, tc := range []struct {
		name   string
		known  string
		claims []candidate
		seat   string // empty for a new one
		method Method
	}{
		{"nothing known", "", nil, "", Created},
		{"the session has one", "own", []candidate{sits(ByProcess, "p"), sits(ByTerminal, "t")}, "own", BySessionID},
		{"same process", "", []candidate{sits(ByProcess, "p"), sits(ByLauncher, "l"), sits(ByTerminal, "t")}, "p", ByProcess},
		{"same process, whoever sits there", "", []candidate{taken(ByProcess)}, "taken", ByProcess},
		{"launcher", "", []candidate{none, sits(ByLauncher, "l"), sits(ByTerminal, "t")}, "l", ByLauncher},
		{"terminal", "", []candidate{none, sits(ByTerminal, "t"), sits(ByDirectory, "d")}, "t", ByTerminal},
		{"directory", "", []candidate{none, sits(ByDirectory, "d")}, "d", ByDirectory},
		{"launcher inherited", "", []candidate{none, taken(ByLauncher), sits(ByTerminal, "t")}, "t", ByTerminal},
		{"terminal inherited", "", []candidate{none, taken(ByLauncher), taken(ByTerminal)}, "", Created},
	} {
		if c := choose(tc.known, tc.claims); c.by != tc.method || c.Seat != tc.seat && tc.seat != "" {
			t.Errorf("%s: %q by %q, want %q by %q", tc.name, c.Seat, c.by, tc.seat, tc.method)
		}
	}
}

// There is always a seat, whatever is known. It is never a seat that another session occupies,
// unless that session is in the same process, and it is new only if no other is free.
func TestSeatIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var claims []candidate
		seats := []string{"", "known"}
		for _, by := range []Method{ByProcess, ByLauncher, ByTerminal, ByDirectory} {
			seat := rapid.SampledFrom([]string{"", string(by)}).Draw(t, string(by))
			claims = append(claims, candidate{claim: claim{Seat: seat}, by: by, taken: rapid.Bool().Draw(t, string(by)+" taken")})
			seats = append(seats, seat)
		}
		found := choose(rapid.SampledFrom([]string{"", "known"}).Draw(t, "known"), claims)
		if found.Seat == "" {
			t.Fatalf("no seat for %+v", claims)
		}
		for _, c := range claims[1:] {
			if c.taken && found.Seat == c.Seat {
				t.Fatalf("%+v: took %q", claims, found.Seat)
			}
		}
		if created := !slices.Contains(seats, found.Seat); created != (found.by == Created) {
			t.Fatalf("%+v: %q by %q", claims, found.Seat, found.by)
		}
	})
}
