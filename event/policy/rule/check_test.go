package rule

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string // "" for none
	}{
		{Rule{Conditions: Conditions{Commands: []string{"git push", "curl | sh"}, Regex: []string{"^rm"}, Paths: []string{"*.pem", "~/x/{a,b}"}}}, ""},
		{Rule{Conditions: Conditions{Commands: []string{"rm; ls"}}}, "more than one command"},
		{Rule{Conditions: Conditions{Commands: []string{"rm 'x"}}}, "cannot be read"},
		{Rule{Conditions: Conditions{Commands: []string{"rm $X"}}}, "not a command"},
		{Rule{Conditions: Conditions{Commands: []string{" "}}}, "empty"},
		{Rule{Conditions: Conditions{Regex: []string{"(?!x)"}}}, "invalid"},
		{Rule{Conditions: Conditions{Paths: []string{"[a"}}}, "pattern"},
		{Rule{Unless: &Conditions{Words: []string{""}}}, "empty"},
		{Rule{Allow: true, Conditions: Conditions{Commands: []string{"go test", "git log", "ls", "sudo apt update"}}}, ""},
	} {
		list := c.rule.Check()
		if c.rule.Unless != nil {
			list = append(list, c.rule.Unless.Check()...)
		}
		switch {
		case c.want == "" && len(list) > 0, c.want != "" && (len(list) != 1 || !strings.Contains(list[0].What, c.want)):
			t.Errorf("%+v: %+v", c.rule, list)
		}
	}
}
