package policy

import (
	"testing"

	"beckon/event/policy/config"
)

func decode(t testing.TB, text string) []*config.Hook {
	t.Helper()
	c, err := config.Decode("policy.json", config.Global, []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hooks(kind, group string) string { return `{"hooks":{"` + kind + `":[` + group + `]}}` }

// one returns a policy with one handler of PreToolUse.
func one(h string) string { return hooks("PreToolUse", `{"hooks":[`+h+`]}`) }
