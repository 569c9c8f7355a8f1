package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// banned lists what the hook binary must not link, and why. The time to start goes to page
// faults, and these grow with what is linked.
var banned = map[string]string{
	"net/http":                      "0.5 ms a start; the hook never talks to the network",
	"net":                           "page faults of its own and of its resolver",
	"log/slog":                      "the hook logs by hand, and only when something is wrong",
	"github.com/alecthomas/kong":    "0.3 ms to link, 0.5 ms to run",
	"text/template":                 "reflection keeps every method",
	"testing":                       "not in production code",
	"crypto/tls":                    "the hook talks to nobody",
	"os/user":                       "a build with a C compiler would link libc, which takes half as long as a start",
	"github.com/mattn/go-runewidth": "v0.0.26 and v0.0.27 build a 2 MB table at start",
}

// bannedTrees are banned with all packages below them.
var bannedTrees = map[string]string{
	"github.com/nats-io":       "the hook publishes nothing; beckon fleet link does",
	"charm.land/":              "terminal screens belong to the slow program",
	"github.com/charmbracelet": "terminal screens belong to the slow program",
	"beckon/installer":         "the hook installs nothing",
	"beckon/event/policy/run":  "commands and servers are started by the program that has the time",
}

func depsOf(t *testing.T, program string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", program).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 20 {
		t.Fatalf("go list gave %d packages", len(deps))
	}
	return deps
}

// TestNoServer: no program links the server of a fleet.
func TestNoServer(t *testing.T) {
	for _, d := range depsOf(t, "beckon/cmd/beckon") {
		if strings.HasPrefix(d, "github.com/nats-io/nats-server") {
			t.Errorf("beckon links %s", d)
		}
	}
}

func TestDeps(t *testing.T) {
	for _, d := range depsOf(t, ".") {
		if why, ok := banned[d]; ok {
			t.Errorf("beckon-hook links %s: %s", d, why)
		}
		for tree, why := range bannedTrees {
			if strings.HasPrefix(d, tree) {
				t.Errorf("beckon-hook links %s: %s", d, why)
			}
		}
	}
}

// TestStackIsFirst: the package that makes the stack large imports nothing, so that it is
// initialized before those that need one.
func TestStackIsFirst(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports " "}}`, "beckon/cmd/internal/stack").Output()
	if err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("it imports %q, %v", out, err)
	}
}

// layers are the directions of imports (package documentation of cmd/beckon): a package must
// not import one above it.
func TestLayers(t *testing.T) {
	for pkg, above := range map[string][]string{
		"beckon/event/...":     {"beckon/state", "beckon/render", "beckon/installer", "beckon/cmd"},
		"beckon/state/...":     {"beckon/render", "beckon/installer", "beckon/cmd"},
		"beckon/render/...":    {"beckon/installer", "beckon/cmd"},
		"beckon/installer/...": {"beckon/state", "beckon/render", "beckon/cmd"},
	} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		for _, d := range strings.Fields(string(out)) {
			for _, a := range above {
				if d == a || strings.HasPrefix(d, a+"/") {
					t.Errorf("%s depends on %s", pkg, d)
				}
			}
		}
	}
}

// clock matches what reads the clock or waits.
var clock = regexp.MustCompile(`\btime\.(Now|Since|Until|Sleep|After|AfterFunc|Tick|NewTimer|NewTicker)\b`)

// noClock checks that a package uses only the types of package time.
func noClock(t *testing.T, pkg string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, pkg).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
	}
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if call := clock.Find(text); call != nil {
			t.Errorf("%s: %s: it must be pure", file, call)
		}
	}
}

// TestPure checks that the pure packages use no files, clock, processes or network. What they
// need of those is passed in.
func TestPure(t *testing.T) {
	for _, pkg := range []string{"beckon/event", "beckon/event/intent", "beckon/event/jsonenc", "beckon/event/typed", "beckon/event/osc", "beckon/event/redact", "beckon/state"} {
		out, err := exec.Command("go", "list", "-f", `{{join .Imports " "}}`, pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		for _, d := range strings.Fields(string(out)) {
			switch d {
			case "time": // its types are as pure as any
				noClock(t, pkg)
			case "os", "os/exec", "net", "net/http", "syscall", "path/filepath", "math/rand", "math/rand/v2":
				t.Errorf("%s imports %s: it must be pure", pkg, d)
			}
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{join .Imports " "}}`, "beckon/render").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range strings.Fields(string(out)) {
		if d == "os" || d == "os/exec" || d == "net/http" {
			t.Errorf("beckon/render imports %s: rows are pure", d)
		}
	}
}
