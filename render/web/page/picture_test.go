package page

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var picture = flag.String("picture", "", "file to write the picture of the page to; those of a phone and of the timeline stand beside it")

// maxPicture is the maximum size of the README's picture, in bytes.
const maxPicture = 150_000

// The pictures of the page come from a real run: the demo's recordings up to one moment, a
// made-up day for the timeline, the real serve, a real browser.
//
//	go test ./render/web/page -run Picture -picture
func TestPicture(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.beckon("demo", "--list", "--speed", "0", "--until", "4.6", "--dir", w.state)
	w.start()
	p := c.open(t, "about:blank")
	p.size(1240, 880, false)
	p.scheme("light")
	p.do("Page.navigate", map[string]any{"url": w.page("")})
	p.await("it is furnished", `document.querySelectorAll("#groups .card").length === 8 && document.querySelectorAll(".turns li").length > 0 &&
		document.querySelectorAll("#hooks dd").length > 0 && document.querySelectorAll("#stats td").length > 0`)
	dir := filepath.Dir(*picture)
	if *picture == "" {
		dir = t.TempDir()
	}
	take := func(p *tab, name string) {
		t.Helper()
		file := filepath.Join(dir, name+".png")
		p.shot(file)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(b)); err != nil || len(b) > maxPicture {
			t.Errorf("the picture %s has %d bytes of at most %d, %v", name, len(b), maxPicture, err)
		}
	}
	take(p, "serve")
	p.size(390, 640, true)
	p.scheme("dark")
	p.view("rows")
	p.await("it is in rows", `document.querySelectorAll("#groups.rows .card").length === 8`)
	take(p, "phone")

	w = newWorld(t)
	w.shift(time.Hour)
	w.start()
	p = c.open(t, "about:blank")
	p.size(1240, 520, false)
	p.scheme("light")
	p.goTo(w.page(""))
	p.await("what was is told", `!document.getElementById("digest").hidden`)
	p.press("Escape")
	p.await("it is dismissed", `document.getElementById("digest").hidden`)
	p.view("day")
	p.await("its lanes are there", `document.querySelectorAll("#lanes li.lane").length > 0 && document.querySelectorAll("#stats td").length > 0 && document.querySelectorAll("#hooks dd").length > 0`)
	take(p, "timeline")
}

// view chooses how the board is shown.
func (p *tab) view(is string) {
	p.t.Helper()
	p.must(p.eval(fmt.Sprintf(`document.getElementById("view").value = %q, document.getElementById("view").dispatchEvent(new Event("change"))`, is), nil))
}
