package typed

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"notify", "queue", "quiet", "Stop"}
	for name, want := range map[string]string{
		"notfy": "notify", "NOTIFY": "notify", "qeue": "queue", "stop": "Stop", "queit": "queue", "quet": "quiet",
		"": "", "notification": "", "x": "", "queue": "queue",
		"tap": "", "sop": "Stop",
	} {
		if got := Nearest(name, words); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of no words %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
