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

// setting is one value of the configuration and where it comes from.
type setting struct {
	Value string `json:"value"`
	From  string `json:"from"`
}

func (c *configCmd) Run(a *app) error {
	values, err := a.configValues()
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(a.stdout, values)
	}
	for _, name := range append([]string{"state_dir"}, names()...) {
		fmt.Fprintf(a.stdout, "%-18s %-8s  # %s\n", name, cmp.Or(strings.ReplaceAll(values[name].Value, "\n", `\n`), "-"), values[name].From)
	}
	return nil
}

// configValues returns what is in force.
func (a *app) configValues() (map[string]setting, error) {
	path, err := config.Path(a.getenv)
	if err != nil {
		return nil, err
	}
	cfg, set, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	values := map[string]setting{}
	for _, k := range config.Keys {
		from := "default"
		if slices.Contains(set, k.Name) {
			from = path
		}
		values[k.Name] = setting{k.Value(cfg), from}
	}
	values["state_dir"] = setting{a.st.Dir, a.stateDirFrom()}
	return values, nil
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

// colored is the flag of the commands that draw.
type colored struct {
	Color string `enum:",auto,always,never" default:"" placeholder:"WHEN" help:"auto, always or never (default: as configured)."`
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
