package access

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"beckon/render/web/respond"
)

// policyCSP lets the page load only its own files, run no inline script, and create no markup
// from text. The one Trusted Types policy that it allows is created as the page starts, and
// names its service worker.
const policyCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types worker"

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policyCSP)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}

// wrongHost is a fault's code: the server does not have that name.
const wrongHost = "wrong_host"

// refusal is the page that a browser shows for a refusal, with what to do. It loads nothing.
var refusal = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>beckon</title></head>
<body><main><h1>{{.What}}</h1>{{range .Do}}<p>{{.Words}}</p><pre>{{.Command}}</pre>{{end}}</main></body></html>
`))

// todo is a command, and a description.
type todo struct{ Words, Command string }

// refuse responds with f, to somebody who opens the address in a browser with a page.
func refuse(w http.ResponseWriter, r *http.Request, f *respond.Fault) {
	switch f.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="beckon"`)
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	}
	opens := r.Header.Get("Sec-Fetch-Dest") == "document" ||
		fromBrowser(r) && strings.HasPrefix(r.Header.Get("Accept"), "text/html")
	if r.Method != http.MethodGet || !opens {
		respond.Error(w, f)
		return
	}
	page := struct {
		What string
		Do   []todo
	}{What: strings.ToUpper(f.Message[:1]) + f.Message[1:]}
	switch f.Code {
	case errUnauthorized.Code:
		page.What = "This browser is not signed in"
		page.Do = []todo{
			{"Only its owner sees what this server shows. On the machine where beckon runs, " +
				"this prints the link that signs a browser in:", "beckon serve url"},
			{"And this shows it as a code for a phone:", "beckon serve url --qr"},
		}
	case wrongHost:
		page.Do = []todo{{"If it should be, start it with that name:", "beckon serve --host NAME"}}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.Status)
	_ = refusal.Execute(w, page) // a browser that has gone does not matter
}
