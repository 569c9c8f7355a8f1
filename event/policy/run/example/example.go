// Package example holds small policy servers of protocol 1.0 to start from. Each is a complete
// program that needs nothing but its language, and all of them make the same decisions.
package example

import _ "embed" // the programs

var (
	//go:embed policy.py
	python string
	//go:embed policy.js
	node string
)

// Texts are the programs by their languages.
var Texts = map[string]string{"python": python, "node": node}
