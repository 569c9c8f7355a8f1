package access

import (
	"html/template"
	"net/http"
	"strings"

	"beckon/render/web/respond"
)

// wrongHost is a fault's code: the server does not have that name.
const wrongHost = "wrong_host"

// opens reports whether somebody opens the address of r in a browser.
func opens(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.Header.Get("Sec-Fetch-Dest") == "document" || fromBrowser(r) && strings.HasPrefix(r.Header.Get("Accept"), "text/html"))
}

// refusal is the page that a browser shows for a refusal, with what to do. It may not load
// anything.
var refusal = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>beckon</title></head>
<body><main><h1>{{.What}}</h1>{{range .Do}}<p>{{.Words}}</p><pre>{{.Command}}</pre>{{end}}{{with .Hint}}<p>{{.}}</p>{{end}}</main></body></html>
`))

// todo is a command, and a description.
type todo struct{ Words, Command string }

// writePage writes f for people.
func writePage(w http.ResponseWriter, f *respond.Fault) {
	page := struct {
		What, Hint string
		Do         []todo
	}{What: upper(f.Message), Hint: f.Hint}
	switch f.Code {
	case errUnauthorized.Code:
		page.What, page.Hint = "This browser is not signed in", ""
		page.Do = []todo{
			{"Only its owner sees what this server shows. On the machine where beckon runs, this prints the address that signs a browser in:", "beckon serve url"},
			{"And this shows it as a code for a phone:", "beckon serve url --qr"},
		}
	case wrongHost:
		page.Hint = ""
		page.Do = []todo{{"If it should be, start it with that name:", "beckon serve --host NAME"}}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.Status)
	_ = refusal.Execute(w, page) // a browser that has gone does not matter
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
