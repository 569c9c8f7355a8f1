package policies

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

// suffix ends the name of a test file: a txtar archive. Its file "cases" has one call per line, in the form
// DECISION TOOL INPUT. INPUT is the call's command, file, URL or pattern as it is, a quoted Go string, or the
// whole tool_input as a JSON object. Instead of TOOL the line may name an event, whose prompt INPUT is. A file
// "policy.json" in the archive is the policy under test; without one it is the policy in force.
const suffix = ".policytest.txtar"

// decisions are the words that a case may expect. pass is no decision.
var decisions = []string{"deny", "ask", "allow", "warn", "pass"}

// testCase is a call and what is expected of it. Its place is the line in the file.
type testCase struct {
	call
	decision string
	text     string // the tool and its input, as written
}

// parseCases parses a test file. Calls are made in cwd. policy is nil if the file has none. The
// error names the line.
func parseCases(data []byte, cwd string) (policy []byte, cases []testCase, err error) {
	files := map[string][]byte{}
	for _, part := range txtar.Parse(data).Files {
		files[part.Name] = part.Data
	}
	list, there := files["cases"]
	if !there {
		return nil, nil, errors.New(`line 1: no file "-- cases --" in the archive`)
	}
	before, _, _ := strings.Cut("\n"+string(data), "\n-- cases --")
	line := 1 + strings.Count(before, "\n")
	for text := range strings.Lines(string(list)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		c, err := parseCase(text, cwd)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		c.place = strconv.Itoa(line)
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, nil, fmt.Errorf("line %d: no cases", line)
	}
	return files["policy.json"], cases, nil
}

func parseCase(text, cwd string) (c testCase, err error) {
	decision, rest := word(text)
	tool, input := word(rest)
	c = testCase{decision: decision, text: tool + ": " + input, call: call{project: cwd}}
	if !slices.Contains(decisions, decision) {
		return c, fmt.Errorf("%q is not a decision (one of %s)", decision, strings.Join(decisions, ", "))
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
	members := map[string]any{"prompt": input}
	if c.kind = event.ByName(tool); c.kind == event.Unknown {
		c.kind = event.PreToolUse
		members = map[string]any{"tool_name": tool, "tool_use_id": "policytest"}
		members["tool_input"] = map[string]string{shownMember(tool): input}
		if strings.HasPrefix(input, "{") {
			members["tool_input"] = json.RawMessage(input)
		}
	}
	if c.payload, err = payloadOf(c.kind, "policytest", cwd, members); err != nil {
		return c, fmt.Errorf("the input %s is not valid JSON", input)
	}
	return c, nil
}

func word(s string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	return first, strings.TrimSpace(rest)
}
