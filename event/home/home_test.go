package home

import (
	"path/filepath"
	"testing"
)

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "beckon", "config.json")
	below := filepath.Join(dir, ".config", "beckon", "config.json")
	for _, c := range []struct {
		want string
		env  map[string]string
	}{
		{in, map[string]string{"XDG_CONFIG_HOME": dir, "HOME": "/elsewhere"}},
		{below, map[string]string{"XDG_CONFIG_HOME": "relative", "HOME": dir}},
		{below, map[string]string{"USERPROFILE": dir}},
		{"", map[string]string{"HOME": "relative"}},
		{"", nil},
	} {
		if got := Config(func(k string) string { return c.env[k] }, "config.json"); got != c.want {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}
