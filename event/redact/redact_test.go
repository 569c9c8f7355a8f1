package redact

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// fake returns n random-looking letters and digits. No whole secret is in this file: scanners
// of repositories would report it.
func fake(n int) string {
	const chars = "aB3xY7kQ9mZ2pR5tW8vC4nD6fG1hJ0sLuE"
	var b strings.Builder
	for i := range n {
		b.WriteByte(chars[(i*7+i/5)%len(chars)])
	}
	return b.String()
}

func upperFake(n int) string { return strings.ToUpper(fake(n)) }

func pem(label string, lines int) string {
	return "-----BEGIN " + label + "-----\n" + strings.Repeat(fake(64)+"\n", lines) + fake(20) + "==\n-----END " + label + "-----"
}

func TestText(t *testing.T) {
	jwt := "eyJ" + fake(30) + ".eyJ" + fake(40) + "." + fake(43)
	rsa := pem("RSA PRIVATE KEY", 3)
	for _, tt := range []struct{ in, want string }{
		// Secrets known by their form.
		{"key AKIA" + upperFake(16) + " is old", "key [redacted:api-key] is old"},
		{"ASIA" + upperFake(16), "[redacted:api-key]"},
		{"use ghp_" + fake(36) + ".", "use [redacted:api-key]."},
		{"(gho_" + fake(36) + ")", "([redacted:api-key])"},
		{"ghs_123_" + jwt, "[redacted:api-key]"},
		{"github_pat_" + fake(22) + "_" + fake(59) + "\n", "[redacted:api-key]\n"},
		{"glpat-" + fake(20), "[redacted:api-key]"},
		{"glpat-" + fake(27) + ".01." + fake(9), "[redacted:api-key]"},
		{"xoxb-123456789012-123456789012-" + fake(24), "[redacted:api-key]"},
		{"xoxe.xoxp-1-" + fake(60), "[redacted:api-key]"},
		{"https://hooks.slack.com/services/T" + upperFake(8) + "/B" + upperFake(8) + "/" + fake(24), "https://[redacted:api-key]"},
		{"sk-ant-api03-" + fake(80) + "-" + fake(10), "[redacted:api-key]"},
		{"sk-proj-" + fake(100), "[redacted:api-key]"},
		{"sk-" + fake(48), "[redacted:api-key]"},
		{"AIza" + fake(35), "[redacted:api-key]"},
		{"ya29." + fake(60), "[redacted:api-key]"},
		{"sk_live_" + fake(24), "[redacted:api-key]"},
		{"rk_live_" + fake(24), "[redacted:api-key]"},
		{"npm_" + fake(36), "[redacted:api-key]"},
		{"pypi-AgEIcHlwaS5vcmc" + fake(80), "[redacted:api-key]"},
		{"hf_" + fake(34), "[redacted:api-key]"},
		{"SG." + fake(22) + "." + fake(43), "[redacted:api-key]"},
		{"the cookie is " + jwt + ".", "the cookie is [redacted:jwt]."},
		{"two: ghp_" + fake(36) + ",ghp_" + fake(36), "two: [redacted:api-key],[redacted:api-key]"},
		{"é" + "ghp_" + fake(36) + "日", "é[redacted:api-key]日"},
		{`a line\nghp_` + fake(36), `a line\n[redacted:api-key]`},
		{"?t%3Dghp_" + fake(36), "?t%3D[redacted:api-key]"},
		{`{"q":"a\u003dghp_` + fake(36), `{"q":"a\u003d[redacted:api-key]`},
		{`a\u000aghp_` + fake(36), `a\u000a[redacted:api-key]`},
		{"\x1b[1;31mghp_" + fake(36) + "\x1b[0m", "\x1b[1;31m[redacted:api-key]\x1b[0m"},
		{`\u001b[mghp_` + fake(36), `\u001b[m[redacted:api-key]`},
		{`printf '\033[1mghp_` + fake(36), `printf '\033[1m[redacted:api-key]`},
		{"curl -sSu me:" + "opensesame https://h", "curl -sSu me:[redacted:password] https://h"},

		// Private keys, whole and cut.
		{"see\n" + rsa + "\nthere", "see\n[redacted:private-key]\nthere"},
		{pem("OPENSSH PRIVATE KEY", 2), "[redacted:private-key]"},
		{strings.ReplaceAll(pem("PRIVATE KEY", 2), "\n", `\n`), "[redacted:private-key]"},
		{strings.ReplaceAll(pem("PRIVATE KEY", 2), "\n", "\r\n    "), "[redacted:private-key]"},
		{"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + fake(64) + "\n=" + fake(4) + "\n-----END PGP PRIVATE KEY BLOCK-----", "[redacted:private-key]"},
		{"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABC\n\n" + fake(64) + "\n-----END RSA PRIVATE KEY-----", "[redacted:private-key]"},
		{rsa[:150], "[redacted:private-key]"},
		{"-" + strings.ReplaceAll(rsa, "\n", "\n-"), "-[redacted:private-key]"}, // as a diff has it
		{"-" + strings.ReplaceAll(rsa, "\n", `\n-`), "-[redacted:private-key]"},
		{"-" + strings.ReplaceAll(rsa, "\n", "\n-")[:150] + "\n…", "-[redacted:private-key]\n…"},
		{strings.ReplaceAll(rsa[60:], "\n", "\n-"), "[redacted:private-key]"},
		{rsa[60:], "[redacted:private-key]"},
		{"…" + strings.ReplaceAll(rsa[60:], "\n", `\n`), "…[redacted:private-key]"},
		{rsa[:120] + "\n\nThat is the key.", "[redacted:private-key]\n\nThat is the key."},
		{"1  -----BEGIN PRIVATE KEY-----\n2  " + fake(64) + "\n3  " + fake(30) + "\n4  -----END PRIVATE KEY-----", "1  [redacted:private-key]"},

		// Secrets known by their place.
		{"Authorization: Bearer abc123", "Authorization: Bearer [redacted:authorization]"},
		{"curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "curl -H 'Authorization: Basic [redacted:authorization]' x"},
		{`{"authorization": "token ` + fake(40) + `"}`, `{"authorization": "token [redacted:authorization]"}`},
		{"authorization=" + fake(40), "authorization=[redacted:authorization]"},
		{"send Bearer " + fake(32) + " with it", "send Bearer [redacted:authorization] with it"},
		{"Cookie: theme=dark; sid=" + fake(20) + "; b=1", "Cookie: theme=[redacted:cookie]"},
		{"postgres://admin:hunter2@db:5432/x", "postgres://[redacted:userinfo]@db:5432/x"},
		{"redis://:hunter2@localhost", "redis://[redacted:userinfo]@localhost"},
		{"https://x-access-token:ghs_" + fake(36) + "@github.com/a/b", "https://[redacted:userinfo]@github.com/a/b"},
		{"https://" + fake(40) + "@github.com/a/b", "https://[redacted:userinfo]@github.com/a/b"},
		{"ftp://u:p@ss@host/", "ftp://[redacted:userinfo]@host/"},

		// Secrets known by their name.
		{"PASSWORD=hunter2", "PASSWORD=[redacted:password]"},
		{"export DB_PASSWD=swordfish; ls", "export DB_PASSWD=[redacted:password]; ls"},
		{`{"password": "swordfish"}`, `{"password": "[redacted:password]"}`},
		{`{\"password\": \"swordfish\", \"a\": 1}`, `{\"password\": \"[redacted:password]\", \"a\": 1}`},
		{`password: "correct horse battery"`, `password: "[redacted:password]"`},
		{"password: hunter2", "password: [redacted:password]"},
		{`client_secret = '` + fake(20) + `'`, `client_secret = '[redacted:secret]'`},
		{"aws_secret_access_key=" + fake(38) + "/+", "aws_secret_access_key=[redacted:secret]"},
		{"AWS_SECRET_ACCESS_KEY=/" + fake(20) + "/" + fake(18), "AWS_SECRET_ACCESS_KEY=[redacted:secret]"},
		{`apiKey: "` + fake(32) + `",`, `apiKey: "[redacted:secret]",`},
		{"x-api-key: " + fake(32), "x-api-key: [redacted:secret]"},
		{"?access_token=" + fake(20) + "&a=b", "?access_token=[redacted:secret]&a=b"},
		{"tool --token " + fake(20) + " --dry-run", "tool --token [redacted:secret] --dry-run"},
		{"tool --password swordfish", "tool --password [redacted:password]"},
		{"tool --password=swordfish", "tool --password=[redacted:password]"},
		{`env["API_KEY"] = "` + fake(20) + `"`, `env["API_KEY"] = "[redacted:secret]"`},
		{"\tPassword:             \"swordfish\",", "\tPassword:             \"[redacted:password]\","},
		{"token := `" + fake(20) + "`", "token := `[redacted:secret]`"},
		{`SECRET_KEY = b"` + fake(20) + `"`, `SECRET_KEY = b"[redacted:secret]"`},
		{"token: ghp_" + fake(36) + " ok", "token: [redacted:secret] ok"},
		{`"private_key": "` + strings.ReplaceAll(pem("PRIVATE KEY", 1), "\n", `\n`) + `"`, `"private_key": "[redacted:private-key]"`},
		{`"password": "swordfi`, `"password": "[redacted:password]`},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
		if again := Text(tt.want); again != tt.want {
			t.Errorf("again: Text(%q) = %q", tt.want, again)
		}
	}
}

func TestTextLeavesTheRest(t *testing.T) {
	for _, s := range []string{
		"",
		"Everything is done; the work is complete.",
		"commit f680deed0dc81dc99ee39b529ccaa085e605d791",
		"id 2bcbfec0-ef97-4295-a616-8a1138150493",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		strings.Repeat(fake(76)+"\n", 20),
		"sha256-" + fake(43) + "=",
		"go: github.com/tidwall/gjson v1.20.0 h1:" + fake(43) + "=",
		// Texts that only resemble a secret.
		"task-notification-of-a-background-agent-12345678901234567890",
		"risk-free-and-a-very-long-name-with-1-digit-in-it-00",
		"the sk-folding-cube-container class", "npm_config_registry and npm_package_version", "pypi-AgX", "hf_hub",
		"ASIA", "AKIA", "ASIAN COUNTRIES", "AKIAIOSFODNN7", "THEAKIA" + upperFake(16), "AKIA" + upperFake(30),
		"eyJhbGciOi", "eyJ" + fake(60), "eyJ.a.b", "ghp_short", "glpat-x", "xoxo-love-and-kisses-to-all-of-you", "AIzaShort",
		"SG.1", "Bearer of good news", "bearer authentication is used here", "Bearer <token>", "Bearer $TOKEN", "bearer token",
		// Public parts of key pairs, and text about keys.
		"-----BEGIN CERTIFICATE-----\n" + fake(64) + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + fake(64) + "\n-----END PUBLIC KEY-----",
		"it starts with -----BEGIN PRIVATE KEY----- and then base64",
		"and -----END PRIVATE KEY----- ends it", "-----", "------------", "--", "---",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + fake(43) + " me@host",
		// URLs without a secret.
		"https://example.com/a@b", "ssh://git@github.com/a/b", "http://localhost:8080/x", "http://[::1]:80/", "see http://a:b or c@d",
		"https://user:$PASS@host", "https://<user>:<password>@host", "postgres://user@host/db", "https://medium.com/@someone/1234", "://", "://@", "a://:@b",
		// Names without a secret behind them.
		"max_tokens=4096", "max_tokens: 128000", `"input_tokens": 1234567890`, "Token: the word", "token count: 12345678", "tokenizer=BPE12345678",
		"password: string", "password?: string;", "password=", "password=\"\"", "password:", "secret", "token", "the secret: be kind to everyone",
		"token := os.Getenv(\"GITHUB_TOKEN\")", "api_key=settings.OPENAI_API_KEY", "apiKey: process.env.API_KEY,", "password=db_password", "password = getPassword(1)",
		"password = os.environ['DB1']", "token = tokens[0]", "if token == nil {", "if password != \"\" {", "TOKEN=$(cat token1.txt)", "PASSWORD=${DB_PASSWORD1}", `"token": "${{ secrets.GITHUB_TOKEN }}"`,
		"SECRET_FILE=/run/secrets/db1", "secret=/run/secrets/db1", "--token-file /etc/token1", "--secret-name my-app-1234", "token_type: bearer123", "access_key_id: 12345678901",
		"password: ********", "password=xxxxxxxx", "Authorization: required", "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN1}", "authorization: none",
		"the --username and --password options", "PrivateKey: testRSA2048PrivateKey,", "authorization = base64.decodebytes(authorization1)", "scheme://[user:passwd@]proxy:port", "https://[redacted:userinfo]@h",
		"secret: my-app-config", "std::secret::Foo12345678", "key=" + fake(20), "--password", "--password --verbose1", "--password ",
		// Already redacted text.
		"[redacted:api-key]", "password=[redacted:password]", `"token": "[redacted:secret]"`, "[redacted:", "[redacted:]", "[redacted:X1]", "[",
	} {
		if got := Text(s); got != s {
			t.Errorf("Text(%q) = %q", s, got)
		}
	}
}

// A text without a secret is returned as it is.
func TestTextAllocatesNothing(t *testing.T) {
	s := strings.Repeat("No secrets here: token count 12, password unset, https://example.com/a?b=c. ", 30)
	if n := testing.AllocsPerRun(100, func() { Text(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// checkText checks the properties of every redacted text.
func checkText(t interface{ Fatalf(string, ...any) }, s string) string {
	got := Text(s)
	if again := Text(got); again != got {
		t.Fatalf("Text(%q)\nonce  %q\ntwice %q", s, got, again)
	}
	if utf8.ValidString(s) && !utf8.ValidString(got) {
		t.Fatalf("Text(%q) = %q: a character is split", s, got)
	}
	rest := s // the text between marks occurs in s, in the same order
	for i := 0; i < len(got); {
		if n := markAt(got, i); n > 0 {
			i += n
			continue
		}
		k := strings.IndexByte(rest, got[i])
		if k < 0 {
			t.Fatalf("Text(%q) = %q: something was added", s, got)
		}
		rest, i = rest[k+1:], i+1
	}
	return got
}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"a ghp_" + fake(36) + " b", "AKIA" + upperFake(16) + "sk-ant-" + fake(30), pem("PRIVATE KEY", 2), "https://u:p@h/ password: \"a b\" --token x1234567",
		`{\"api_key\":\"` + fake(20) + `\"}`, "Authorization: Bearer " + fake(30), "eyJ" + fake(20) + ".eyJ" + fake(20) + "." + fake(20),
		"token=x-AKIA" + strings.Repeat("PASSWORD", 2), "password='a password=\"b password=`c", "[redacted:secret]token=[redacted:jwt]1:2@", "token=a.ghp_" + strings.Repeat("z", 36) + "(",
		"://[redacted:jwt]:x@h ://a:b@[redacted:jwt]", strings.Repeat("token:", 20) + "1", strings.Repeat("eyJ-", 20), "ABIA00000001127289A+sk-0000000000000000011127AB9CX0YZ8a", fake(40) + "\\n-----END PRIVATE KEY-----",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkText(t, s) })
}

// texts generates texts from the parts that rules look for.
func texts() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"token", "password", "secret", "api_key", "Authorization", "Bearer ", "bearer ", "basic ", "=", ":", ": ", " = ", ":=", "=>", "\"", "'", "`", `\"`, "://", "@", "/", "[", "]", "(", ")",
			"--", "-----", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJ", ".", "-", "_", "ghp_", "sk-ant-", "sk-", "AKIA", "AIza", "xoxb-", "hooks.slack.com/services/", "npm_", " ", "\n", `\n`, "%3D", "$", "é", "日", "\xff",
			"[redacted:jwt]", "[redacted:secret]", fake(8), fake(20), fake(40), fake(70), strings.Repeat("z", 36), upperFake(16), "1", "Proc-Type: x\n", "env",
		}),
		rapid.StringN(0, 5, 10),
	)
	return rapid.Map(rapid.SliceOfN(part, 0, 25), func(p []string) string { return strings.Join(p, "") })
}

func TestTextIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkText(t, texts().Draw(t, "text")) })
}

// A secret between any two texts is removed.
func TestTextFindsWhatIsPlanted(t *testing.T) {
	chars := func(set string, n int) *rapid.Generator[string] {
		return rapid.StringOfN(rapid.SampledFrom([]rune(set)), n, n, -1)
	}
	const alnums = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	rapid.Check(t, func(t *rapid.T) {
		body := chars(alnums, 40).Draw(t, "body")
		plant := rapid.SampledFrom([]struct{ before, secret, after string }{
			{"", "ghp_" + body, ""}, {"", "github_pat_" + body, ""}, {"", "glpat-" + body, ""}, {"", "npm_" + body, ""}, {"", "AIza" + body, ""}, {"", "sk_live_" + body, ""},
			{"", "sk-ant-api03-" + body, ""}, {"", "sk-proj-1" + body, ""}, {"", "xoxb-1234-" + body, ""}, {"", "pypi-AgEI" + body + body, ""}, {"", "eyJ" + body + ".eyJ" + body + "." + body, ""},
			{"", "AKIA" + strings.ToUpper(body[:16]), " "},
			{"PASSWORD=", body, " "}, {"\"api_key\":\"", body, "\""}, {"x_token='", body, "'"}, {"--secret ", body, " "}, {"Authorization: Basic ", body, "\n"}, {"https://u:", body, "@h/"},
			{"-----BEGIN PRIVATE KEY-----\n", body + body, "\n-----END PRIVATE KEY-----"}, {"-----BEGIN PRIVATE KEY-----\\n", body, ""},
		}).Draw(t, "plant")
		sep := rapid.SampledFrom([]string{"\n", " ", "\t", "\n\n"}) // what ends any quote or value except a password's
		s := texts().Draw(t, "left") + "\n" + sep.Draw(t, "sep") + plant.before + plant.secret + plant.after + sep.Draw(t, "sep") + texts().Draw(t, "right")
		if got := checkText(t, s); strings.Contains(got, plant.secret) {
			t.Fatalf("Text(%q) = %q still holds %q", s, got, plant.secret)
		}
	})
}

// Even in the worst case of each rule the time grows only with the length.
func TestTextIsLinear(t *testing.T) {
	for _, block := range []string{
		"token:", "token=", "password:'", "password:\"a password:'b password:`c ", "password:\\\"", "eyJ-", "eyJa.", "sk-ant-", "ghp_", "xoxb-", "Bearer ", "Bearer a", "://", "://a:", "://a@",
		"-----BEGIN PRIVATE KEY-----", "A: -----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----", "a -----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----1 ", "-", "--token ", "--token=", "=", " =", "[redacted:", "[redacted:a", "AKIA",
		"Authorization: ", "Authorization:a", "token=a.", "token=/", "secret:\"a[redacted:jwt]", "a", "ab-", "token:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\\", "hooks.slack.com/services/",
		"token%3D", "token%3D/", "%3D", "htpasswd -b ", "-b ", "htpasswd -b '", "echo | sudo -S ", "echo ' | sudo -S ", "echo a", "sudo -S <<< '", "\\\\\\\"token\\\\\\\":",
	} {
		long := strings.Repeat(block, 1<<18/len(block))
		start := time.Now()
		Text(long)
		if d := time.Since(start); d > 2*time.Second { // 256 KiB takes up to 15 ms; squared it would be 5 s and more
			t.Errorf("%d times %q took %v", 1<<18/len(block), block, d)
		}
	}
}

func BenchmarkText(b *testing.B) {
	prose := "I looked at the parser and its tests. The reader keeps an offset: it moves to the last line break only, so a half-written line is read again.\n\n```go\nif err := f.Close(); err != nil {\n\treturn fmt.Errorf(\"closing: %w\", err)\n}\n```\n\nSee https://example.com/a?b=c and `state/store`. "
	for strings.Contains(prose, "\x00") || len(prose) < 2048 {
		prose += prose
	}
	prose = prose[:2048]
	b.Run("2KiB", func(b *testing.B) {
		b.SetBytes(2048)
		b.ReportAllocs()
		for b.Loop() {
			Text(prose)
		}
	})
	secret := prose[:1000] + " ghp_" + fake(36) + " " + prose[1041:]
	b.Run("2KiB_one_secret", func(b *testing.B) {
		b.SetBytes(2048)
		b.ReportAllocs()
		for b.Loop() {
			Text(secret)
		}
	})
}
