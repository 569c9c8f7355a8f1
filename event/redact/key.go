package redact

import (
	"bytes"
	"strings"
)

// sensitive are the words in a name that make its value a secret, in lower
// case and without separators.
var sensitive = [...]struct {
	word string
	kind keyKind
}{
	{"password", passwordKey}, {"passwd", passwordKey}, {"passphrase", passwordKey}, {"passcode", passwordKey},
	{"passwort", passwordKey}, {"kennwort", passwordKey}, {"senha", passwordKey},
	{"secret", secretKey}, {"token", secretKey}, {"authorization", headerKey}, {"key", secretKey},
}

// keys are the words before "key" that make it a secret: most keys (of a map, of a cache, of a
// pair's public half) are not.
const keys = `api access private account encryption signing master auth shared storage subscription license
session webhook cipher hmac jwt`

// last are words that make a value a secret when a name ends with them:
// DB_PASS, but not bypass.
const (
	lastOfPassword = "pass pwd pw"
	lastOfWeak     = "auth credential credentials creds"
)

// about are endings of names whose value describes the secret but is not it.
const about = `file path dir name url uri id arn type count limit ttl expires expiry
length size usage budget policy field hint label ref izer nization`

func kindOf(name string) keyKind {
	if len(name) < len("pw") || len(name) > maxKey {
		return harmless
	}
	var buf [maxKey]byte
	n := 0
	for i := range len(name) {
		if c := name[i]; c != '_' && c != '-' {
			buf[n] = lower(c)
			n++
		}
	}
	flat := buf[:n]
	for _, w := range sensitive {
		if bytes.Contains(flat, []byte(w.word)) && (w.word != "key" || isSecretKey(flat)) {
			for end, rest := nextField(about); end != ""; end, rest = nextField(rest) {
				if len(flat) > len(end) && string(flat[len(flat)-len(end):]) == end {
					return harmless
				}
			}
			return w.kind
		}
	}
	if isOneOf(name, "cookie set-cookie") {
		return cookieKey
	}
	switch end := lastWord(name); {
	case isOneOf(end, lastOfPassword):
		return passwordKey
	case isOneOf(end, lastOfWeak):
		return weakKey
	}
	return harmless
}

// lastWord returns the last word of a name: after a separator, or from a capital on.
func lastWord(name string) string {
	i := len(name)
	for i > 0 && alnum.has(name[i-1]) {
		i--
		if i > 0 && upper.has(name[i]) && !upper.has(name[i-1]) {
			break
		}
	}
	return name[i:]
}

// kindInQuery is kindOf for the parameters of a URL, where shorter names are common.
func kindInQuery(name string) keyKind {
	if endsWithOneOf(lastWord(name), "key sig signature hmac sas auth") {
		return weakKey
	}
	return harmless
}

// endsWithOneOf reports whether s ends with one of the words, ignoring letter case.
func endsWithOneOf(s, words string) bool {
	for word, rest := nextField(words); word != ""; word, rest = nextField(rest) {
		if endsFold(s, word) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// beforeKey reports whether a name ends with a word that makes a following "key" secret.
func beforeKey(name string) bool {
	return endsWithOneOf(strings.TrimRight(name, "_-"), keys)
}

// isSecretKey reports whether the name contains one of the secret keys.
func isSecretKey(name []byte) bool {
	for w, rest := nextField(keys); w != ""; w, rest = nextField(rest) {
		if at := bytes.Index(name, []byte(w)); at >= 0 && bytes.HasPrefix(name[at+len(w):], []byte("key")) {
			return true
		}
	}
	return false
}
