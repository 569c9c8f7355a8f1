package config

import (
	"errors"
	"strings"
	"testing"
)

// The examples in a rule are checked when the file is read: each that fails is one error at its
// place.
func TestExamples(t *testing.T) {
	rule := func(members string) string {
		return one(`{"type":"rule","decision":"deny","reason":"r",` + members + `}`)
	}
	for _, text := range []string{
		rule(`"commands":["git push --force"],"match":["git push -f","git push origin main --force"],"not_match":["git push","git push --force-with-lease"]`),
		rule(`"paths":[".env"],"match":["read .env","cat .env","write app/.env"],"not_match":["read .env.example","ls .env"]`),
		rule(`"commands":["rm -rf"],"match":"rm -rf src","unless":{"paths":["**/build/**","/tmp/**"]},"not_match":["rm -rf build/x","rm -rf /tmp/y"]`),
		one(`{"type":"rule","decision":"allow","commands":["npm test"],"match":["npm test"],"not_match":["npm test; rm x"]}`),
		hooks("UserPromptSubmit", `{"hooks":[{"type":"rule","decision":"deny","reason":"r","words":["password"],"match":["my password is"],"not_match":["hello"]}]}`),
		hooks("PreToolUse", `{"matcher":"Write","hooks":[{"type":"rule","decision":"deny","reason":"r","paths":["*.pem"],"match":["write a.pem"],"not_match":["read a.pem"]}]}`),
	} {
		decoded(t, text)
	}
	for text, want := range map[string]string{
		rule("\n" + `"commands":["terraform apply"],` + "\n" + `"match":["terraform plan",` + "\n" + `"terraform apply"]`): `p:3: $.hooks.PreToolUse[0].hooks[0].match[0]: the rule does not cover "terraform plan"`,
		rule("\n" + `"commands":["git push"],` + "\n\n" + `"not_match":"cd x && git push"`):                                `p:4: $.hooks.PreToolUse[0].hooks[0].not_match: the rule covers "cd x && git push"`,
		one(`{"type":"rule","decision":"allow","commands":["npm test"],"match":["npm test > x"]}`):                         `match[0]: the rule does not cover "npm test > x"`,
	} {
		_, err := Decode("p", Global, []byte(text), false)
		var all Problems
		if !errors.As(err, &all) || len(all) != 1 || !strings.Contains(all[0].Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
