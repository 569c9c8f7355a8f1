package config

import (
	"encoding/json"

	"beckon/event/policy/rule"
)

// text is a text that is not blank.
type text string

// texts is one text or a list of them.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(t))
	}
	*t = texts{""}
	return json.Unmarshal(b, &(*t)[0])
}

// file is a policy file as written.
type file struct {
	Schema     string             `json:"$schema"`
	Convention string             `json:"convention" one:"client simple"`
	Observe    bool               `json:"observe"`
	AllowOnce  bool               `json:"allow_once"`
	Deny       []text             `json:"deny"` // in the client's own words, like Bash(git push *)
	Ask        []text             `json:"ask"`
	Allow      []text             `json:"allow"`
	Packs      []string           `json:"packs"`
	Hooks      map[string][]group `json:"hooks"`
	Servers    []handler          `json:"servers" as:"server_entry"`
	handler                       // for a file that is itself one server
}

// group is one entry of an event: a matcher with its hooks.
type group struct {
	Matcher string    `json:"matcher"`
	If      text      `json:"if"`
	Hooks   []handler `json:"hooks"`
}

// handler is a hook, or a server of many events, as written. See document.read for the tags.
type handler struct {
	Type      string   `json:"type" in:"hook"`
	ID        text     `json:"id" in:"hook server_entry"`
	Enabled   *bool    `json:"enabled" in:"hook server_entry"`
	Observe   bool     `json:"observe" in:"hook server_entry"`
	If        text     `json:"if" in:"hook"`
	Status    string   `json:"statusMessage" in:"hook"`
	Timeout   any      `json:"timeout" in:"started"`
	TimeoutMS *float64 `json:"timeout_ms" in:"started server_entry file"`
	Fail      string   `json:"fail" in:"started" one:"open closed"`
	OnFailure string   `json:"onFailure" in:"started" one:"block allow"` // the client's word for fail
	Grant     bool     `json:"grant" in:"server prompt server_entry"`

	Command text     `json:"command" in:"command"`
	Args    []string `json:"args" in:"command"`
	Shell   string   `json:"shell" in:"command" one:"bash powershell"`

	URL            text              `json:"url" in:"http"`
	ServerURL      text              `json:"server_url" in:"server server_entry file"`
	Retries        *float64          `json:"retry_count" in:"server server_entry file" max:"20"`
	RetryDelay     *float64          `json:"retry_delay_ms" in:"server server_entry file" max:"25000"`
	FailOpen       *bool             `json:"fail_open" in:"server server_entry file"`
	Headers        map[string]string `json:"headers" in:"http server server_entry file"`
	AllowedEnvVars texts             `json:"allowedEnvVars" in:"http"`
	Events         []string          `json:"events" in:"server_entry file"`
	Matcher        string            `json:"matcher" in:"server_entry"`

	Prompt text `json:"prompt" in:"prompt"`
	Model  text `json:"model" in:"prompt"`

	Decision string `json:"decision" in:"rule" one:"deny ask warn allow"`
	Reason   text   `json:"reason" in:"rule"`
	Tool     string `json:"tool" in:"rule"`
	Match    texts  `json:"match" in:"rule"` // examples: see rule.Example
	NotMatch texts  `json:"not_match" in:"rule"`
	conditions
	Unless *conditions `json:"unless" in:"rule" as:"rule"`
}

// conditions are those of a rule and of its exception.
type conditions struct {
	Commands texts `json:"commands" in:"rule"`
	Regex    texts `json:"regex" in:"rule"`
	Paths    texts `json:"paths" in:"rule"`
	Words    texts `json:"words" in:"rule"`
}

func (c conditions) parsed() rule.Conditions {
	return rule.Conditions{Commands: c.Commands, Regex: c.Regex, Paths: c.Paths, Words: c.Words}
}

// needs is the member that a hook of each type must have.
var needs = map[Type]string{
	Command: "command",
	Server:  "server_url",
	HTTP:    "url",
	Prompt:  "prompt",
	BuiltIn: "decision",
}

// foreignTypes are the client's types that only the client can run.
var foreignTypes = map[string]string{
	"mcp_tool": "a command or a server can do the same",
	"agent":    "a prompt, or a command that runs an agent, can do the same",
}
