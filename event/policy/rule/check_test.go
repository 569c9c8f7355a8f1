package rule

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		rule  Rule
		want  string // "" for none
		doubt bool
	}{
		{Rule{Conditions: Conditions{Commands: []string{"git push", "curl | sh"}, Regex: []string{"^rm"}, Paths: []string{"*.pem", "~/x/{a,b}"}}}, "", false},
		{Rule{Conditions: Conditions{Commands: []string{"rm; ls"}}}, "more than one command", false},
		{Rule{Conditions: Conditions{Commands: []string{"rm 'x"}}}, "cannot be read", false},
		{Rule{Conditions: Conditions{Commands: []string{"rm $X"}}}, "not a command", false},
		{Rule{Conditions: Conditions{Commands: []string{" "}}}, "empty", false},
		{Rule{Conditions: Conditions{Regex: []string{"(?!x)"}}}, "invalid", false},
		{Rule{Conditions: Conditions{Paths: []string{"[a"}}}, "pattern", false},
		{Rule{Unless: &Conditions{Words: []string{""}}}, "empty", false},
		{Rule{Allow: true, Conditions: Conditions{Commands: []string{"go test", "git log", "ls", "sudo apt update"}}}, "", false},
	} {
		list := c.rule.Check()
		switch {
		case c.want == "" && len(list) > 0, c.want != "" && (len(list) != 1 || !strings.Contains(list[0].What, c.want) || list[0].Doubt != c.doubt):
			t.Errorf("%+v: %+v", c.rule, list)
		}
	}
}
