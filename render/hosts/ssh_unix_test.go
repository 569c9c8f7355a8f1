//go:build unix

package hosts

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An answer that is too long takes no more memory than its limit.
func TestTooLongAnswer(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nhead -c 300000000 /dev/zero\nhead -c 100000000 /dev/zero >&2\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ask(context.Background(), "somewhere")
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 12*maxAnswer { // two answers, that grew
		t.Errorf("it took %d MiB", took>>20)
	}
}
