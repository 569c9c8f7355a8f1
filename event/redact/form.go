package redact

import (
	"slices"
	"strconv"
	"strings"
)

// prefixes are what the keys of providers begin with, in order; # is before the first one of each
// first byte. Behind each is the least length of the key, prefix and all; "=" means that the key
// has exactly that length. Those that look random are others in base64, as the values of a
// Kubernetes secret are. It is searched as it is: a table would be made at every start.
const prefixes = `
#$1$:27 $2a$:60 $2b$:60 $2x$:60 $2y$:60 $5$:27 $6$:27 $7$:50 $apr1$:27 $argon2d$:50 $argon2i$:50 $argon2id$:50 $gy$:50
$y$:50 #1//0:44 #A3-:39 ABIA:=20 ABSK:113 ACCA:=20 AGE-SECRET-KEY-1:66 AGPA:=21 AIza:39 AKCp:60 AKIA:=20 AQ.:40
ASIA:=20 ATATT:32 ATBB:32 ATCTT:32 #BSA:=31 #CCIPAT_:60 CCIPRJ_:60 CFPAT-:40 CLOJARS_:60 #EAAA:50 EAACEdE:60 EAAG:100
EAAM:100 EZAK:58 EZTK:58 #FLWSECK:25 #GOCSPX-:27 GR1348941:29 #HRKU-:40 #LS0tLS1CRUdJTiBFQyBQ:28
LS0tLS1CRUdJTiBFTkNSWVBURUQg:28 LS0tLS1CRUdJTiBPUEVOU1NI:28 LS0tLS1CRUdJTiBQUklWQVRF:28 LS0tLS1CRUdJTiBSU0Eg:28
LTAI:=24 #NRAK-:24 NRAL-:24 NRII-:24 NRJS-:24 NRRA-:24 #PMAK-:60 #QUl6Y:28 QUtJQ:28 QVNJQ:28 #R09DU1BYL:28 #SG.:63
SK:=34 #Z2h1:28 Z2hv:28 Z2hw:28 Z2hy:28 Z2hz:28 Z2l0aHViX3BhdF:28 Z2xwYXQt:28 Z3NrX2:28 ZATGE:40 ZG9wX3YxX:28
ZGNrcl9wYXRf:28 #_gitlab_session=:48 #aGZf:28 aHZzL:28 access_token$production$:50 api-:=40 api_org_:40 apify_api_:36
authress_:50 #bGluX2Fwa:28 bb_live_:27 bedrock-api-key-:44 bkar_:45 bkat_:45 bkua_:45 bnBtX:28 bnZhcGkt:28 #c2hwYXRf:28
c2stYW50L:28 c2stb3It:28 c2stcHJvai:28 c2tfbGl2ZV:28 cGh4X:28 cHlwaS1B:28 cfat_:40 cfk_:40 cfut_:40 cio:=35 cmVmd:64
cmtfbGl2ZV:28 crsr_:60 csk-:40 ctx7sk:36 #dapi:36 dckr_oat_:29 dckr_pat_:29 discord.com/api/webhooks/:90
discordapp.com/api/webhooks/:90 doo_v1_:47 dop_v1_:47 doppler_:40 dor_v1_:47 dp.audit.:46 dp.ct.:46 dp.pt.:46 dp.sa.:46
dp.scim.:46 dp.st.:46 dt0c01.:90 dt0s16.:90 duffel_live_:55 duffel_test_:55 #e2b_:40 eG94Y:28 eG94c:28 eGFpL:28 #fc-:35
figd_:40 figo_:40 figu_:40 fio-u-:70 fm1a_:47 fm1r_:47 fm2_:47 fo1_:47 fw_:24 #gho_:34 ghp_:34 ghr_:34 ghs_:34 ghu_:34
github_pat_:34 glagent-:25 glc_eyJ:40 glcbt-:25 gldt-:25 glffct-:25 glft-:25 glimt-:25 gloas-:25 glpat-:25 glptt-:25
glrt-:25 glsa_:46 glsoat-:25 gsk_:44 #hcaik_:50 hf_:34 hooks.slack.com/:50 hvb.:28 hvr.:28 hvs.:28 #ico-:36 #jina_:40
#key-:=36 key_:68 #lin_api_:36 lin_oauth_:36 lsv2_pt_:51 lsv2_sk_:51 #mdb_sa_sk_:40 mlsn.:60 mob-:=40 #napi_:45 nfc_:36
nfo_:36 nfp_:36 nfu_:36 ngrok-:30 npm_:40 ntn_:44 nvapi-:50 #ops_eyJ:150 oy2:=46 #p8e-:36 pat:=82 pcsk_:55 phs_:40
phx_:40 pk_:40 plaid-:40 pnu_:40 pplx-:45 pscale_oauth_:45 pscale_pw_:42 pscale_tkn_:43 pul-:44 pypi-Ag:57 #r8_:40
rdme_:70 re_:30 rk_live_:24 rk_prod_:24 rk_test_:24 rnd_:32 rpa_:40 rubygems_:54 #s.:=26 sb_secret_:30 sbp_:44 sdk-:=40
secret_:50 sgd_:44 sgp_:44 sha256~:50 shippo_live_:48 shippo_test_:48 shpat_:38 shpca_:38 shppa_:38 shpss_:38 sk-:35
sk-admin-:28 sk-ant-:27 sk-lf-:26 sk-litellm-:28 sk-or-:26 sk-proj-:28 sk-svcacct-:30 sk.eyJ:85 sk_:51 sk_live_:24
sk_prod_:24 sk_test_:24 sl.:103 slk_:60 sm_aat_:23 sm_pat_:23 sm_sat_:23 sntrys_eyJ:60 sntryu_:70 sq0atp-:26 sq0csp-:45
sqa_:44 sqp_:44 squ_:44 #tfp_:44 tgp_v1_:40 tk-us-:50 tskey-:25 tvly-:33 #v1.0-:170 vca_:28 vci_:28 vck_:28 vcp_:28
vcr_:28 vercel_blob_rw_:40 #waka_:41 wandb_v1_:40 whsec_:30 #xai-:64 xapp-:24 xkeysib-:80 xoxa-:24 xoxb-:24 xoxc-:24
xoxd-:24 xoxe-:24 xoxe.xox:24 xoxo-:24 xoxp-:24 xoxr-:24 xoxs-:24 #ya29.:25 #{SHA256}:40 {SHA512}:60 {SHA}:32
{SSHA256}:40 {SSHA512}:60 {SSHA}:32
`

// signatures are what keys have in their middle: those of Azure's services and applications, and
// Terraform's.
var signatures = []string{
	"JQQJ99", "JQQJ9A", "JQQJ9B", "JQQJ9C", "AzFu", "AzSe", "AzCa", "ACDb", "APIM", "AIoT", "AZDO", "+ASt", "+ASb", "+AEh",
	"+ABa", "+ACR", "+AMC", "Q~", ".atlasv1.",
}

const (
	// shortest is the length of the shortest key.
	shortest = 20
	// longest is how much of a key is judged. It keeps time linear.
	longest = 200
	// longestKey is how much before the last line of a private key is searched for its other lines.
	longestKey = 16 << 10
)

// key finds a key that begins at i, by its prefix or its form.
func (r *redactor) key(i int) found {
	end := i + 1
	for end < len(r.s) && end-i < shortest && (keyed.has(r.s[end]) || r.s[end] == ':' || r.s[end] == '}') {
		end++
	}
	if end-i < shortest {
		return found{}
	}
	first := r.s[i : i+1]
	for entry := range strings.FieldsSeq(prefixes[strings.Index(prefixes, "#"+first)+1:]) {
		if !strings.HasPrefix(entry, first) {
			break
		}
		if entry[1] != r.s[i+1] {
			continue // most
		}
		if text, least, _ := strings.Cut(entry, ":"); strings.HasPrefix(r.s[i:], text) {
			if f := r.prefixed(i, text, least); f.mark != "" {
				return f
			}
		}
	}
	return r.formed(i)
}

// prefixed finds the key at i that begins with a prefix. What follows must be long and look
// random, since many prefixes begin a word, too.
func (r *redactor) prefixed(i int, text, least string) found {
	from := i + len(text)
	to := r.keyEnd(from)
	rest := r.s[from:to]
	least, exact := strings.CutPrefix(least, "=")
	n, _ := strconv.Atoi(least)                                           // the table is ours
	exact = exact && (to-i > n || strings.HasPrefix(r.s[to:], markBegin)) // a replacement was part of it
	if to-i < n || exact || wordy(rest) || !random(rest, 25) {
		return found{}
	}
	if to-from >= longest {
		to += keyed.span(r.s[to:])
	}
	switch text[0] {
	case '{':
		return found{from, to, markPassword}
	case '$': // of a hash the kind and the salt stay
		return found{i + strings.LastIndexByte(r.s[i:to], '$') + 1, to, markPassword}
	}
	return found{i, to, markKey}
}

// wordy reports whether what follows a prefix may be words, like the names of files: less than
// an eighth are digits and capitals.
func wordy(s string) bool {
	n := 0
	for i := range len(s) {
		if upper.has(s[i]) {
			n++
		}
	}
	return n*8 < len(s)
}

// keyEnd returns the end of the characters of a key from i on, as far as it is judged. A
// sentence's punctuation is none.
func (r *redactor) keyEnd(i int) int {
	to := i + keyed.span(r.s[i:min(len(r.s), i+longest)])
	if sum := to + len("=01234567"); sum <= len(r.s) && r.s[to] == '=' && areHex(r.s[to+1:sum]) { // Atlassian's end
		return sum
	}
	for to < len(r.s) && r.s[to] == '=' && (to+1 == len(r.s) || !alnum.has(r.s[to+1])) {
		to++
	}
	return i + len(strings.TrimRight(r.s[i:to], ".|$"))
}

// formed finds a key without a prefix of its own, by its form.
func (r *redactor) formed(i int) found {
	to := r.keyEnd(i)
	s, near := r.s[i:to], r.s[i:min(len(r.s), i+enough)]
	if strings.IndexByte("AMNO", near[0]) >= 0 || strings.Contains(near, ":AA") || strings.Contains(near, "-us") {
		if f := r.find(i, &odd, markKey); f.mark != "" {
			return f
		}
	}
	if len(s) < 34 || len(s) > 90 || !hasDigit(s) || !random(s, 30) ||
		!slices.ContainsFunc(signatures, func(w string) bool { return strings.Index(s, w) >= 4 }) {
		return found{}
	}
	return found{i, to, markKey}
}

// webToken finds a JSON web token: a header that begins with {" in base64, followed by two or more parts.
func (r *redactor) webToken(i int) found {
	if i < r.noJWT || !strings.HasPrefix(r.s[i:], "eyJ") {
		return found{}
	}
	whole := i + dotted.span(r.s[i:])
	jwt := strings.TrimRight(r.s[i:whole], ".")
	if strings.Count(jwt, ".") < 2 || len(jwt) < 36 {
		r.noJWT = whole // there is none further on in it either
		return found{}
	}
	return found{i, i + len(jwt), markJWT}
}

// block finds a private key whose first or last line begins at i. It may be cut at either end.
func (r *redactor) block(i int) (f found) {
	switch {
	case strings.HasPrefix(r.s[i:], "-----BEGIN "):
		return r.find(i, &privateKey, markPEM)
	case strings.HasPrefix(r.s[i:], "-----END "):
		f = r.find(i, &keyEnd, markPEM)
	}
	if f.mark == "" {
		return found{}
	}
	from := max(r.last, r.noKey, i-longestKey)
	r.noKey = f.to
	lines := keyLines.match(r.s[from:i])
	if lines == nil {
		return found{}
	}
	f.from = from + lines[2]
	return f
}
