package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
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

// assetsAt is the folder of addresses that the document names its parts by. It has their hash in it, so
// that browsers keep them without asking, and a newer program's are others.
var assetsAt = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(assets, ".", func(path string, _ fs.DirEntry, _ error) error {
		body, _ := assets.ReadFile(path)
		sum.Write(body)
		return nil
	})
	return "/assets/" + hex.EncodeToString(sum.Sum(nil)[:6]) + "/"
})

// Page serves the page at / and /session/..., and its parts below /assets/: HTML, CSS and a small tree
// of ES modules, for browsers of 2024 or later. Sessions' texts reach the document as text and never as
// markup.
func Page(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	name, kept := strings.CutPrefix(r.URL.Path, assetsAt())
	if kept {
		h.Set("Cache-Control", "max-age=31536000, immutable")
	}
	name = strings.TrimPrefix(name, "/assets/")
	document := r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/session/")
	if document {
		name = "index.html" // the page reads the session from its own address
	}
	body, err := assets.ReadFile("page/assets/" + name)
	if err != nil {
		h.Set("Cache-Control", "no-cache")
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	if document {
		body = bytes.ReplaceAll(body, []byte(`"/assets/`), []byte(`"`+assetsAt()))
	}
	h.Set("Content-Type", types[path.Ext(name)])
	h.Set("ETag", `"`+path.Base(assetsAt())+`"`) // of all files: each is another with another program
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
