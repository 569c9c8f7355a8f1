package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// policySubjects returns a tool event with policies of growing cost. Each has its own home, so
// that one hook program serves all.
func policySubjects(p tools) ([]subject, error) {
	if err := buildOurs(p.dir, "beckon", "beckon-judge"); err != nil { // beside the hook
		return nil, err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"version":"1.0","decision":"allow"}`)
	})) // ends with this program
	var rules []string
	for i := range 5 {
		rules = append(rules, fmt.Sprintf(`{"type":"rule","decision":"deny","reason":"r","commands":["never-%d -rf"]}`, i))
	}
	group := func(event, hooks string) string { return `{"hooks":{"` + event + `":[{"hooks":[` + hooks + `]}]}}` }
	payload, err := p.file("small.json", toolEvent("s", "npm test"))
	if err != nil {
		return nil, err
	}
	subjects := []subject{p.helloWorld(payload)}
	for _, s := range []struct{ name, policy string }{
		{"no policy", ""},
		{"a policy that is silent on the event", group("Stop", `{"type":"rule","decision":"deny","reason":"r"}`)},
		{"5 rules", group("PreToolUse", strings.Join(rules, ","))},
		{"one command, /bin/true", group("PreToolUse", `{"type":"command","command":"/bin/true","args":[]}`)},
		{"one policy server on loopback", `{"server_url":"` + server.URL + `"}`},
	} {
		home := filepath.Join(p.dir, "home", strings.ReplaceAll(s.name, "/", "_"))
		config, state := filepath.Join(home, ".config", "beckon"), filepath.Join(home, "state")
		if err := os.MkdirAll(config, 0o700); err != nil {
			return nil, err
		}
		if s.policy != "" {
			file, earlier := filepath.Join(config, "policy.json"), time.Now().Add(-time.Hour) // the coverage of a file that was just written is not stored
			if err := errors.Join(os.WriteFile(file, []byte(s.policy), 0o600), os.Chtimes(file, earlier, earlier)); err != nil {
				return nil, err
			}
		}
		subjects = append(subjects, subject{name: s.name, path: p.hook, args: []string{"PreToolUse"}, payload: payload,
			env:    []string{"HOME=" + home, "BECKON_STATE_DIR=" + state},
			before: func() error { return removeAll(filepath.Join(state, "policy", "claims")) }}) // else one call is run once
	}
	return subjects, nil
}
