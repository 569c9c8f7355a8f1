package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestObstacles(t *testing.T) {
	for name, put := range map[string]func(h home) error{
		"directory":             func(h home) error { return os.MkdirAll(h.Path, 0o700) },
		"file as directory":     func(h home) error { return os.WriteFile(filepath.Dir(h.Path), nil, 0o600) },
		"too large":             func(h home) error { h.write(h.Path, ""); return os.Truncate(h.Path, sizeLimit+1) },
		"read-only":             func(h home) error { h.write(h.Path, "{}"); return os.Chmod(h.Path, 0o400) },
		"Keep is not a dir":     func(h home) error { h.write(h.Path, "{}"); return os.WriteFile(h.Keep, nil, 0o600) },
		"backup cannot be kept": func(h home) error { h.write(h.Path, "{}"); return os.MkdirAll(keptFor(h.Keep, h.Path).backup, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			if err := put(h); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(h.Path)
			_, err := Apply(h.Target, Install(testSpec))
			if !told(err) {
				t.Errorf("error %v", err)
			}
			if after, _ := os.ReadFile(h.Path); !bytes.Equal(before, after) {
				t.Errorf("the file changed: %q", after)
			}
			h.clean()
		})
	}
}

// If another program writes the file between our last look and our rename, in place or by a
// rename, its version is edited instead.
func TestRewrittenMeanwhile(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system cannot exchange files")
	}
	for _, inPlace := range []bool{true, false} {
		h := newHome(t).with("{\"n\": 0}")
		n := 0
		write := func() {
			if n++; n > 3 {
				return
			}
			path := h.Path
			if !inPlace {
				path += ".theirs"
			}
			h.write(path, fmt.Sprintf("{\"n\": %d}", n))
			if err := os.Rename(path, h.Path); err != nil {
				t.Fatal(err)
			}
		}
		op := Install(testSpec)
		op.testOnlyBeforeRename = write
		h.apply(op)
		h.is(string(mustEdit(t, []byte("{\"n\": 3}"), testSpec)))
		n = 0
		op = Uninstall()
		op.testOnlyBeforeRename = write
		h.apply(op)
		h.is("{\"n\": 1}") // the other program's, without our entries
	}
}

// A file of our own that another program has written to just before it is removed.
func TestRewrittenBeforeRemoval(t *testing.T) {
	h := newHome(t)
	h.apply(Install(testSpec))
	op := Uninstall()
	op.testOnlyBeforeRename = sync.OnceFunc(func() { h.write(h.Path, `{"theirs": 1}`) })
	h.apply(op)
	h.is(`{"theirs": 1}`)
}

func TestRewrittenForEver(t *testing.T) {
	for _, installed := range []bool{false, true} {
		h := newHome(t).with("{}")
		op := Install(testSpec)
		if installed {
			h.apply(op)
			op = Uninstall()
		}
		n := 0
		op.testOnlyBeforeRename = func() {
			n++
			h.write(h.Path, string(mustEdit(t, fmt.Appendf(nil, "{\"n\": %d}", n), Spec{Command: "/x/beckon-hook", Events: []string{"Stop"}})))
		}
		_, err := Apply(h.Target, op)
		if !errors.Is(err, errBusy) || n != applyTries {
			t.Errorf("%v after %d tries", err, n)
		}
		if !strings.Contains(h.read(), fmt.Sprintf("{\"n\": %d", n)) {
			t.Error("the other program's settings were overwritten")
		}
		h.clean()
	}
}

// A file that appears, or disappears, during an edit.
func TestAppearsMeanwhile(t *testing.T) {
	h := newHome(t)
	once := sync.OnceFunc(func() { h.write(h.Path, "{\"theirs\": 1}") })
	op := Install(testSpec)
	op.testOnlyBeforeRename = once
	h.apply(op)
	h.apply(Uninstall())
	h.is("{\"theirs\": 1}")
}

func TestHalfWritten(t *testing.T) {
	h := newHome(t).with("")
	go func() {
		time.Sleep(settleDelay / 2)
		h.write(h.Path, "{\"theirs\": 1}")
	}()
	h.apply(Install(testSpec))
	h.is(string(mustEdit(t, []byte("{\"theirs\": 1}"), testSpec)))
}

// Concurrent installs, through a link and without, leave one set of entries, while another
// program keeps rewriting the file.
func TestConcurrentInstalls(t *testing.T) {
	h := newHome(t).with("{\"n\": 0}")
	stop := make(chan struct{})
	var theirs, ours sync.WaitGroup
	theirs.Go(func() { rewrite(h, stop) })
	for i := range 8 {
		ours.Go(func() {
			spec := testSpec
			spec.Events = []string{"Stop", fmt.Sprintf("Event%d", i)}
			if _, err := Apply(h.Target, Install(spec)); err != nil && !errors.Is(err, errBusy) {
				t.Error(err)
			}
		})
	}
	ours.Wait()
	close(stop)
	theirs.Wait()
	h.apply(Install(testSpec))
	checkEntries(t, []byte(h.read()), testSpec)
	h.apply(Uninstall())
	if got := h.read(); !strings.HasPrefix(got, "{\"n\": ") || owns([]byte(got)) {
		t.Errorf("settings are %s", got)
	}
	h.clean()
}

// rewrite keeps changing a number in the settings, as a program that ignores our lock does:
// read, change, rename. Every reading must be whole.
func rewrite(h home, stop chan struct{}) {
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(3 * time.Millisecond):
		}
		data, err := os.ReadFile(h.Path)
		if err != nil || !json.Valid(data) {
			h.t.Errorf("read %q, %v", data, err)
			return
		}
		next := bytes.Clone(data)
		next[len(`{"n": `)] = byte('0' + n%2)
		tmp := h.Path + ".theirs"
		if os.WriteFile(tmp, next, 0o600) != nil || os.Rename(tmp, h.Path) != nil {
			h.t.Error("the other program could not write")
			return
		}
	}
}

// The next edit uses up the temporary file that a killed run left; other files stay.
func TestLeftoverGoes(t *testing.T) {
	h := newHome(t).with("{}")
	theirs := filepath.Join(filepath.Dir(h.Path), ".settings.json.1.swp")
	h.write(theirs, "")
	h.write(temporaryFor(h.Path), "half")
	h.apply(Install(testSpec))
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
	h.write(temporaryFor(h.Path), "half")
	h.apply(Uninstall())
	h.is("{}")
}

func TestLockedByAnother(t *testing.T) {
	h := newHome(t).with("{}")
	unlock, err := lockFor(h.Keep)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := Apply(h.Target, Install(testSpec))
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	h.is("{}")
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
	checkEntries(t, []byte(h.read()), testSpec)
}

const killedHome = "BECKON_TEST_KILLED_HOME"

// A kill at any moment leaves the file as before or as wanted, and never blocks the next run.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killedHome); dir != "" {
		target := Settings(User, filepath.Join(dir, ".claude"), "", filepath.Join(dir, "keep"))
		for {
			_, _ = Apply(target, Install(testSpec))
			_, _ = Apply(target, Uninstall())
		}
	}
	h := newHome(t).with("{\n}")
	edited := string(mustEdit(t, []byte("{\n}"), testSpec))
	for range 40 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), killedHome+"="+h.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Millisecond + rand.N(25*time.Millisecond))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if got := h.read(); got != "{\n}" && got != edited {
			t.Fatalf("settings are %q", got)
		}
	}
	if _, err := Apply(h.Target, Uninstall()); err != nil {
		t.Fatal(err)
	}
	h.is("{\n}")
}

// An install or an update that fails leaves the record as it was: doctor would say of the first
// that something took the hooks out, and the second could not be undone any more.
func TestFailureLeavesTheRecord(t *testing.T) {
	const old = "{ }\n"
	for _, installed := range []bool{false, true} {
		h := newHome(t).with(old)
		if installed {
			h.apply(Install(testSpec))
		}
		before := h.read()
		want := testSpec
		want.Command = "/new/beckon-hook"
		op := Install(want)
		op.testOnlyBeforeRename = func() { // it cannot be replaced any more
			if err := errors.Join(os.Remove(h.Path), os.Mkdir(h.Path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Apply(h.Target, op); err == nil {
			t.Fatal("a directory was replaced")
		}
		if err := os.Remove(h.Path); err != nil {
			t.Fatal(err)
		}
		h.write(h.Path, before)
		f := InspectFile(h.Target)
		if f.Recorded != installed || !installed && h.kept() != nil {
			t.Errorf("installed %v: recorded %v, kept %v", installed, f.Recorded, h.kept())
		}
		if c, err := Plan(h.Target, Uninstall()); err != nil || string(c.New) != old {
			t.Errorf("installed %v: uninstall leaves %q, %v", installed, c.New, err)
		}
	}
}
