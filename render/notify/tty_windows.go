package notify

// toTerminal is of no use here: no other process's terminal can be opened.
const toTerminal = 0
