package main

import (
	"os/exec"
	"strings"
	"testing"
)

// banned lists what the hook binary must not link, and why. A start is page
// faults, and page faults are what is linked.
var banned = map[string]string{
	"net/http":                      "0.5 ms a start; the hook never talks to the network",
	"net":                           "page faults of its own and of its resolver",
	"os/exec":                       "no subprocess on the hot path",
	"regexp":                        "page faults, and patterns compiled at start",
	"crypto/rand":                   "seats are not secrets; math/rand/v2 is seeded by the system",
	"log/slog":                      "the hook logs by hand, and only when something is wrong",
	"github.com/rs/zerolog":         "links net and log/slog",
	"github.com/alecthomas/kong":    "0.3 ms to link, 0.5 ms to run",
	"github.com/fsnotify/fsnotify":  "the hook watches nothing",
	"github.com/tailscale/hujson":   "the hook reads single keys of the configuration, with event/jsonc",
	"text/template":                 "reflection keeps every method",
	"testing":                       "not in production code",
	"github.com/mattn/go-runewidth": "v0.0.26 and v0.0.27 build a 2 MB table at start",
}

// bannedTrees are banned with everything below them.
var bannedTrees = map[string]string{
	"charm.land/":              "terminal screens belong to the slow program",
	"github.com/charmbracelet": "terminal screens belong to the slow program",
	"beckon/render":            "the hook shows nothing",
	"beckon/installer":         "the hook installs nothing",
	"beckon/event/policy":      "answers run commands and ask servers: the slow program's work",
}

func TestDeps(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 20 {
		t.Fatalf("go list gave %d packages", len(deps))
	}
	for _, d := range deps {
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

// layers are the directions that imports run in (README, How it is built): a
// package below must not import one above it.
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

// TestPure holds the pure packages pure: no files, clock, processes or
// network. What they need of those is passed in.
func TestPure(t *testing.T) {
	for _, pkg := range []string{"beckon/event", "beckon/event/intent", "beckon/event/jsonenc", "beckon/event/nearest", "beckon/event/osc", "beckon/event/redact", "beckon/state", "beckon/state/correlate"} {
		out, err := exec.Command("go", "list", "-f", `{{join .Imports " "}}`, pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		for _, d := range strings.Fields(string(out)) {
			switch d {
			case "os", "time", "os/exec", "net", "net/http", "syscall", "path/filepath", "math/rand", "math/rand/v2":
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
