// Package example holds small policy servers of protocol 1.0 to start from. Each is a complete
// program that needs nothing but its language, and all of them make the same decisions.
package example

import (
	_ "embed" // the programs
	"fmt"
)

var (
	//go:embed policy.py
	python string
	//go:embed policy.js
	node string
)

var texts = map[string]string{"python": python, "node": node}

// Text returns the program in a language, "node" or "python". Any other language is an error.
func Text(language string) (string, error) {
	if text, ok := texts[language]; ok {
		return text, nil
	}
	return "", fmt.Errorf("there is no example in %q but in node, python", language)
}
