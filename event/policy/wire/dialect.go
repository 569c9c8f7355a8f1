package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/agents"

	"github.com/tidwall/gjson"
)

// Dialect is one agent's names of events, and the answers that it understands. The zero one is Claude Code's.
type Dialect struct{ agent *agents.Agent }

// DialectOf returns the dialect of an agent; ok is false for one that accepts no answers.
func DialectOf(agent string) (d Dialect, ok bool) {
	a := event.AgentOf(agent)
	switch {
	case a == nil:
		return Dialect{}, false
	case a.Name == event.ClaudeCode:
		return Dialect{}, true
	}
	return Dialect{a}, len(a.Answers) > 0
}

// Native reports whether it is Claude Code's.
func (d Dialect) Native() bool { return d.agent == nil }

// Name returns the agent's name.
func (d Dialect) Name() string {
	if d.Native() {
		return event.ClaudeCode
	}
	return d.agent.Name
}

// RulesOf returns the answers that a hook may give at that event.
func (d Dialect) RulesOf(k event.Kind) Rules {
	r := RulesOf(k)
	if d.Native() {
		return r
	}
	a := d.agent.AnswerTo(string(k))
	if a == nil {
		return Rules{Kind: k, Tool: r.Tool}
	}
	if !a.Hears(agents.Deny) || r.Refuse == ByExit || r.Refuse == ByAction {
		r.Refuse = NoWay
	}
	r.Ask, r.Allow, r.Rewrite = a.Hears(agents.Ask), a.Hears(agents.Allow), a.Hears(agents.Rewrite)
	r.Context, r.System, r.Halt = a.Hears(agents.Context), a.Hears(agents.System), a.Hears(agents.Halt)
	r.Terminal, r.Extra = false, nil
	return r
}

// Payload translates an event to Claude Code's format: e is the parsed event, raw the agent's payload. Members
// without a name there stay as they are.
func (d Dialect) Payload(e *event.Event, raw []byte) ([]byte, error) {
	if d.Native() {
		return raw, nil
	}
	given := gjson.ParseBytes(raw)
	out := inputOf(given)
	if !given.IsObject() || out == nil {
		return nil, errors.New("the payload is not an object")
	}
	named := d.members(given)
	const kept = "cwd transcript_path permission_mode prompt last_assistant_message source reason tool_use_id"
	for name := range strings.FieldsSeq(kept) {
		if v := named.Text(name); v.Exists() {
			out[name] = json.RawMessage(v.Raw)
		}
	}
	delete(out, ToolNames)
	for name, text := range map[string]string{
		"agent":           d.agent.Name,
		"hook_event_name": string(e.Kind),
		"session_id":      e.SessionID,
		"agent_id":        e.AgentID,
	} {
		if text != "" {
			out[name] = must(text)
		}
	}
	if tool := named.Text("tool_name"); tool.Exists() {
		d.call(tool.Str, given, out)
	}
	return Encode(out)
}

// members returns the members of a payload by Claude Code's names.
func (d Dialect) members(payload gjson.Result) event.Members {
	return event.MembersOf(d.Name(), payload)
}

// tool returns the row of one of the agent's tools; nil if it keeps its name.
func (d Dialect) tool(name string) *agents.Called {
	for i := range d.agent.Tools {
		if d.agent.Tools[i].Name == name {
			return &d.agent.Tools[i]
		}
	}
	for _, own := range strings.Fields(agents.Tools) {
		if event.SameName(own, name) && len(d.readings(name)) == 1 {
			return &agents.Called{Name: name, Means: own}
		}
	}
	return nil
}

// ToolNames is the member of a payload with all names of a tool, if there are several.
const ToolNames = "tool_names"

// readings returns what a name may mean: itself, and a tool of each server that it may begin with.
func (d Dialect) readings(name string) []string {
	list := []string{name}
	for at := 1; d.agent.Joint != "" && at < len(name); at++ {
		if tool, ok := strings.CutPrefix(name[at:], d.agent.Joint); ok && tool != "" {
			list = append(list, "mcp__"+name[:at]+"__"+tool)
		}
	}
	return list
}

// call translates the tool of a call, and the members of its input.
func (d Dialect) call(name string, given gjson.Result, out map[string]json.RawMessage) {
	said, row := d.members(given).Input(), d.tool(name)
	input := inputOf(said)
	if input == nil && said.Type == gjson.String && row != nil && row.Patch != "" {
		// the patch without an object around it
		input = map[string]json.RawMessage{row.Patch: must(said.Str)}
	}
	means := name
	server, tool := given.Get("mcp_context.server_name").Str, given.Get("mcp_context.tool_name").Str
	if server != "" && tool != "" {
		means = "mcp__" + server + "__" + tool
	}
	if row != nil {
		means = row.Means
		inputs(row, input, out)
	}
	if names := d.readings(means); row == nil && means == name && len(names) > 1 {
		out[ToolNames] = must(names)
	}
	out["tool_name"] = must(means)
	if input != nil {
		out["tool_input"] = must(input)
	}
}

// inputs translates the members of a tool's input. The agent ignores members that a model adds under Claude
// Code's names, so rules must not see them either.
func inputs(row *agents.Called, input, out map[string]json.RawMessage) {
	if input == nil {
		return
	}
	given := maps.Clone(input)
	for in := range slices.Chunk(row.Inputs, 2) {
		delete(input, in[1])
	}
	for in := range slices.Chunk(row.Inputs, 2) {
		name, means := in[0], in[1]
		v, there := given[name]
		switch {
		case !there:
		case means == agents.Workdir:
			if dir := gjson.ParseBytes(v).Str; filepath.IsAbs(dir) {
				out["cwd"] = must(filepath.Clean(dir))
			} else if dir != "" {
				out["cwd"] = must(filepath.Join(gjson.ParseBytes(out["cwd"]).Str, dir))
			}
		default:
			delete(input, name)
			input[means] = v
		}
	}
	if row.Patch != "" {
		input["file_path"] = must(agents.Patched(gjson.ParseBytes(input[row.Patch]).Str))
	}
	if list := gjson.ParseBytes(input[row.Files]); row.Files != "" && list.IsArray() {
		var files []string
		named := gjson.ParseBytes(input["file_path"]).Array()
		for _, v := range slices.Concat(named, list.Get("#.filePath").Array(), list.Get("#.movePath").Array()) {
			files = append(files, v.Str)
		}
		input["file_path"] = must(files)
	}
}

// inputOf returns the members of a call's input, even if it is written as a text; of those with one name the
// last, as in JavaScript. Nil for anything else.
func inputOf(v gjson.Result) map[string]json.RawMessage {
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	if !v.IsObject() || !gjson.Valid(v.Raw) {
		return nil
	}
	out := map[string]json.RawMessage{}
	v.ForEach(func(name, value gjson.Result) bool {
		out[name.Str] = json.RawMessage(value.Raw)
		return true
	})
	return out
}

// input returns a rewritten input with the agent's names.
func (d Dialect) input(payload, input []byte) ([]byte, error) {
	given := d.members(gjson.ParseBytes(payload))
	before, now := inputOf(given.Input()), inputOf(gjson.ParseBytes(input))
	if now == nil || before == nil {
		return nil, errors.New("the call has no input to rewrite")
	}
	row := d.tool(given.Text("tool_name").Str)
	if row == nil {
		return input, nil
	}
	if row.Patch != "" {
		delete(now, "file_path")
	}
	for in := range slices.Chunk(row.Inputs, 2) {
		name, means := in[0], in[1]
		v, there := now[means]
		if _, named := before[name]; named && there && means != agents.Workdir {
			delete(now, means)
			now[name] = v
		}
	}
	return Encode(now)
}

// Rewritten returns the agent's payload with the input that an answer sets, and all other bytes unchanged.
func (d Dialect) Rewritten(payload, input []byte) (_ []byte, err error) {
	old := d.members(gjson.ParseBytes(payload)).Input()
	if !d.Native() {
		input, err = d.input(payload, input)
	}
	if old.Index == 0 {
		err = cmp.Or(err, errors.New("the event has no tool_input"))
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat(payload[:old.Index], input, payload[old.Index+len(old.Raw):]), nil
}

// Types reports whether a call types into a running program.
func (d Dialect) Types(payload []byte) bool {
	if d.Native() {
		return false
	}
	row := d.tool(d.members(gjson.ParseBytes(payload)).Text("tool_name").Str)
	return row != nil && row.Types
}
