package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/event/atomicfile"
	"beckon/event/plainfile"
	"beckon/event/policy/packs"
	"beckon/installer"

	"github.com/tailscale/hujson"
)

// proposed are the packs of rules that setup offers, and what each refuses.
var proposed = []struct{ pack, title string }{
	{"git", "rules: ask before git loses work; no forced push"},
	{"filesystem", "rules: ask before files outside the project go"},
	{"secrets", "rules: no reading of key files, no sending them"},
}

// ruleSteps returns a step for each pack of rules.
func ruleSteps(a *cli.App) (list []steps.Step) {
	path := answer.Sources(a.Getenv, a.Store.Dir).Global
	if path == "" {
		return nil
	}
	target := installer.Target{Scope: installer.User, Path: path, Keep: keepDir(a)}
	added, noted := addedPacks(a)
	have := packsIn(path)
	for _, p := range proposed {
		s := steps.Step{
			Name: p.pack, Title: p.title, On: slices.Contains(have, p.pack),
			Then: "in force from the next call on, in every project",
		}
		s.Fixed = s.On && !slices.Contains(added, p.pack) // the user wrote it
		s.Diff = func(on bool) (string, error) {
			c, err := installer.Plan(target, installer.Word("packs", p.pack, on, added))
			text := c.Diff()
			rules, _ := packs.Load(p.pack)
			for _, r := range rules {
				text += fmt.Sprintf("%-5s %s\n", r.Decision, r.Reason)
			}
			return text, err
		}
		s.Do = func(on bool) error {
			if on {
				added = append(added, p.pack)
				if err := noteAdded(noted, added); err != nil {
					return err
				}
			}
			_, err := installer.Apply(context.Background(), target, installer.Word("packs", p.pack, on, added))
			if err != nil || on {
				return err
			}
			added = slices.DeleteFunc(added, func(name string) bool { return name == p.pack })
			return noteAdded(noted, added)
		}
		list = append(list, s)
	}
	return list
}

// packsIn returns the packs that a policy file names. One that cannot be read names none: the step
// then says why.
func packsIn(path string) []string {
	var file struct {
		Packs []string `json:"packs"`
	}
	if data, err := plainfile.ReadFile(path); err == nil {
		if plain, err := hujson.Standardize(data); err == nil {
			_ = json.Unmarshal(plain, &file)
		}
	}
	return file.Packs
}

// addedPacks returns the packs that setup has put into the policy, and the file that lists them.
func addedPacks(a *cli.App) (names []string, file string) {
	file = filepath.Join(keepDir(a), "packs")
	data, _ := plainfile.ReadFile(file)
	return strings.Fields(string(data)), file
}

func noteAdded(file string, names []string) error {
	if len(names) == 0 {
		return os.Remove(file)
	}
	return atomicfile.Write(file, []byte(strings.Join(names, "\n")+"\n"), 0o600, true)
}
