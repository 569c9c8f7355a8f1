package policy

import (
	"os"
	"strings"
	"testing"

	"beckon/event/policy/config"
)

// The rules of the manual's example with exceptions are a policy, and their examples hold.
func TestManualsExceptions(t *testing.T) {
	text, err := os.ReadFile("../../cmd/internal/manual/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "examples fail is not accepted:\n")
	rules, _, end := strings.Cut(after, "\n\n**")
	if !ok || !end || !strings.Contains(rules, "unless") {
		t.Fatal("the manual has no such example")
	}
	c, err := config.Decode("policy.md", config.Global, []byte(`{"hooks":{"PreToolUse":[{"hooks":[`+rules+`]}]}}`), false)
	if err != nil || len(c) != 2 {
		t.Error(err)
	}
}
