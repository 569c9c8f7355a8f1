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
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// MaxSize is the size limit of the whole page, in bytes, before compression.
const MaxSize = 146_000

//go:embed assets
var assets embed.FS

// types are the media types of the page's files. The system's own table is not used: it
// differs between machines, and with nosniff a wrong one breaks the page.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",

	".webmanifest": "application/manifest+json",
}

// file is one asset, with its entity tag.
type file struct {
	body []byte
	kind string
	tag  string
}

// Handler serves the page at / and /session/..., and its parts below /assets/.
// Everything else is not found.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/assets/")
		if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/session/") {
			name = "index.html" // the page reads the session from its own address
		}
		f, ok := files[name]
		if !ok {
			http.Error(w, "there is nothing here", http.StatusNotFound)
			return
		}
		f.serve(w, r)
	})
}

func load() map[string]file {
	files := map[string]file{}
	entries, err := fs.ReadDir(assets, "assets")
	if err != nil {
		panic(err) // they are in the binary
	}
	for _, e := range entries {
		body, err := assets.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		files[e.Name()] = file{body, types[path.Ext(e.Name())], `"` + hex.EncodeToString(sum[:12]) + `"`}
	}
	return files
}

// serve lets the browser cache the file and revalidate it, so that a newer program is seen at
// the next load.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}
