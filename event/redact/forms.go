package redact

import "strings"

// class is a set of ASCII characters; each holds those before it.
type class uint8

const (
	upper  class = iota // A-Z, 0-9
	alnum               // and a-z
	word                // and _
	token               // and -
	dotted              // and .
	opaque              // and ~ + / = %: what an Authorization header may hold
)

func (k class) has(c byte) bool {
	switch {
	case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case 'a' <= c && c <= 'z':
		return k >= alnum
	}
	switch c {
	case '_':
		return k >= word
	case '-':
		return k >= token
	case '.':
		return k >= dotted
	case '~', '+', '/', '=', '%':
		return k >= opaque
	}
	return false
}

// form is how a provider writes its tokens: a prefix, then at least min
// characters of a class, among the first of which there is a digit if that is
// asked for (where the prefix alone could begin a word).
type form struct {
	prefix string
	class  class
	min    int
	digit  bool
	mark   string
}

// Tokens known by their prefix, from the providers' own documents, by first
// character. Minimal lengths are a little below what is given out.
var (
	formsUpperA = [...]form{
		{"AIza", token, 35, false, markGoogle},
		{"AGE-SECRET-KEY-1", upper, 50, false, markPEM},
	}
	formsUpperG = [...]form{
		{"GOCSPX-", token, 20, false, markGoogle},
	}
	formsUpperS = [...]form{
		{"SG.", dotted, 60, false, markAPIKey},
	}
	formsLowerD = [...]form{
		{"dop_v1_", alnum, 40, false, markAPIKey},
		{"dckr_pat_", token, 20, false, markAPIKey},
	}
	formsLowerG = [...]form{
		{"ghp_", dotted, 30, false, markGitHub},
		{"gho_", dotted, 30, false, markGitHub},
		{"ghu_", dotted, 30, false, markGitHub},
		{"ghs_", dotted, 30, false, markGitHub},
		{"ghr_", dotted, 30, false, markGitHub},
		{"github_pat_", word, 36, false, markGitHub},
		{"glpat-", dotted, 20, false, markGitLab},
		{"gldt-", dotted, 20, false, markGitLab},
		{"glrt-", dotted, 20, false, markGitLab},
		{"glptt-", dotted, 20, false, markGitLab},
		{"glcbt-", dotted, 20, false, markGitLab},
		{"glft-", dotted, 20, false, markGitLab},
		{"glsoat-", dotted, 20, false, markGitLab},
		{"glagent-", dotted, 20, false, markGitLab},
	}
	formsLowerH = [...]form{
		{"hooks.slack.com/services/", opaque, 30, true, markSlack},
		{"hf_", alnum, 30, false, markAPIKey},
		{"hvs.", token, 24, false, markAPIKey},
	}
	formsLowerL = [...]form{
		{"lin_api_", alnum, 32, false, markAPIKey},
	}
	formsLowerN = [...]form{
		{"npm_", alnum, 36, false, markNPM},
	}
	formsLowerP = [...]form{
		{"pypi-Ag", token, 50, false, markPyPI},
	}
	formsLowerR = [...]form{
		{"rk_live_", alnum, 16, false, markStripe},
		{"rk_test_", alnum, 16, false, markStripe},
	}
	formsLowerS = [...]form{
		{"sk-ant-", token, 20, true, markAPIKey},
		{"sk-proj-", token, 20, true, markAPIKey},
		{"sk-svcacct-", token, 20, true, markAPIKey},
		{"sk-admin-", token, 20, true, markAPIKey},
		{"sk-or-", token, 20, true, markAPIKey},
		{"sk-", alnum, 32, true, markAPIKey},
		{"shpat_", alnum, 32, false, markAPIKey},
		{"sk_live_", alnum, 16, false, markStripe},
		{"sk_test_", alnum, 16, false, markStripe},
	}
	formsLowerW = [...]form{
		{"whsec_", opaque, 24, false, markStripe},
	}
	formsLowerX = [...]form{
		{"xoxa-", opaque, 20, true, markSlack},
		{"xoxb-", opaque, 20, true, markSlack},
		{"xoxc-", opaque, 20, true, markSlack},
		{"xoxd-", opaque, 20, true, markSlack},
		{"xoxe-", opaque, 20, true, markSlack},
		{"xoxe.", opaque, 20, true, markSlack},
		{"xoxp-", opaque, 20, true, markSlack},
		{"xoxr-", opaque, 20, true, markSlack},
		{"xoxs-", opaque, 20, true, markSlack},
		{"xapp-", opaque, 20, true, markSlack},
	}
	formsLowerY = [...]form{
		{"ya29.", token, 20, true, markGoogle},
	}
)

// formsOf returns the forms that begin with c.
func formsOf(c byte) []form {
	switch c {
	case 'A':
		return formsUpperA[:]
	case 'G':
		return formsUpperG[:]
	case 'S':
		return formsUpperS[:]
	case 'd':
		return formsLowerD[:]
	case 'g':
		return formsLowerG[:]
	case 'h':
		return formsLowerH[:]
	case 'l':
		return formsLowerL[:]
	case 'n':
		return formsLowerN[:]
	case 'p':
		return formsLowerP[:]
	case 'r':
		return formsLowerR[:]
	case 's':
		return formsLowerS[:]
	case 'w':
		return formsLowerW[:]
	case 'x':
		return formsLowerX[:]
	case 'y':
		return formsLowerY[:]
	}
	return nil
}

// token finds what a form describes, or an AWS key id.
func (r *redactor) token(i int) found {
	rest := r.s[i:]
	for _, f := range formsOf(rest[0]) {
		if !strings.HasPrefix(rest, f.prefix) {
			continue
		}
		if end := r.run(i+len(f.prefix), f.class, f.min, f.digit); end > 0 {
			return found{i, end, f.mark}
		}
	}
	if rest[0] == 'A' {
		return r.keyID(i)
	}
	return found{}
}

// keyID finds an AWS access key id: AKIA or ASIA and 16 characters, no more.
func (r *redactor) keyID(i int) found {
	const size = 20
	rest := r.s[i:]
	if !strings.HasPrefix(rest, "AKIA") && !strings.HasPrefix(rest, "ASIA") || len(rest) < size || len(rest) > size && upper.has(rest[size]) {
		return found{}
	}
	for _, c := range []byte(rest[:size]) {
		if !upper.has(c) {
			return found{}
		}
	}
	return found{i, i + size, markAWS}
}

// run returns the end of the run of characters at i, or 0 if it has fewer than
// min or lacks a digit where one is needed. Full stops at its end belong to
// the sentence.
func (r *redactor) run(i int, k class, min int, digit bool) int {
	end := i
	for end < len(r.s) && end-i < enough && k.has(r.s[end]) {
		end++
	}
	if digit && !hasDigit(r.s[i:end]) {
		return 0
	}
	for end-i >= enough && end < len(r.s) && k.has(r.s[end]) {
		end++
	}
	for end > i && r.s[end-1] == '.' {
		end--
	}
	if end-i < min {
		return 0
	}
	return end
}

// webToken finds a JSON web token: a header that begins with {" in base64, and
// two or more parts behind it.
func (r *redactor) webToken(i int) found {
	const shortest = 36
	if i < r.noJWT || !strings.HasPrefix(r.s[i:], "eyJ") {
		return found{}
	}
	end, dots := i, 0
	for end < len(r.s) && dotted.has(r.s[end]) {
		if r.s[end] == '.' {
			dots++
		}
		end++
	}
	whole := end
	for r.s[end-1] == '.' {
		end, dots = end-1, dots-1
	}
	if dots < 2 || end-i < shortest {
		r.noJWT = whole // nor is there one further on in it
		return found{}
	}
	return found{i, end, markJWT}
}

// bearer finds the token behind the word Bearer.
func (r *redactor) bearer(i int) found {
	const word, shortest = "bearer", 20
	if len(r.s)-i <= len(word) || !strings.EqualFold(r.s[i:i+len(word)], word) || r.s[i+len(word)] != ' ' {
		return found{}
	}
	from := i + len(word) + 1
	if end := r.run(from, opaque, shortest, true); end > 0 && r.s[from] != '%' {
		return found{from, end, markAuth}
	}
	return found{}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}
