// Package rules turns rules that find secrets by regular expressions into the table of package
// redact, which has no regular expressions: programs that link them start too slowly for a
// hook.
//
// gitleaks.toml comes from github.com/gitleaks/gitleaks v8.30.1, unchanged; its licence is
// next to it. own.toml adds what it lacks.
package rules

import (
	_ "embed"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed gitleaks.toml
var gitleaks string

//go:embed own.toml
var own string

// Rule is one rule, as in the table.
type Rule struct {
	ID string
	// Regex is the regular expression, without what comes before a secret: it
	// begins where the secret's keyword or prefix does. The secret is Group.
	Regex   string
	Group   int     // 0 for all of it
	Named   bool    // it begins with a provider's name
	Entropy float64 // the secret must have more, in bits per character
	Digit   bool    // the secret has a digit
	Mark    string  // what replaces the secret

	parts []part // Regex around what named rules have in common
}

// part is a part of a rule, and the group in it that is the secret, or -1.
type part struct {
	source string
	group  int
}

// The parts of gitleaks' rules that are the same in most of them.
const (
	// terminator ends a secret in gitleaks' rules. In prose and code other characters may
	// follow one as well, so edge replaces it.
	terminator = `(?:[\x60'"\s;]|\\[nr]|$)`
	edge       = `(?:[^\w-]|$)`
	// middle joins a provider's name and the secret.
	middle = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	joint  = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
)

// left are the rules of gitleaks.toml that are not used, with reasons.
var left = map[string]string{
	"generic-api-key": "package redact judges names itself", "curl-auth-header": "and headers", "curl-auth-user": "and arguments",
	"jwt": "and web tokens", "private-key": "and key blocks",
	"pkcs12-file":            "a file's name",
	"kubernetes-secret-yaml": "for files of one kind", "freemius-secret-key": "for files of one kind",
	"hashicorp-tf-password": "for files of one kind", "nuget-config-password": "for files of one kind",
	"discord-client-id": "public", "asana-client-id": "public", "adobe-client-id": "public", "looker-client-id": "public",
	"linkedin-client-id": "public", "messagebird-client-id": "public", "plaid-client-id": "public", "bitbucket-client-id": "public",
	"sumologic-access-id": "public", "lob-pub-api-key": "public", "mailgun-pub-key": "public", "flutterwave-public-key": "public",
	"sendbird-access-id": "public", "azure-ad-client-secret": "in own.toml", "sourcegraph-access-token": "in own.toml",
}

// digits are rules whose secrets look like words except for a digit.
var digits = map[string]bool{"vault-service-token": true, "square-access-token": true}

// Load reads all rules.
func Load() (all []Rule, err error) {
	for _, file := range []string{own, gitleaks} {
		var data struct {
			Rules []struct {
				ID, Regex   string
				Entropy     float64
				SecretGroup int
				Digit       bool
			}
		}
		if _, err := toml.Decode(file, &data); err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
		for _, r := range data.Rules {
			if file == gitleaks && left[r.ID] != "" {
				continue
			}
			for _, source := range strings.Split(r.Regex, terminator+`|\b`) {
				rule := Rule{ID: r.ID, Group: r.SecretGroup, Entropy: r.Entropy, Digit: r.Digit || digits[r.ID], Mark: markOf(r.ID)}
				if err := rule.set(source); err != nil {
					return nil, fmt.Errorf("rule %s: %w", r.ID, err)
				}
				all = append(all, rule)
			}
		}
	}
	return all, nil
}

// set rewrites a rule's expression to the form of the table.
func (r *Rule) set(source string) error {
	source = strings.NewReplacer(`[\w.-]{0,50}?(?i:[\w.-]{0,50}?`, `(?i:`, `[\w.-]{0,50}?`, "").Replace(source)
	for _, start := range []string{`(?i)\b`, `\b`} {
		if rest, ok := strings.CutPrefix(source, start); ok {
			source = strings.TrimSuffix(start, `\b`) + rest
			break
		}
	}
	source = strings.ReplaceAll(strings.ReplaceAll(source, strings.TrimSuffix(terminator, ")")+`|\b)`, edge), terminator, edge)
	name, value, named := strings.Cut(source, middle)
	if !named {
		if r.Group == 0 && hasSecretGroup(source) {
			r.Group = 1
		}
		r.parts, r.Regex = []part{{source, r.Group}}, source
		return nil
	}
	// The group of the name is closed after it: (?i: ... ) or, to the end, (?i).
	rest, closed := strings.CutPrefix(value, ")")
	value, ok := strings.CutPrefix(rest, joint)
	switch {
	case !ok:
		return fmt.Errorf("between name and secret stands %q", rest)
	case closed:
		name += ")"
	case strings.HasPrefix(name, "(?i)"):
		value = "(?i)" + value
	}
	r.Named, r.Digit, r.Group = true, true, 1+groups(name)
	r.parts = []part{{name, -1}, {value, 1}}
	r.Regex = "(?:" + name + ")" + middle + joint + "(?:" + value + ")"
	return nil
}

// hasSecretGroup reports whether the first group of an expression is always there exactly
// once: then it is the secret.
func hasSecretGroup(source string) bool {
	re, err := parse(source)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(append(re.Sub, re), func(sub *syntax.Regexp) bool { return sub.Op == syntax.OpCapture && sub.Cap == 1 })
}

// groups returns how many groups an expression has. An invalid one has none; compiling it
// reports the error.
func groups(source string) int {
	re, err := parse(source)
	if err != nil {
		return 0
	}
	return re.MaxCap()
}

// markOf returns the replacement for a secret of a rule.
func markOf(id string) string {
	for _, m := range [...]struct{ begin, mark string }{
		{"aws-access-token", "aws-key-id"}, {"aws-key-id", "aws-key-id"}, {"github", "github-token"}, {"gitlab", "gitlab-token"}, {"slack", "slack-token"},
		{"google", "google-key"}, {"gcp", "google-key"}, {"stripe", "stripe-key"}, {"npm", "npm-token"}, {"pypi", "pypi-token"}, {"age", "private-key"},
		{"jwt", "jwt"}, {"password", "password"},
	} {
		if strings.HasPrefix(id, m.begin) {
			return "[redacted:" + m.mark + "]"
		}
	}
	return "[redacted:api-key]"
}
