package page

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

var picture = flag.String("picture", "", "file to write the README's picture of the page to")

// maxPicture is what the README's picture may weigh, in bytes.
const maxPicture = 150_000

// The README's picture is made from a real run: the demo's recordings up to a
// moment, the real serve, a real browser.
//
//	go test ./render/web/page -run Picture -picture "$PWD/testdata/picture/serve.png"
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
	file := *picture
	if file == "" {
		file = filepath.Join(t.TempDir(), "serve.png")
	}
	p.shot(file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(b)); err != nil || len(b) > maxPicture {
		t.Errorf("the picture has %d bytes of at most %d, %v", len(b), maxPicture, err)
	}
}
