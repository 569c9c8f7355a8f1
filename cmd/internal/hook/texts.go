package hook

import (
	"beckon/event/jsonc"
	"beckon/state/alert"
	"beckon/state/store"
)

// Texts returns how much is to be kept of what is said. A configuration that
// cannot be read might say "none", so none is kept until it can be; `beckon
// config` names the place. Without a configuration all is kept.
func Texts(getenv func(string) string) store.Texts {
	path := alert.ConfigPath(getenv)
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
