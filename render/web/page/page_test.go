// Package page tests the page in browsers.
package page

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"beckon/render/web"
)

// every calls f with each file of the page.
func every(t *testing.T, f func(name, text string)) {
	t.Helper()
	entries, err := os.ReadDir("assets")
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d assets, %v", len(entries), err)
	}
	for _, e := range entries {
		b, err := os.ReadFile("assets/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		f(e.Name(), string(b))
	}
}

// maxSize is the size limit of the whole page, in bytes, before compression.
const maxSize = 152_000

func TestPageIsSmall(t *testing.T) {
	size := 0
	every(t, func(_, text string) { size += len(text) })
	if size > maxSize {
		t.Errorf("the page has %d bytes, more than %d", size, maxSize)
	}
	t.Logf("%d bytes of %d", size, maxSize)
}

// markup matches the ways in which a text could become markup or code, and the styles and
// scripts that the content security policy blocks.
var markup = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|setHTML|createContextualFragment|` +
	`\beval\b|new Function|javascript:|XSLT| on[a-z]+="|<style|style="|\.cssText|setAttribute\("(on|style)|import\(`)

func TestTextIsNeverMarkup(t *testing.T) {
	every(t, func(name, text string) {
		if m := markup.FindString(text); m != "" {
			t.Errorf("%s has %q", name, m)
		}
		if inline := regexp.MustCompile(`<script[^>]*>[^<]`).FindString(text); inline != "" {
			t.Errorf("%s has a script inside: %q", name, inline)
		}
	})
}

// The page works without a network: names of other hosts are only namespaces.
func TestNothingFromElsewhere(t *testing.T) {
	host := regexp.MustCompile(`(https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^"'\s]*`)
	every(t, func(name, text string) {
		for _, u := range host.FindAllString(text, -1) {
			if u != "http://www.w3.org/2000/svg" {
				t.Errorf("%s names %s", name, u)
			}
		}
	})
}

// Every file that the page requests exists.
func TestPartsAreThere(t *testing.T) {
	h := http.HandlerFunc(web.Page)
	wants := regexp.MustCompile(`(?:from|href=|src=|import) ?"(\.?/[^"]*\.[a-z]+)"`)
	found := 0
	every(t, func(name, text string) {
		for _, m := range wants.FindAllStringSubmatch(text, -1) {
			p := "/assets/" + path.Base(m[1])
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, p, nil))
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") == "" {
				t.Errorf("%s wants %s: %d, %q", name, m[1], w.Code, w.Header().Get("Content-Type"))
			}
			found++
		}
	})
	if found < 20 {
		t.Errorf("only %d parts are asked for", found)
	}
}

func TestHandler(t *testing.T) {
	h := http.HandlerFunc(web.Page)
	get := func(path, tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path = path
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for path, want := range map[string]int{
		"/": 200, "/session/abc": 200, "/session/a%2Fb": 200, "/assets/main.mjs": 200, "/assets/style.css": 200,
		"/assets/": 404, "/assets/nothing.js": 404, "/assets/../page.go": 404, "/assets/sub/main.mjs": 404, "/assets//etc/passwd": 404,
	} {
		if w := get(path, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	w := get("/", "")
	if again := get("/session/x", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("with its tag: %d and %d bytes", again.Code, again.Body.Len())
	}
	if !strings.HasPrefix(w.Body.String(), "<!doctype html>") {
		t.Error("it is not a page")
	}
}

// A key that watch has, too, does the same here, in the same words.
func TestKeysOfWatch(t *testing.T) {
	watch, err := os.ReadFile(filepath.Join("..", "..", "tui", "keys.go"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("assets/index.html")
	if err != nil {
		t.Fatal(err)
	}
	does := map[string]string{}
	for _, m := range regexp.MustCompile(`<dt>(.*?)</dt><dd>(.*?)</dd>`).FindAllSubmatch(page, -1) {
		for _, key := range regexp.MustCompile(`<kbd>(.*?)</kbd>`).FindAllSubmatch(m[1], -1) {
			does[string(key[1])] += " " + string(m[2])
		}
	}
	same := 0
	for _, m := range regexp.MustCompile(`\{"[^"]*", "([^" ]+)[^"]*", "([a-z]+)", "`).FindAllSubmatch(watch, -1) {
		key, word := string(m[1]), string(m[2])
		if key == "q" { // the browser closes a tab
			continue
		}
		if !strings.Contains(does[key], word) {
			t.Errorf("watch says %q of %s, the page %q", word, key, does[key])
		}
		same++
	}
	if same < 8 {
		t.Errorf("only %d keys were compared", same)
	}
}
