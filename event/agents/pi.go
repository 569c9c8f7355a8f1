package agents

// pi holds the names that pi 0.73.1 uses for its tools. Its events come from beckon's own
// extension, under Claude Code's names. It asks for no permissions.
var pi = Agent{
	Name:     "pi",
	Aliases:  []string{"pi-coding-agent"},
	Measured: "0.73.1",
	Package:  "@mariozechner/pi-coding-agent",
	Events:   []Event{{Name: "Interrupt", Means: "Stop", Says: Interrupted}},
	HomeVar:  "PI_CODING_AGENT_DIR",
	Home:     ".pi/agent",
	Install:  Install{Program: "pi", Title: "pi", File: "extensions/beckon.js", Shape: Plugin},
	Tools: []Called{
		{Name: "read", Means: "Read", Inputs: pathInput},
		{Name: "write", Means: "Write", Inputs: pathInput},
		{Name: "edit", Means: "Edit", Inputs: pathInput},
		{Name: "find", Means: "Glob"},
	},
	Answers: []Answer{
		{Means: "PreToolUse", Says: pluginBefore},
		{Means: "PostToolUse", Says: pluginAfter},
	},
}

var pathInput = []string{"path", "file_path"}
