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
func policySubjects(dir string) ([]subject, error) {
	for _, program := range []string{"beckon", "beckon-judge"} {
		if _, err := build(dir, program, "beckon/cmd/"+program); err != nil {
			return nil, err
		}
	}
	hook := filepath.Join(dir, "beckon-hook") // hookSubjects built it
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"version":"1.0","decision":"allow"}`)
	})) // ends with this program
	var rules []string
	for i := range 5 {
		rules = append(rules, fmt.Sprintf(`{"type":"rule","decision":"deny","reason":"r","commands":["never-%d -rf"]}`, i))
	}
	group := func(event, hooks string) string { return `{"hooks":{"` + event + `":[{"hooks":[` + hooks + `]}]}}` }
	payload := filepath.Join(dir, "small.json")
	subjects := []subject{
		{name: "Go hello-world", path: filepath.Join(dir, "hello"), payload: payload},
	}
	for _, s := range []struct{ name, policy string }{
		{"no policy", ""},
		{"a policy that is silent on the event", group("Stop", `{"type":"rule","decision":"deny","reason":"r"}`)},
		{"5 rules", group("PreToolUse", strings.Join(rules, ","))},
		{"one command, /bin/true", group("PreToolUse", `{"type":"command","command":"/bin/true","args":[]}`)},
		{"one policy server on loopback", `{"server_url":"` + server.URL + `"}`},
	} {
		home := filepath.Join(dir, "home", strings.ReplaceAll(s.name, "/", "_"))
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
		subjects = append(subjects, subject{name: s.name, path: hook, args: []string{"PreToolUse"}, payload: payload,
			env:    []string{"HOME=" + home, "BECKON_STATE_DIR=" + state},
			before: func() error { return removeAll(filepath.Join(state, "policy", "claims")) }}) // else one call is run once
	}
	return subjects, nil
}
