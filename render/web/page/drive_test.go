package page

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/state/request"
)

// driveEnv is the address of a page whose only offer TestDrive allows, for the tests of the
// real client.
const driveEnv = "BECKON_PAGE_TEST_DRIVE"

// TestDrive opens a page on a phone and allows the question there.
func TestDrive(t *testing.T) {
	t.Parallel()
	url := os.Getenv(driveEnv)
	if url == "" {
		t.Skip("the tests of the real client run this")
	}
	p := startChrome(t).open(t, "about:blank")
	p.size(360, 740, true)
	p.do("Page.navigate", map[string]any{"url": url})
	p.await("something is asked", `document.querySelector("[data-offer]")`)
	o := request.Request{ID: get[string](p, `document.querySelector("[data-offer]").dataset.offer`)}
	p.settled(o)
	if dir := shots(); dir != "" {
		p.shot(filepath.Join(dir, "client.png"))
	}
	p.push(o, "Allow")
	p.await("it is allowed", `!`+at(o)+` && document.getElementById("ends").innerText.includes("allowed by")`)
}
