package config

import (
	"slices"
	"strings"
	"testing"
)

// Check warns about each thing that loads but is probably a mistake.
func TestCheck(t *testing.T) {
	rule := func(members string) string { return `{"type":"rule","decision":"deny","reason":"r",` + members + `}` }
	for _, c := range []struct{ text, what, advice string }{
		{hooks("PreToolUse", `{"matcher":"bash","hooks":[`+rule(`"words":["x"]`)+`]}`), "takes no tool of the client", `did you mean "Bash"?`},
		{hooks("PreToolUse", `{"matcher":"Bash","hooks":[`+rule(`"commands":["rm"]`)+`]}`), "PowerShell, which it does not match", `"Bash|PowerShell"`},
		{hooks("PreToolUse", `{"matcher":"Edit|Write","hooks":[`+rule(`"commands":["rm"]`)+`]}`), "no tool that it matches runs commands", ""},
		{one(rule(`"tool":"Edit","commands":["rm"]`)), "no tool that it matches runs commands", ""},
		{one(`{"type":"rule","decision":"allow","words":["x"]}`), "approves whatever has these words in it", "commands or paths"},
		{hooks("PreToolUse", `{"if":"bash(rm *)","hooks":[{"type":"command","command":"x"}]}`), `the matcher "bash" is case-sensitive`, `did you mean "Bash"?`},
		{one(rule(`"commands":["terrafrom apply"]`)), `"terrafrom" of "terrafrom apply"`, `did you mean "terraform"?`},
		{one(rule(`"commands":["git push --forced"]`)), `"--forced" of "git push --forced"`, `did you mean "--force"?`},
		{one(rule(`"id":"a","commands":["acme release"]`) + `,{"type":"rule","decision":"ask","reason":"r","commands":["acme relaese prod"]}`), `"relaese" of`, `did you mean "release"?`},
		{one(rule(`"id":"a","commands":["acme deplyo"],"not_match":["acme deploy"]`)), `"deplyo" of`, `did you mean "deploy"?`},
		{one(rule(`"commands":["git commit -m wip"]`)), `does not even cover the command "git commit -m wip"`, ""},
		{one(rule(`"commands":["terraform destroy --help"]`)), "does not even cover", ""},
		{one(rule(`"commands":["rm -rf"],"unless":{"commands":["rm"]}`)), "does not even cover", ""},
		{one(rule(`"commands":["rm"],"exact":true`)), `"exact" has no effect any more`, "leave it out"},
		{one(rule(`"commands":["rm"],"branch":"main"`)), `"branch" has no effect any more`, "leave it out"},
		{`{"strict":true,"deny":["WebFetch"]}`, `"strict" has no effect any more`, "leave it out"},
		{`{"deny":["Bash(git push --force *)"]}`, `misses "git push origin main --force"`, ""},
		{`{"deny":["Bash(rm -rf:*)"]}`, `misses "rm x -rf"`, ""},
		{`{"ask":["Bash(kubectl delete --all *)"]}`, `misses "kubectl delete x --all"`, ""},
	} {
		found := Check(Merge(decoded(t, c.text)))
		ok := slices.ContainsFunc(found, func(p Problem) bool {
			return p.Line == 1 && strings.Contains(p.What, c.what) && strings.Contains(p.Advice, c.advice)
		})
		if !ok {
			t.Errorf("%s: got %v; want %q, hint %q", c.text, found, c.what, c.advice)
		}
	}
}

// Check does not warn about what is probably meant.
func TestCheckIsQuiet(t *testing.T) {
	for _, text := range []string{
		`{}`,
		hooks("PreToolUse", `{"matcher":"Bash|PowerShell","hooks":[{"type":"rule","decision":"deny","reason":"r","commands":["rm"]},{"type":"command","command":"x","timeout":5,"observe":true}]}`),
		hooks("PreToolUse", `{"matcher":"^mcp__memory__.*$","hooks":[{"type":"command","command":"x"}]},{"matcher":"Edit|Write","hooks":[{"type":"rule","decision":"deny","reason":"r","paths":[".env"]}]}`),
		hooks("PreToolUse", `{"hooks":[{"type":"rule","id":"a","decision":"ask","reason":"r","commands":["rm"]},{"type":"rule","id":"b","decision":"deny","reason":"r","commands":["rm -rf /"]}]}`),
		hooks("PreToolUse", `{"if":"Bash(rm *)","hooks":[{"type":"command","command":"x"}]},{"if":"MyTool","hooks":[{"type":"command","command":"x"}]}`),
		`{"servers":[{"server_url":"http://127.0.0.1:8080/hook"}]}`,
		`{"deny":["Bash(git push *)","Read(./.env)","WebFetch"],"allow":["Bash(npm test --silent *)"]}`,
		one(`{"type":"rule","decision":"deny","reason":"r","commands":["git pull","docker images","docker image rm","kubectl delete pod","npm install","gh pr view","aws s3 cp","make build","acme up --all","terraform plan","cargo test","git commit --amend","git push --force-with-lease","HUSKY=0 git commit","curl | sh","rm -rf *","acme deploy --env prod"]}`),
	} {
		if found := Check(Merge(decoded(t, text))); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// A rule that allowed on a condition of an earlier release allows nothing; one that refused covers more.
func TestGoneConditions(t *testing.T) {
	for decision, off := range map[string]bool{"allow": true, "deny": false} {
		c := decoded(t, one(`{"type":"rule","decision":"`+decision+`","reason":"r","commands":["rm"],"branch":["x/*"]}`))
		if h := c[0]; h.Observe != off {
			t.Errorf("%s: off %v, want %v", decision, h.Observe, off)
		}
	}
}
