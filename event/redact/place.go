package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// parts are the names of parts of expressions.
var parts = strings.NewReplacer(
	"WORD", "[^\\s\"'`;|&<>()\\\\]", // a character of an argument
	"VALUE", "[^\\s\"'`;,|&<>(){}[\\]\\\\]",
	"ARG", `(?: +(?:'[^'\n]*'|"[^"\n]*"|[^\s;|&'"()`+"`"+`])+)`,
	"LINE", `[^|;&\n]*`, // the rest of a command
	"SUDO", `sudo (?:-\S+ )*(?:-[a-zA-Z]*S|--stdin)`,
	"URL", "\\s\"'`<>\\\\|", // what ends an address
	"LABEL", `[^-]{0,50}PRIVATE KEY(?: BLOCK)?-----`,
	// SPACE is what is between lines, and quotes or numbers them.
	"SPACE", "(?:[ \\t\\r\\n\"'`\\\\,>|#*;-]|\\\\[nrt]|\\b\\d{1,6}\\b)*",
	"BASE", "[A-Za-z0-9+/=]",
	"COOKIE", "[^\\s\"'`;\\\\]",
	"OPAQUE", "[\\w.~+/=%-]",
)

// expression describes a place: what announces the secret, and the secret as the first group that
// matches. It is compiled when a text needs it, as few do.
type expression struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// match returns where the expression and its groups are in s, at its beginning.
func (e *expression) match(s string) []int {
	e.once.Do(func() { e.compiled = regexp.MustCompile("^(?:" + parts.Replace(e.text) + ")") })
	return e.compiled.FindStringSubmatchIndex(s)
}

const (
	// value is an argument, in quotes, which may be escaped. login has a user's name before it.
	value = `(?:\\*"([^"\n\\]{3,})|'([^'\n]{3,})|([^-\s"'\\]WORD{2,}))`
	login = `(?:'[^':\n]*:([^'\n]{3,})'|\\*"[^":\n]*:([^"\\\n]{3,})|["']?[^\s"':%,]*["']?[:%,]` + value + `)`
)

var (
	userinfo = expression{text: `://(?:(?:[^/?#:[URL][^/?#:URL]*)?:([^/?#URL]+)@` +
		`|(?:[^/?#:[URL][^/?#:URL]*)?:([^/?#URL]*[^/?#\d.,_URL][^/?#URL]*[/?#][^URL]*)@[a-zA-Z0-9]` + // with a slash
		`|([^/?#:[URL][^/?#:URL]{19,})@)`}

	privateKey = expression{text: `(-----BEGIN LABEL` +
		`(?:SPACE(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]*)*` +
		`(?:(?:SPACEBASE{32,})+(?:SPACEBASE{16,31})?(?:(?:SPACEBASE{1,31})?SPACE-----END LABEL)?` +
		`|(?:SPACEBASE{1,31}){0,3}SPACE-----END LABEL))`}
	keyEnd   = expression{text: "(-----END LABEL)"}
	keyLines = expression{text: `(?s:.*?)(?:\\[nrt])?((?:BASE{32,}SPACE)+(?:BASE{1,31}SPACE)?)$`} // those before it

	// piped is what a program gets that reads a secret from its input.
	piped = expression{text: `SUDOLINE<<< *` + value +
		`|(?:echo|printf)ARG* +["']?[^\s:|"']+:([^\s"'|]{3,})["']? *\|LINEchpasswd` +
		`|(?:echo|printf)ARG* +` + value + `["']? *\|LINE(?:SUDO|passwd LINE--stdin|` +
		`login LINE--(?:password-stdin|with-token)|` +
		`gpg LINE--passphrase-fd 0|openssl LINEstdin|smbpasswd LINE-[a-zA-Z]*s|cryptsetup )`}

	// odd are the keys of Telegram, Twilio (behind the account), Mailchimp and Discord.
	odd = expression{text: `(\d{8,10}:AA[\w-]{32,})|AC[0-9a-f]{32}["', :]{1,5}([0-9a-f]{32})\b` +
		`|([0-9a-f]{32}-us\d{1,2})\b|([MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,})`}

	// passLine is a line of a pgpass file.
	passLine = expression{text: `[\w.-]+:(?:\*|\d{4,}):[^:\s]+:[^:\s]+:([^:\s]*[^:\s\d.,_][^:\s]*)(?:\s|$)`}

	pair        = expression{text: `\([^,\n]*["'], *(?:\\*"([^"\\\n]{4,})|'([^'\n]{4,})')`} // ("user", "password")
	cookie      = expression{text: "[\\w.-]+=(COOKIE+(?:; ?\\wCOOKIE*)+|COOKIE{8,})"}
	credentials = expression{text: `(?:` +
		`(?i:basic|bearer|token|apikey|negotiate|digest|key|jwt|oauth) +([\w.~+/=-]OPAQUE{4,}[\w~+/=%-])` +
		`|([\w.~+/=-]OPAQUE{14,}[\w~+/=%-]))(?:[^(\w.~+/=%-]|$)`}
	element = expression{text: `([^<\s]+)</`} // <password>text</password>
	joint   = expression{text: `%3(?:([Dd])|[Aa])(?:\+|%20)*`}
	said    = expression{text: "(?:(?:key )?is:? |was |to )?[\"'`]?(VALUE{5,}[^\\s\"'`;,|&<>(){}[\\]\\\\.!?:])(?:[^(]|$)"}
)

// arguments are the flags whose value is a secret in the command lines of some programs only.
var arguments = [...]struct {
	programs []string
	flags    string // letters of which the flag has one
	expression
}{
	{[]string{"curl", "http", "https", "xh", "smbclient", "rpcclient", "lftp"}, "auU-", expression{
		text: `-(?:[a-zA-Z]{0,5}[auU]|-user|-proxy-user|-auth)[ =]*` + login}},
	{[]string{"skopeo", "buildah", "podman"}, "-", expression{text: `--creds[ =]+` + login}},
	{[]string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "7z", "7za"}, "p", expression{
		text: `-p` + value}},
	{[]string{"sshpass", "login", "mongo", "mongosh", "mongodump", "mongorestore"}, "p", expression{text: `-p *` + value}},
	{[]string{"redis-cli"}, "a-", expression{text: `-(?:a|-pass)[ =]+` + value}},
	{[]string{"ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"}, "w", expression{text: `-w *` + value}},
	{[]string{"zip", "unzip", "sqlcmd", "bcp", "mosquitto_pub", "mosquitto_sub"}, "P", expression{text: `-P *` + value}},
	{[]string{"keytool", "jarsigner"}, "p", expression{text: `-(?:store|key)pass[ =]+` + value}},
	{[]string{"enc"}, "kK", expression{text: `-[kK] +` + value}}, // openssl's
	{[]string{"htpasswd"}, "b", expression{text: `-[a-zA-Z]*b[a-zA-Z]*ARG* +` + value}},
}

// find returns the secret of an expression at i.
func (r *redactor) find(i int, e *expression, mark string) found {
	for n := far; ; n *= 4 { // time is linear in what is found
		text := r.s[i:min(len(r.s), i+n)]
		m := e.match(text)
		switch {
		case m == nil:
			return found{}
		case m[1] > len(text)-enough && i+n < len(r.s):
			continue
		}
		for m = m[2:]; m[0] < 0; m = m[2:] {
		}
		from, to := i+m[0], i+m[1]
		if s := r.s[from:to]; mark != markPEM && (placeholder(s) || strings.HasPrefix(s, "//")) {
			return found{}
		}
		if mark == markURL {
			from = i + len("://")
		}
		return found{from, to, mark}
	}
}

// argument finds the secret after a flag at i of a program that takes one there.
func (r *redactor) argument(i int) (f found) {
	if i > 0 && strings.IndexByte(" \t\n\"'", r.s[i-1]) < 0 {
		return found{}
	}
	flag := r.s[i+1 : min(len(r.s), i+far)]
	letters := flag[:max(alnum.span(flag), min(len(flag), 1))]
	for k := range arguments {
		a := &arguments[k]
		named := func(program string) bool { return r.runs(i, program) }
		if f.mark == "" && strings.ContainsAny(letters, a.flags) && slices.ContainsFunc(a.programs, named) {
			f = r.find(i, &a.expression, markPassword)
		}
	}
	return f
}

// runs reports whether the command line before i names a program, by looking for the word, without parsing the
// shell's language.
func (r *redactor) runs(i int, program string) bool {
	line := r.s[max(0, i-far):i]
	if !strings.Contains(line, program) {
		return false
	}
	line = strings.ReplaceAll(line, "\\\n", "  ")
	for _, end := range [...]string{";", "|", "`", "(", "\n", "&&", " &", "& "} {
		line = line[strings.LastIndex(line, end)+1:]
	}
	at := strings.LastIndex(line, program+" ")
	return at >= 0 && (at == 0 || !dotted.has(line[at-1]))
}

// given finds the secret that a command at i gets on its standard input: echo SECRET | sudo -S,
// sudo -S id <<< SECRET.
func (r *redactor) given(i int) found {
	if strings.IndexByte("eps", r.s[i]) < 0 || !beginsWith(r.s[i:], "echo", "printf", "sudo") {
		return found{}
	}
	line := r.s[i:min(len(r.s), i+far)]
	readers := []string{"sudo", "passwd", "login", "gpg", "openssl", "cryptsetup"}
	if !slices.ContainsFunc(readers, func(w string) bool { return strings.Contains(line, w) }) {
		return found{}
	}
	return r.find(i, &piped, markPassword)
}

// userinfo finds the user part of the address whose :// is at i: with a password, or a user so long
// that it is a token.
func (r *redactor) userinfo(i int) found {
	rest := r.s[i:min(len(r.s), i+far)]
	at := strings.IndexByte(rest, '@')
	if at < 0 || strings.ContainsAny(rest[:at], " \t\r\n") {
		return found{}
	}
	return r.find(i, &userinfo, markURL)
}

// passLine finds the password in a line of a pgpass file that begins at i.
func (r *redactor) passLine(i int) found {
	if i > 0 && r.s[i-1] != '\n' {
		return found{}
	}
	line, _, _ := strings.Cut(r.s[i:min(len(r.s), i+far)], "\n")
	if strings.Count(line, ":") != 4 {
		return found{}
	}
	return r.find(i, &passLine, markPassword)
}
