package correlate

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSeat(t *testing.T) {
	sits := func(seat string) Claim { return Claim{Seat: seat, Key: "k"} }
	taken := Claim{Seat: "taken", Key: "k", Taken: true}
	for _, tc := range []struct {
		name   string
		in     Input
		seat   string
		method Method
	}{
		{"nothing known", Input{}, "new", Created},
		{"the session has one", Input{Known: "own", Process: sits("p"), Terminal: sits("t")}, "own", SessionID},
		{"same process", Input{Process: sits("p"), Launcher: sits("l"), Terminal: sits("t")}, "p", Process},
		{"same process, whoever sits there", Input{Process: taken}, "taken", Process},
		{"launcher", Input{Launcher: sits("l"), Terminal: sits("t")}, "l", Launcher},
		{"terminal", Input{Terminal: sits("t"), Directory: sits("d")}, "t", Terminal},
		{"directory", Input{Directory: sits("d")}, "d", Directory},
		{"launcher inherited", Input{Launcher: taken, Terminal: sits("t")}, "t", Terminal},
		{"terminal inherited", Input{Launcher: taken, Terminal: taken}, "new", Created},
	} {
		tc.in.New = func() string { return "new" }
		if seat, method := Seat(tc.in); seat != tc.seat || method != tc.method {
			t.Errorf("%s: %q by %q, want %q by %q", tc.name, seat, method, tc.seat, tc.method)
		}
	}
}

// There is always a seat, whatever is known. It is never a seat that another session occupies,
// unless that session is in the same process, and it is new only if no other is free.
func TestSeatIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claim := func(name string) Claim {
			c := Claim{Seat: rapid.SampledFrom([]string{"", name}).Draw(t, name)}
			c.Taken = rapid.Bool().Draw(t, name+" taken")
			return c
		}
		made := 0
		in := Input{
			Known:   rapid.SampledFrom([]string{"", "known"}).Draw(t, "known"),
			Process: claim("process"), Launcher: claim("launcher"), Terminal: claim("terminal"), Directory: claim("directory"),
			New: func() string { made++; return "new" },
		}
		seat, method := Seat(in)
		if seat == "" {
			t.Fatalf("no seat for %+v", in)
		}
		for _, c := range []Claim{in.Launcher, in.Terminal, in.Directory} {
			if c.Taken && seat == c.Seat {
				t.Fatalf("%+v: took %q", in, seat)
			}
		}
		if (made > 0) != (method == Created) || made > 1 {
			t.Fatalf("%+v: %q by %q, made %d", in, seat, method, made)
		}
	})
}
