// Package page is the dashboard of `beckon serve`: HTML, CSS and a small tree of ES modules,
// embedded unchanged from assets/. There is no build step, and nothing is loaded from another
// host.
//
// It guarantees: sessions' texts reach the document as text and never as markup (a test looks
// for every way around that); it decides no state, the rows are those of `list --json` in
// their order (tests compare both); it runs under the server's content security policy,
// without inline script or style; all of it is smaller than MaxSize. It needs a browser of
// 2024 or later.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"
)

// MaxSize is the size limit of the whole page, in bytes, before compression.
const MaxSize = 152_000

//go:embed assets
var assets embed.FS

// types are the media types of the page's files. The system's own table is not used: it
// differs between machines, and with nosniff a wrong one breaks the page.
var types = map[string]string{
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".svg":         "image/svg+xml",
	".webmanifest": "application/manifest+json",
}

// Handler serves the page at / and /session/..., and its parts below /assets/. Everything else is
// not found. Browsers cache the files and revalidate them, so that a newer program is seen at the
// next load.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/assets/")
		if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/session/") {
			name = "index.html" // the page reads the session from its own address
		}
		body, err := assets.ReadFile("assets/" + name)
		if err != nil {
			http.Error(w, "there is nothing here", http.StatusNotFound)
			return
		}
		sum := sha256.Sum256(body)
		h := w.Header()
		h.Set("Content-Type", types[path.Ext(name)])
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}
