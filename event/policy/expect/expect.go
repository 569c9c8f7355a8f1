// Package expect parses policy tests: calls, and the decision that a policy should make on
// each.
//
// A test file is a txtar archive, named *.policytest.txtar. Its file "cases" has one call per
// line, in the form DECISION TOOL INPUT:
//
//	deny  Bash   git push --force
//	pass  Bash   git push
//	deny  Read   config/server.pem
//	ask   Bash   "make build\nmake deploy"
//	pass  Grep   {"pattern": "key", "path": "src"}
//	pass  UserPromptSubmit  add a test
//
// DECISION is deny, ask, allow, warn or pass (no decision). INPUT is the call's command, file,
// URL or pattern as it is, a quoted Go string, or the whole tool_input as a JSON object.
// Instead of TOOL the line may name an event, whose prompt INPUT is. Empty lines and lines
// that begin with # are comments. A file "policy.json" in the archive is the policy under
// test; without one it is the policy in force.
package expect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"beckon/event"

	"github.com/rogpeppe/go-internal/txtar"
)

// Suffix ends the name of a test file.
const Suffix = ".policytest.txtar"

// Decisions are the words that a case may expect.
var Decisions = []string{"deny", "ask", "allow", "warn", "pass"}

// File is a parsed test file.
type File struct {
	Policy []byte // the policy under test, nil for the one in force
	Cases  []Case
}

// Case is one call and what is expected of it.
type Case struct {
	Line     int // in the file
	Decision string
	Kind     event.Kind
	Payload  json.RawMessage // as the hook gets it
	Text     string          // the tool and its input, as written
}

// Parse parses a test file. The error names the line. Calls are made in cwd.
func Parse(data []byte, cwd string) (File, error) {
	var f File
	archive := txtar.Parse(data)
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "cases" })
	if at < 0 {
		return f, errors.New(`line 1: no file "-- cases --" in the archive`)
	}
	for _, part := range archive.Files {
		if part.Name == "policy.json" {
			f.Policy = part.Data
		}
	}
	line := 0
	for text := range strings.Lines(string(data)) {
		if line++; strings.TrimSpace(text) == "-- cases --" {
			break
		}
	}
	for text := range strings.Lines(string(archive.Files[at].Data)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		c, err := parseCase(text, cwd)
		if err != nil {
			return f, fmt.Errorf("line %d: %w", line, err)
		}
		c.Line = line
		f.Cases = append(f.Cases, c)
	}
	if len(f.Cases) == 0 {
		return f, fmt.Errorf("line %d: no cases", line)
	}
	return f, nil
}

func parseCase(text, cwd string) (Case, error) {
	decision, rest := word(text)
	tool, input := word(rest)
	c := Case{Decision: decision, Text: strings.TrimSpace(tool + ": " + input)}
	if !slices.Contains(Decisions, decision) {
		return c, fmt.Errorf("%q is not a decision (one of %s)", decision, strings.Join(Decisions, ", "))
	}
	if tool == "" || input == "" {
		return c, fmt.Errorf("a case is DECISION TOOL INPUT, as in: deny Bash git push --force")
	}
	if input[0] == '"' {
		s, err := strconv.Unquote(input)
		if err != nil {
			return c, fmt.Errorf("the quoted input %s: %w", input, err)
		}
		input = s
	}
	payload := map[string]any{"session_id": "policytest", "cwd": cwd}
	if c.Kind = event.ByName(tool); c.Kind != event.Unknown {
		payload["prompt"] = input
	} else {
		c.Kind = event.PreToolUse
		payload["tool_name"], payload["tool_use_id"] = tool, "policytest"
		if input[0] == '{' {
			if !json.Valid([]byte(input)) {
				return c, fmt.Errorf("the input %s is not valid JSON", input)
			}
			payload["tool_input"] = json.RawMessage(input)
		} else {
			payload["tool_input"] = map[string]string{member(tool): input}
		}
	}
	payload["hook_event_name"] = string(c.Kind)
	var err error
	c.Payload, err = json.Marshal(payload)
	return c, err
}

func word(s string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	return first, strings.TrimSpace(rest)
}

// member returns the member of a tool's input that a case contains as it is.
func member(tool string) string {
	switch tool {
	case "Bash", "PowerShell", "Monitor":
		return "command"
	case "NotebookEdit":
		return "notebook_path"
	case "WebFetch":
		return "url"
	case "WebSearch":
		return "query"
	case "Grep", "Glob":
		return "pattern"
	case "Agent", "Task":
		return "prompt"
	case "Skill":
		return "skill"
	}
	return "file_path"
}
