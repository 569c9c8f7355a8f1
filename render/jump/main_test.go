package jump

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary plays the terminals' own programs when it is called by their names: it logs
// the call in $FAKE_LOG and answers with that program's $FAKE_OUT and $FAKE_EXIT.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	if os.Getenv("FAKE_LOG") == "" || strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".exe") {
		os.Exit(m.Run())
	}
	os.Exit(fake(name))
}

// call is how a fake program was called.
type call struct {
	Argv []string
	Env  []string
}

func fake(name string) int {
	c := call{Argv: append([]string{name}, os.Args[1:]...)}
	if v, ok := os.LookupEnv("WEZTERM_UNIX_SOCKET"); ok {
		c.Env = append(c.Env, "WEZTERM_UNIX_SOCKET="+v)
	}
	line, _ := json.Marshal(c)
	f, err := os.OpenFile(os.Getenv("FAKE_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
	_, _ = os.Stdout.WriteString(os.Getenv("FAKE_OUT_" + name))
	if os.Getenv("FAKE_HANG_"+name) != "" {
		time.Sleep(time.Minute)
	}
	if os.Getenv("FAKE_EXIT_"+name) != "" {
		return 1
	}
	return 0
}
