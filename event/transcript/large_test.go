package transcript

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// window is how much of the end is read.
const window = 64 << 10

// A line of 5 MB is read without being held in memory. A line over the limit is left out and
// counted once, even while it is being written.
func TestReadLongLines(t *testing.T) {
	image := `[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"image","source":{"data":"` + strings.Repeat("iVBORw0K", 5<<17) + `"}}]},{"type":"text","text":"see the picture"}]`
	words := strings.Repeat("Each word of this is the agent's. ", 40_000) + "Which one do you want?"
	text := assistant(1, "before") + user(2, image) + assistant(3, words) + assistant(4, "after")
	entries, c := drain(t, strings.NewReader(text), int64(len(text)), 0, chunk, MaxText)
	if len(entries) != 4 {
		t.Fatalf("got %d entries, %d", len(entries), c)
	}
	if e := entries[1]; !e.ToolResult || e.Text != "see the picture" || e.At == 0 || !slices.Equal(e.ToolUseIDs, []string{"t2"}) {
		t.Errorf("the picture: %+v", e)
	}
	if e := entries[2]; len(e.Text) != MaxText || !strings.HasSuffix(words, e.Text) {
		t.Errorf("the tail of a long text: %d bytes, %.80q", len(e.Text), e.Text)
	}
	text = assistant(1, "before") + user(2, strconv.Quote(strings.Repeat("y", maxLine+1<<20))) + assistant(4, "after")
	var got []Entry
	c = 0
	for size := int64(0); size < int64(len(text)); size += 3_000_000 {
		var more []Entry
		more, c = drain(t, strings.NewReader(text), size, c, chunk, MaxText)
		got = append(got, more...)
	}
	more, c := drain(t, strings.NewReader(text), int64(len(text)), c, chunk, MaxText)
	if got = append(got, more...); len(got) != 2 || got[1].UUID != "a4" || c != int64(len(text)) {
		t.Errorf("over the limit: %d entries, %d", len(got), c)
	}
}

// Recent never loses the line that is being written, however long it is.
func TestRecentKeepsALongTornLine(t *testing.T) {
	long := user(2, strconv.Quote(strings.Repeat("x", 1<<20)))
	text := assistant(1, "one") + long
	for _, size := range []int{len(text) - 1, len(text) - 1<<19} {
		_, c, err := readFrom(strings.NewReader(text), int64(size), -window, window, MaxText)
		if err != nil || c != int64(len(assistant(1, "one"))) {
			t.Fatalf("%d, %v", c, err)
		}
		entries, _ := drain(t, strings.NewReader(text), int64(len(text)), c, chunk, MaxText)
		if len(entries) != 1 || entries[0].UUID != "u2" {
			t.Errorf("got %+v", entries)
		}
	}
	file := filepath.Join(t.TempDir(), "t.jsonl")
	write(t, file, assistant(1, "one"), assistant(2, "two")[:30])
	if entries, c, err := Read(file, -window, MaxText); err != nil || len(entries) != 1 || c != int64(len(assistant(1, "one"))) {
		t.Errorf("%+v, %+v, %v", entries, c, err)
	}
}

// endless is a file of any size that repeats block.
type endless struct {
	block []byte
	at    int64 // from here on the content is tail
	tail  string
}

func (e endless) size() int64 { return e.at + int64(len(e.tail)) }

func (e endless) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < e.size() {
		var k int
		if off < e.at {
			from := off % int64(len(e.block))
			k = copy(p[n:], e.block[from:min(int64(len(e.block)), from+e.at-off)])
		} else {
			k = copy(p[n:], e.tail[off-e.at:])
		}
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Reading the new part of a transcript of 1 GB reads only that part, reading its end reads the
// last 64 KiB, and reading all of it takes little memory.
func TestOneGigabyte(t *testing.T) {
	var block strings.Builder
	for i := range 100 {
		block.WriteString(result(i) + assistant(i, strings.Repeat("Some words. ", 20)) + `{"type":"attachment","x":"` + strings.Repeat("y", 60_000) + "\"}\n")
	}
	const gigabyte = 1 << 30
	big := endless{block: []byte(block.String()), tail: result(200) + assistant(201, "The end of it all.")}
	big.at = gigabyte / int64(block.Len()) * int64(block.Len())
	src := &counting{ReaderAt: big}

	entries, end, err := readFrom(src, big.size(), -window, window, MaxText)
	if n := len(entries); err != nil || n == 0 || entries[n-1].Text != "The end of it all." {
		t.Fatalf("got %+v, %v", entries, err)
	}
	if end != big.size() || src.n > window {
		t.Errorf("the end cost %d bytes; %+v", src.n, end)
	}

	src.n = 0
	grown := big
	grown.tail += assistant(202, "One line more.")
	src.ReaderAt = grown
	entries, next := drain(t, src, grown.size(), end, chunk, MaxText)
	if len(entries) != 1 || entries[0].Text != "One line more." || next != grown.size() {
		t.Errorf("%+v, %+v", entries, next)
	}
	if more := int64(len(assistant(202, "One line more."))); src.n > more {
		t.Errorf("%d new bytes cost %d", more, src.n)
	}
	if testing.Short() {
		t.Skip("not all of it with -short")
	}

	var c int64
	var most uint64
	n := 0
	for {
		entries, next, err := readFrom(big, big.size(), c, chunk, MaxText)
		if err != nil {
			t.Fatal(err)
		}
		n += len(entries)
		if next == c {
			break
		}
		c = next
		if c%(64<<20) < chunk {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapSys)
		}
	}
	if want := int(big.at/int64(block.Len()))*200 + 2; n != want || c != big.size() {
		t.Errorf("%d entries, want %d; %+v", n, want, c)
	}
	if most > 128<<20 { // an eighth of what was read; the collector may lag
		t.Errorf("the heap grew to %d MiB", most>>20)
	}
}

// A sparse file of 1 GB on disk has one line of zero bytes, then the entries.
func TestSparseGigabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1 GB")
	}
	file := filepath.Join(t.TempDir(), "t.jsonl")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	tail := "\n" + user(1, `"the prompt"`) + assistant(2, "The end of it all.")
	if _, err := f.WriteAt([]byte(tail), 1<<30); err != nil {
		t.Skipf("no sparse file: %v", err)
	}
	f.Close()
	if entries, _, err := Read(file, -window, MaxText); len(entries) != 2 || err != nil {
		t.Errorf("%+v, %v", entries, err)
	}
	var ids string
	var c int64
	for {
		more, next := read(t, file, c)
		ids += more
		if next == c {
			break
		}
		c = next
	}
	if ids != "u1 a2" {
		t.Errorf("%q, %+v", ids, c)
	}
}

func BenchmarkReadNew(b *testing.B) {
	file := filepath.Join(b.TempDir(), "t.jsonl")
	old := strings.Repeat(assistant(1, "some words"), 5000)
	write(b, file, old, result(2), assistant(3, strings.Repeat("new words ", 50)))
	c := int64(len(old))
	b.ReportAllocs()
	for b.Loop() {
		if entries, _, err := Read(file, c, MaxText); err != nil || len(entries) != 2 {
			b.Fatal(len(entries), err)
		}
	}
}

func BenchmarkReadAll(b *testing.B) {
	var all bytes.Buffer
	for range 20 {
		for _, data := range samples(b) {
			all.Write(data)
		}
		all.WriteString(`{"type":"attachment","x":"` + strings.Repeat("y", 64_000) + "\"}\n")
	}
	src := bytes.NewReader(all.Bytes())
	b.SetBytes(int64(all.Len()))
	b.ReportAllocs()
	for b.Loop() {
		drain(b, src, int64(all.Len()), 0, chunk, MaxText)
	}
}
