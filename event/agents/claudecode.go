package agents

// claudeCode holds the names that Claude Code uses, into which all other
// agents' are translated.
var claudeCode = Agent{
	Name:     "claude-code",
	Aliases:  []string{"claude", "claude-code-cli"},
	Measured: "2.1.330",
	HomeVar:  "CLAUDE_CONFIG_DIR",
	Home:     ".claude",
	Fields: []Member{
		{Path: "model.id", Is: "model"},
		{Path: "trigger", Is: "source"},
		{Path: "action", Is: "reason"},
	},
}
