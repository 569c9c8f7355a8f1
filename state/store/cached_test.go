package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

// A listing of many sessions comes from the cache and stays right when sessions change, wait
// in the spool, lag behind their journals, appear or disappear.
func TestCachedListing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("nothing is cached here")
	}
	st := Open(t.TempDir())
	keys := make([]Key, 60)
	for i := range keys {
		id := fmt.Sprintf("s%02d", i)
		keys[i] = KeyOf(id)
		fold(t, st, kind(event.SessionStart, id, t0))
	}
	check := func(when string) {
		t.Helper()
		all, problems, err := st.Live()
		if err != nil || len(problems) > 0 {
			t.Fatal(when, problems, err)
		}
		seen := map[Key]state.Session{}
		for _, s := range all {
			seen[KeyOf(s.Record())] = s
		}
		for _, k := range keys {
			want, err := st.Load(k)
			if got := seen[k]; err != nil || text(got) != text(want) {
				t.Errorf("%s: %s is listed as\n%s, and is\n%s, %v", when, k, text(got), text(want), err)
			}
		}
		if len(seen) != len(keys) {
			t.Errorf("%s: %d sessions are listed, %d there", when, len(seen), len(keys))
		}
	}
	check("young")
	if _, err := os.Stat(st.CacheFile(sessionsDir)); err == nil {
		t.Error("sessions are cached as soon as they are written")
	}
	time.Sleep(3200 * time.Millisecond) // until the files count as settled
	check("settled")
	l, err := st.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if _, ok := l.cache.Get(k, string(k)+".jsonl", new(state.Session)); !ok {
			t.Errorf("%s is not cached", k)
		}
	}
	l.cache.Close(l.keys)
	check("cached")

	fold(t, st, kind(event.UserPromptSubmit, "s03", t0+1000))
	check("one changed")

	// An event that is only in the spool.
	lock, err := st.lock("s04", LockWait)
	if err != nil {
		t.Fatal(err)
	}
	u := folding(kind(event.UserPromptSubmit, "s04", t0+1000))
	u.Wait = 1
	if _, err := st.Fold("s04", u); err != ErrBusy {
		t.Fatal(err)
	}
	check("one is spooled")
	lock.Close()
	check("and folded")

	// A writer killed between the journal and the file.
	before, err := os.ReadFile(st.session("s05"))
	if err != nil {
		t.Fatal(err)
	}
	fold(t, st, kind(event.UserPromptSubmit, "s05", t0+1000))
	if err := os.WriteFile(st.session("s05"), before, 0o600); err != nil {
		t.Fatal(err)
	}
	check("one is behind its journal")

	// One session disappears and a new one appears.
	if err := os.Rename(st.session("s06"), filepath.Join(t.TempDir(), "s06.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(st.journal("s06")); err != nil {
		t.Fatal(err)
	}
	fold(t, st, kind(event.SessionStart, "s99", t0))
	keys[6] = "s99"
	check("one went and one came")
}
