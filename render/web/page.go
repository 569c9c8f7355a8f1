package web

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

//go:embed page/assets
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

// Page serves the page at / and /session/..., and its parts below /assets/: HTML, CSS and a small tree
// of ES modules, for browsers of 2024 or later. Sessions' texts reach the document as text and never as
// markup. Browsers cache the files and revalidate them, so that a newer program is seen at the next load.
func Page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/assets/")
	if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/session/") {
		name = "index.html" // the page reads the session from its own address
	}
	body, err := assets.ReadFile("page/assets/" + name)
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
}
