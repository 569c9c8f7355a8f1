// Package example holds small policy servers of protocol 1.0, to start one's
// own from. Each is a whole program that needs nothing but its language, and
// all of them decide alike.
package example

import (
	_ "embed" // the programs
	"fmt"
	"slices"
	"strings"
)

var (
	//go:embed policy.py
	python string
	//go:embed policy.js
	node string
)

var texts = map[string]string{"python": python, "node": node}

// Languages returns the names that Text knows, sorted.
func Languages() []string {
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Text returns the program in a language.
//
// Errors: a language that is not one of Languages.
func Text(language string) (string, error) {
	if text, ok := texts[language]; ok {
		return text, nil
	}
	return "", fmt.Errorf("there is no example in %q but in %s", language, strings.Join(Languages(), ", "))
}
