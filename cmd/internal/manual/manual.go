// Package manual holds beckon's manual, one Markdown page per topic, embedded in the program:
// `beckon help TOPIC` prints a page, and README.md links to it.
package manual

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Topics lists the pages by name, as `beckon help` takes it.
func Topics() (names []string) {
	files, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // embedded: cannot fail
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".md"))
	}
	return names
}

// Page returns the text of a topic, without the comments that only its tests read. The error
// is about an unknown topic.
func Page(name string) (string, error) {
	b, err := pages.ReadFile(name + ".md")
	if err != nil {
		return "", fmt.Errorf("no help on %q", name)
	}
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "<!-- ") {
			out.WriteString(line)
		}
	}
	return out.String(), nil
}
