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

// Topic is one page of the manual.
type Topic struct {
	Name  string // as `beckon help` takes it
	Title string // the page's first heading
}

// Topics lists the pages by name.
func Topics() []Topic {
	files, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // embedded: cannot fail
	}
	var list []Topic
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".md")
		text, _ := Page(name)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		list = append(list, Topic{Name: name, Title: title})
	}
	return list
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
