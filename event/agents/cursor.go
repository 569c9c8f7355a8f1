package agents

// cursor is known as a program only, so that a shell of it counts as an agent's.
var cursor = Agent{
	Name:    "cursor",
	Aliases: []string{"cursor-agent", "cursor-cli"},
	Home:    ".cursor",
	Install: Install{Program: "cursor-agent", Title: "Cursor"},
}
