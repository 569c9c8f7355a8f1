package term

import (
	"fmt"
	"io"
	"strings"
	"time"

	"beckon/render"
)

// DrawDigest writes a line for each session: where it stands, and what it did.
func DrawDigest(w io.Writer, d render.Digest, zone *time.Location, st Style) error {
	var b strings.Builder
	since := d.Since.In(zone)
	format := "15:04"
	if since.Format(time.DateOnly) != st.Now.In(zone).Format(time.DateOnly) {
		format = "Mon 15:04"
	}
	fmt.Fprintf(&b, "since %s, %s ago\n", since.Format(format), Age(st.Now.Sub(since)))
	if len(d.Sessions) == 0 {
		b.WriteString("nothing happened\n")
	}
	label := columnOf(len(d.Sessions), labelWidth, func(i int) string { return where(&d.Sessions[i].Row).String() })
	for i := range d.Sessions {
		r := &d.Sessions[i]
		look := lookOf(r.State)
		head := fmt.Sprintf("%s %s  %-11s %4s  ", look.glyph, Fit(where(&r.Row).String(), label, false), Word(&r.Row),
			Age(st.Now.Sub(r.Since)))
		tail := digestSums(r)
		what := clean(r.What())
		if st.Width > 0 {
			what = truncate(what, max(st.Width-Width(head)-Width(tail), 10), "…")
		}
		b.WriteString(st.Paint(look.sgr, head) + what + st.Paint("2", tail) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// digestSums says what a session did, except for what its line shows already.
func digestSums(r *render.DigestRow) string {
	var sums []string
	if r.WorkedS >= 60 {
		sums = append(sums, "worked "+span(time.Duration(r.WorkedS)*time.Second))
	}
	if r.Asked > 1 || r.Asked == 1 && !r.NeedsYou {
		sums = append(sums, fmt.Sprintf("asked %d×", r.Asked))
	}
	if r.Failures > 1 || r.Failures == 1 && !r.NeedsYou {
		sums = append(sums, fmt.Sprintf("failed %d×", r.Failures))
	}
	if len(sums) == 0 {
		return ""
	}
	return "  (" + strings.Join(sums, ", ") + ")"
}
