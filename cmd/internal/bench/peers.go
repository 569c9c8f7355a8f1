package main

import (
	"embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The stand-ins are what people write for the same work today, written anew
// for this benchmark: read the payload, lock, read the session's state, change
// it, replace its file; or tell a server.
//
//go:embed peers
var peerFiles embed.FS

const empty = "int main(void) { return 0; }\n"

// peers returns the hook and its alternatives. What is not installed is left out.
func peers(p tools) (series, error) {
	s := series{title: "one tool event, 0.5 KB"}
	payload, err := p.file("small.json", toolEvent("s", "npm test"))
	if err != nil {
		return s, err
	}
	s.subjects = append(s.subjects, p.helloWorld(payload))
	if path, ok := p.empty(); ok {
		s.subjects = append(s.subjects, subject{name: "C, static, does nothing", path: path, payload: payload})
	}
	s.subjects = append(s.subjects, p.hooked("**beckon-hook**", "peer", payload))
	starts, err := p.starts("**beckon-hook**")
	if err != nil {
		return s, err
	}
	s.subjects = append(s.subjects, starts...)
	scripts, err := p.scripts(payload)
	s.subjects = append(s.subjects, scripts...)
	s.note = "The scripts are in cmd/internal/bench/peers" + versions(scripts)
	return s, err
}

// starts returns the events for which the hook, called name, reads more than the payload.
func (p tools) starts(name string) ([]subject, error) {
	again, err := p.file("start.json", `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"resume"}`)
	if err != nil {
		return nil, err
	}
	first, err := p.file("first.json", `{"session_id":"first","cwd":"/","hook_event_name":"SessionStart","source":"startup"}`)
	known, fresh := p.hooked(name+", SessionStart", "peer", again), p.hooked(name+", first event of a session", "peer", first)
	state := p.state("peer")
	fresh.before = func() error {
		return removeAll(filepath.Join(state, "sessions", "first.json"), filepath.Join(state, "journal", "first.jsonl"), filepath.Join(state, "locks", "first.lock"))
	}
	return []subject{known, fresh}, err
}

// empty builds the smallest program.
func (p tools) empty() (path string, ok bool) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", false
	}
	src, err := p.file("empty.c", empty)
	if err != nil {
		return "", false
	}
	path = filepath.Join(p.dir, "empty")
	return path, exec.Command(cc, "-O2", "-static", "-o", path, src).Run() == nil
}

// interpreters returns the programs that the stand-ins need. A version manager's shim is
// skipped: it is a script that looks for the real one.
func interpreters() map[string]string {
	found := map[string]string{}
	for _, name := range []string{"bash", "jq", "flock", "curl", "node", "python3"} {
		for _, dir := range append([]string{"/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"}, filepath.SplitList(os.Getenv("PATH"))...) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && found[name] == "" {
				found[name] = path
			}
		}
	}
	return found
}

func (p tools) scripts(payload string) ([]subject, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	})) // ends with this program
	has := interpreters()
	var out []subject
	for _, s := range []struct{ name, run, file, needs string }{
		{"bash + jq, state in a file", "bash", "jq.sh", "jq flock"},
		{"python3, state in a file", "python3", "state.py", ""},
		{"node, state in a file", "node", "state.js", ""},
		{"bash + python3 + curl to a local server", "bash", "post.sh", "python3 curl"},
	} {
		script, err := peerFiles.ReadFile("peers/" + s.file)
		if err != nil {
			return nil, err
		}
		path, err := p.file(s.file, string(script))
		if err != nil {
			return nil, err
		}
		state := p.state(s.file) // one each: they lock in their own ways
		if err := os.MkdirAll(state, 0o700); err != nil {
			return nil, err
		}
		env := []string{"PATH=/usr/bin:/bin:/usr/local/bin", "HOME=" + p.dir, "STATE_DIR=" + state, "SERVER=" + server.URL, "PYTHON=" + has["python3"]}
		missing := has[s.run] == ""
		for _, n := range strings.Fields(s.needs) {
			missing = missing || has[n] == ""
		}
		if !missing {
			out = append(out, subject{name: s.name, path: has[s.run], args: []string{path}, env: env, payload: payload})
		}
	}
	return out, nil
}

// versions returns which interpreters ran; how fast one starts depends on it.
func versions(scripts []subject) string {
	if len(scripts) == 0 {
		return "."
	}
	var said []string
	for _, name := range []string{"bash", "jq", "python3", "node", "curl"} {
		out, err := exec.Command(interpreters()[name], "--version").Output()
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if err == nil {
			said = append(said, version(name, first))
		}
	}
	return fmt.Sprintf("; here they ran with %s.", strings.Join(said, ", "))
}

// version shortens a program's output to name and version.
func version(name, said string) string {
	for _, word := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" ,()-v", r) }) {
		if word[0] >= '0' && word[0] <= '9' {
			return name + " " + word
		}
	}
	return name
}
