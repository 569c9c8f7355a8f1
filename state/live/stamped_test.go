package live

import (
	"testing"
	"time"

	"beckon/event/plainfile"
)

// A file that is young when it is read is read again, as its stamp may belong to two versions
// where the clock of the file system is coarse.
func TestYoungFilesAreReadAgain(t *testing.T) {
	stamp := func(ago time.Duration) plainfile.Version {
		at := time.Now().Add(-ago).UnixNano()
		return plainfile.Version{Size: 7, Time: at, Changed: at, Inode: 1}
	}
	var v stamped
	young, settled := stamp(time.Second), stamp(time.Minute)
	for i, step := range []struct {
		stamp plainfile.Version
		want  bool
	}{{young, true}, {young, true}, {settled, true}, {settled, false}, {settled, false}, {young, true}, {young, true}} {
		if got := v.moved(step.stamp, recheck); got != step.want {
			t.Errorf("step %d: read again: %v", i, got)
		}
	}
}
