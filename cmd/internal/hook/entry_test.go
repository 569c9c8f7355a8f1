package hook

import "testing"

// Entries that the client tells apart have different names; what a hook adds when it becomes
// another program changes none.
func TestEntryOf(t *testing.T) {
	plain := ParseArgs([]string{"Stop"}).Via
	if plain == "" || plain != ParseArgs([]string{"Stop", "--given", "3"}).Via || plain != ParseArgs([]string{"--given", "12", "Stop"}).Via {
		t.Errorf("%q changes with --given", plain)
	}
	for _, args := range [][]string{{"Stop", "--answers"}, {"Stop", "--given2"}, {"Stop", ""}, {"SessionEnd"}, {"Stop", "--via", "plugin"}} {
		if got := ParseArgs(args).Via; got == plain {
			t.Errorf("%q: %q", args, got)
		}
	}
	if got := ParseArgs([]string{"Stop", "--via", "plugin"}).Via; got != "plugin" {
		t.Errorf("%q", got)
	}
}
