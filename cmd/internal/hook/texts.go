package hook

import (
	"path/filepath"

	"beckon/event/jsonc"
	"beckon/state/store"
)

// configFile returns the path of the user's configuration, empty when there is
// no home. It is config.Path, which the hook cannot link; a test holds them
// equal.
func configFile(getenv func(string) string) string {
	if d := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "beckon", "config.json")
	}
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, ".config", "beckon", "config.json")
}

// Texts returns how much is to be kept of what is said. A configuration that
// cannot be read might say "none", so none is kept until it can be; `beckon
// config` names the place. Without a configuration all is kept.
func Texts(getenv func(string) string) store.Texts {
	path := configFile(getenv)
	if path == "" {
		return store.TextsFull
	}
	values, err := jsonc.Get(path, "texts")
	if err != nil {
		return store.TextsOff
	}
	switch t := store.Texts(values[0].Str); {
	case !values[0].Exists(), t == store.TextsFull:
		return store.TextsFull
	case t == store.TextsShort:
		return t
	}
	return store.TextsOff
}
