package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/config"
)

type configCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c *configCmd) Run(a *app) error {
	path, err := config.Path(a.getenv)
	if err != nil {
		return err
	}
	cfg, set, err := config.Load(path)
	if err != nil {
		return err
	}
	type entry struct {
		Value string `json:"value"`
		From  string `json:"from"`
	}
	values := map[string]entry{}
	for _, k := range config.Keys {
		from := "default"
		if slices.Contains(set, k.Name) {
			from = path
		}
		values[k.Name] = entry{k.Value(cfg), from}
	}
	values["state_dir"] = entry{a.st.Dir, a.stateDirFrom()}
	if c.JSON {
		return writeJSON(a.stdout, values)
	}
	for _, name := range append([]string{"state_dir"}, names()...) {
		fmt.Fprintf(a.stdout, "%-18s %-8s  # %s\n", name, cmp.Or(strings.ReplaceAll(values[name].Value, "\n", `\n`), "-"), values[name].From)
	}
	return nil
}

func names() []string {
	var out []string
	for _, k := range config.Keys {
		out = append(out, k.Name)
	}
	return out
}

func (a *app) stateDirFrom() string {
	for _, name := range []string{"BECKON_STATE_DIR", "XDG_STATE_HOME"} {
		if a.getenv(name) != "" {
			return "environment " + name
		}
	}
	return "default"
}

// colorChoice returns the choice of a flag, else the configured one.
func (a *app) colorChoice(flag string) (string, error) {
	cfg, err := a.configured()
	if err != nil || flag == "" {
		return cfg.Color, err
	}
	return flag, nil
}

// configured returns the configuration in force.
func (a *app) configured() (config.Config, error) {
	path, err := config.Path(a.getenv)
	if err != nil {
		return config.Default(), nil // no home, no file
	}
	cfg, _, err := config.Load(path)
	return cfg, err
}
