package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	terminal "golang.org/x/term"
)

// progressAfter is how long an operation runs before it shows progress.
const progressAfter = time.Second

// Progress returns a function that shows on stderr how much of an operation is done, once it
// takes more than a second. The last call must have done equal to total, which clears the
// line. Nothing is shown unless stderr is a terminal.
func (a *App) Progress() func(done, total int64) {
	f, ok := a.Stderr.(*os.File)
	if !ok || !terminal.IsTerminal(int(f.Fd())) {
		return func(int64, int64) {}
	}
	return progress(f, time.Now)
}

func progress(w io.Writer, now func() time.Time) func(done, total int64) {
	const width = 30
	next, shown := now().Add(progressAfter), false
	return func(done, total int64) {
		switch at := now(); {
		case done >= total:
			if shown {
				fmt.Fprint(w, "\r\x1b[K")
			}
			shown = false
		case !at.Before(next):
			next, shown = at.Add(100*time.Millisecond), true
			n := int(done * width / total)
			fmt.Fprintf(w, "\r[%s%s] %d%%", strings.Repeat("#", n), strings.Repeat(" ", width-n), done*100/total)
		}
	}
}
