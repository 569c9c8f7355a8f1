// Package config reads beckon's own configuration, config.json in $XDG_CONFIG_HOME/beckon:
// JSON with comments and trailing commas. An unknown key or a value of the wrong type is an
// error that names the place, so that a misspelt setting is never silently ignored; the other
// settings still count.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"beckon/event/plainfile"
	"beckon/event/typed"
	"beckon/render/hosts"
	"beckon/render/jump"
	"beckon/render/term"
	"beckon/state"
	"beckon/state/alert"

	"github.com/tailscale/hujson"
)

// Config holds the effective values.
type Config struct {
	Color string // "auto", "always" or "never"
	Texts string // "full" or "off"
	Queue string // a render.Mode: the order of jump next and prev
	// PermissionFirst is "true" or "false": permission and question come first
	// in the fair and prio queues.
	PermissionFirst string
	Statusline      string         // the status line's template
	Band            string         // "true" or "false": the mod shows above the prompt which other sessions need you
	Alert           alert.Settings // most keys that begin with notify
	Reach           alert.Reach
	Hosts           []string // machines that --fleet asks by ssh
	JumpBy          []string // how to go to sessions of other machines: jump.ParseWay
	FleetTexts      string   // how much text about sessions beckon fleet link publishes: a fleet.Level
}

// Default returns the values in force without a file.
func Default() Config {
	return Config{
		Color:           "auto",
		Texts:           "full",
		Queue:           "fair",
		PermissionFirst: "true",
		Statusline:      term.DefaultStatus,
		Band:            "true",
		FleetTexts:      "short",
		Alert:           alert.Defaults(),
		Reach:           alert.Reach{Actions: "false", Texts: alert.TextsTool},
	}
}

// key is one setting. The manual says what each is for.
type key struct {
	Name   string
	OneOf  []string           // the allowed values, of each item for a list; nil for any
	field  func(*Config) any  // a pointer to one of the types that assign handles
	gone   string             // a value of an earlier release: it is accepted
	check  func(string) error // checks a text beyond OneOf; nil for no check
	secret bool               // its value is not printed, unless it names a file
	Old    bool               // a key of an earlier release: it is read, and listed only where it is set
	Hint   string             // the right form, where OneOf does not show it
}

const (
	addressHint = "an address looks like https://ntfy.example.org"
	topicHint   = "a topic is at most 64 letters, digits, - and _; nobody else should be able to guess it"
	jumpHint    = `"pod-*=kubectl exec -it {host} -- beckon jump {session}"`
)

var (
	yesOrNo     = []string{"true", "false"}
	queues      = []string{"fair", "prio", "static", "grouped", "labels"}
	alertKinds  = append(texts(state.AlertKinds[:]), Limit)
	notifyTexts = []string{alert.TextsTool, alert.TextsFull}
)

// checkOf makes a check of a parser.
func checkOf[T any](parse func(string) (T, error)) func(string) error {
	return func(s string) error { _, err := parse(s); return err }
}

// Keys is the table of all settings, in the order they are printed.
var Keys = []key{
	{Name: "texts", OneOf: []string{"full", "off"}, field: func(c *Config) any { return &c.Texts }},
	{Name: "queue", OneOf: queues, field: func(c *Config) any { return &c.Queue }},
	{Name: "statusline", Hint: "beckon help display describes templates", check: checkOf(term.ParseStatusFormat),
		field: func(c *Config) any { return &c.Statusline }},
	{Name: "hosts", check: checkOf(hosts.Parse), field: func(c *Config) any { return &c.Hosts }},
	{Name: "jump_by", Hint: jumpHint, check: checkOf(jump.ParseWay), field: func(c *Config) any { return &c.JumpBy }},
	{Name: "fleet_texts", OneOf: []string{"off", "short", "full"}, field: func(c *Config) any { return &c.FleetTexts }},
	{Name: "notify", OneOf: alert.Channels, gone: alert.NoChannel,
		field: func(c *Config) any { return &c.Alert.Channels }},
	{Name: "notify_on", OneOf: alertKinds, field: func(c *Config) any { return &c.Alert.On }},
	{Name: "notify_done_after", field: func(c *Config) any { return &c.Alert.DoneAfter }},
	{Name: "notify_again", field: func(c *Config) any { return &c.Alert.Again }},
	{Name: "notify_quiet_hours", Hint: `they look like "22:00-07:30"`, check: alert.CheckHours,
		field: func(c *Config) any { return &c.Alert.Quiet }},
	{Name: "notify_command", field: func(c *Config) any { return &c.Alert.Command }},
	{Name: "notify_actions", OneOf: yesOrNo, field: func(c *Config) any { return &c.Reach.Actions }},
	{Name: "notify_texts", OneOf: notifyTexts, field: func(c *Config) any { return &c.Reach.Texts }},
	{Name: "ntfy_topic", Hint: topicHint, check: alert.CheckSubscribed,
		field: func(c *Config) any { return &c.Reach.Topic }},
	{Name: "ntfy_answers", Hint: topicHint, check: alert.CheckTopic,
		field: func(c *Config) any { return &c.Reach.Answers }},
	{Name: "ntfy_token", secret: true, field: func(c *Config) any { return &c.Reach.Token }},
	{Name: "ntfy_page", Hint: addressHint, check: alert.CheckServer,
		field: func(c *Config) any { return &c.Reach.Page }},
	{Name: "answer_wait", field: func(c *Config) any { return &c.Alert.Wait }},

	{Name: "color", Old: true, OneOf: []string{"auto", "always", "never"},
		field: func(c *Config) any { return &c.Color }},
	{Name: "band", Old: true, OneOf: yesOrNo, field: func(c *Config) any { return &c.Band }},
	{Name: "permission_first", Old: true, OneOf: yesOrNo, field: func(c *Config) any { return &c.PermissionFirst }},
}

// Limit is the kind of notification of a usage limit. No session has a state of this name.
const Limit = "limit"

// Usage reports whether the user wants to know when a usage limit is nearly reached.
func (c *Config) Usage() bool { return slices.Contains(c.Alert.On, Limit) }

// Value returns the key's value in c, as people read it.
func (k key) Value(c Config) string {
	v := show(k.field(&c))
	if k.secret && v != "" && !strings.ContainsAny(v[:1], "~/") {
		return "(set)"
	}
	return v
}

// Load reads the file at path over the defaults and returns the names of the keys that it
// sets. A missing file sets none, and so does the path "", without a home. The error joins all
// errors in the file, with advice; correct keys are in the result nevertheless.
func Load(path string) (Config, []string, error) {
	c := Default()
	data, err := plainfile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, fmt.Errorf("reading configuration: %w", err)
	}
	set, err := c.decode(path, data)
	return c, set, err
}

// gone are keys of earlier versions: a file may have them, and they mean nothing.
var gone = []string{"answer_subagents", "answers_from_fleet", "notify_limit", "notify_sound", "notify_terminal",
	"notify_usage", "ntfy_server", "pins", "project_colors"}

func (c *Config) decode(path string, data []byte) (set []string, err error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil, nil
	}
	line := 1
	problem := func(advice, format string, args ...any) error {
		return typed.Advise(fmt.Errorf("%s:%d: "+format, slices.Concat([]any{path, line}, args)...), advice)
	}
	v, err := hujson.Parse(data)
	if err != nil {
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d", &line)
		_, what, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
		return nil, problem("comments and trailing commas are allowed", "not JSON: %s", what)
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, problem(`the file looks like {"color": "never"}`, "not an object")
	}
	var wrong []error
	var names []string
	for _, k := range Keys {
		names = append(names, k.Name)
	}
	for _, m := range object.Members {
		name := m.Name.Value.(hujson.Literal).String()
		line = 1 + strings.Count(string(data[:m.Name.StartOffset]), "\n")
		i := slices.Index(names, name)
		switch {
		case slices.Contains(gone, name):
		case i < 0:
			near := cmp.Or(typed.DidYouMean(name, names), "beckon config lists the keys")
			wrong = append(wrong, problem(near, "unknown key %q", name))
		case slices.Contains(set, name):
			wrong = append(wrong, problem("the first one counts", "key %q is set twice", name))
		default:
			if what, advice := Keys[i].assign(c, m.Value); what != "" {
				wrong = append(wrong, problem(advice, "key %q: %s", name, what))
			} else {
				set = append(set, name)
			}
		}
	}
	return set, errors.Join(wrong...)
}
