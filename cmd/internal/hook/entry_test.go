package hook

import "testing"

// Entries that the client tells apart have different names.
func TestEntryOf(t *testing.T) {
	plain := ParseArgs([]string{"Stop"}).Via
	if plain == "" || plain != ParseArgs([]string{"Stop"}).Via {
		t.Errorf("%q is not the name of one entry", plain)
	}
	for _, args := range [][]string{{"Stop", "--answers"}, {"Stop", "--unknown"}, {"Stop", ""}, {"SessionEnd"}, {"Stop", "--via", "plugin"}} {
		if got := ParseArgs(args).Via; got == plain {
			t.Errorf("%q: %q", args, got)
		}
	}
	if got := ParseArgs([]string{"Stop", "--via", "plugin"}).Via; got != "plugin" {
		t.Errorf("%q", got)
	}
}
