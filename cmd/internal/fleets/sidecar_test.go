package fleets

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The manual's container uses flags that link has, and shares what link needs.
func TestSidecar(t *testing.T) {
	page, err := os.ReadFile("../manual/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(page), "\n## In a container\n")
	words := regexp.MustCompile(`command: \[beckon, fleet, link((?:, --[a-z]+)*)\]`).FindStringSubmatch(part)
	if !ok || words == nil {
		t.Fatal("the manual has no container")
	}
	for flag := range strings.SplitSeq(strings.TrimPrefix(words[1], ", "), ", ") {
		if flag != "--forget" && flag != "--quiet" {
			t.Errorf("link is run with %s", flag)
		}
	}
	for _, want := range []string{`pid: "service:agent"`, "BECKON_STATE_DIR: /state", "BECKON_FLEET:"} {
		if !strings.Contains(part, want) {
			t.Errorf("the container lacks %s", want)
		}
	}
}
