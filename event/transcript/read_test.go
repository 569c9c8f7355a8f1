package transcript

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil || len(names) < 20 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".jsonl")] = b
	}
	return all
}

// assistant, user and result are lines as the client writes them, at second n.
func assistant(n int, text string) string {
	return `{"isSidechain":false,"message":{"role":"assistant","model":"m","content":[{"type":"text","text":` + strconv.Quote(text) + `}]},"type":"assistant","uuid":"a` + strconv.Itoa(n) + `","timestamp":` + stamp(n) + "}\n"
}

func user(n int, content string) string {
	return `{"isSidechain":false,"type":"user","message":{"role":"user","content":` + content + `},"uuid":"u` + strconv.Itoa(n) + `","timestamp":` + stamp(n) + "}\n"
}

func result(n int) string {
	return user(n, `[{"type":"tool_result","tool_use_id":"t`+strconv.Itoa(n)+`","content":"ok"}]`)
}

func stamp(n int) string {
	return `"` + time.Unix(int64(1795000000+n), 0).UTC().Format(time.RFC3339) + `"`
}

// counting counts the bytes read.
type counting struct {
	io.ReaderAt
	n int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// readFrom parses what linesAt returns.
func readFrom(src io.ReaderAt, size, from, most int64, text int) ([]Entry, int64, error) {
	b, next, err := linesAt(src, size, from, most)
	return parsed(b, text), next, err
}

// drain reads until there is nothing more.
func drain(t interface{ Fatal(...any) }, src io.ReaderAt, size, from, most int64, text int) ([]Entry, int64) {
	var all []Entry
	for {
		entries, next, err := readFrom(src, size, from, most, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entries...)
		if next == from {
			return all, next
		}
		from = next
	}
}

// plain is the reference: it parses each whole line on its own.
func plain(data []byte, text int) (entries []Entry) {
	for l := range bytes.Lines(data) {
		l, whole := bytes.CutSuffix(l, []byte("\n"))
		if !whole {
			continue
		}
		if e := parse(l, text); e.Type != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// check compares reading data in pieces that end at the given sizes with the reference.
func check(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, data []byte, sizes []int, most int64, text int) {
	var got []Entry
	var from int64
	for _, size := range append(slices.Clone(sizes), len(data)) {
		entries, next := drain(t, bytes.NewReader(data), int64(size), from, most, text)
		if next < from || next > int64(size) {
			t.Fatalf("from %d to %d at %d bytes", from, next, size)
		}
		if next > 0 && data[next-1] != '\n' {
			t.Fatalf("%d is not where a line begins", next)
		}
		got, from = append(got, entries...), next
	}
	if want := plain(data, text); !reflect.DeepEqual(got, want) {
		t.Fatalf("got %d entries, want %d\n%+v\n%+v", len(got), len(want), got, want)
	}
	for _, e := range got {
		if len(e.Text) > text || !utf8.ValidString(e.Text) || e.Type == "" || len(e.ToolUseIDs) > maxCalls {
			t.Fatalf("%+v", e)
		}
	}
}

// While the file grows byte by byte, each entry is read once.
func TestReadTornAtEveryByte(t *testing.T) {
	for name, data := range samples(t) {
		if testing.Short() && !strings.Contains(name, "progress") {
			continue
		}
		var sizes []int
		for i := range data {
			sizes = append(sizes, i)
		}
		check(t, data, sizes, chunk, MaxText)
	}
}

// The same holds for odd files, in pieces of any size.
func TestReadInPieces(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			assistant(1, "Some text of the agent."), user(2, `"a prompt"`), result(3), "\n", "\r\n", "{}\n", "null\n", "[1]\n", "{\n", "\x00\x00", "\xff\xfe", `{"type":"user"`,
			strings.ReplaceAll(assistant(4, "carriage"), "\n", "\r\n"), assistant(5, strings.Repeat("long ", 40)), user(6, strconv.Quote(strings.Repeat("x", 300))),
		}),
		rapid.StringN(0, 20, 40),
	)
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
		sizes := rapid.SliceOfN(rapid.IntRange(0, len(data)), 0, 20).Draw(t, "sizes")
		slices.Sort(sizes)
		check(t, data, sizes, int64(rapid.IntRange(1, 1000).Draw(t, "bytes")), rapid.IntRange(1, 50).Draw(t, "text"))
	})
}

func FuzzRead(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data[:min(len(data), 3000)], 100, 700, 300, 20)
	}
	f.Add([]byte("\x00"+assistant(1, "é")+"{\"type\":\"user\"}\n{\n\r\n"), 3, 10, 7, 1)
	f.Fuzz(func(t *testing.T, data []byte, a, b, most, text int) {
		if len(data) > 1<<16 || most < 1 || text < 1 {
			return
		}
		sizes := []int{max(0, min(a, len(data))), max(0, min(b, len(data)))}
		slices.Sort(sizes)
		check(t, data, sizes, int64(min(most, 1<<20)), text)
		// Recent returns the lines that begin in its window, or more.
		back := max(1, min(a, len(data)))
		entries, next, err := readFrom(bytes.NewReader(data), int64(len(data)), -int64(back), int64(back), text)
		if err != nil || next > int64(len(data)) {
			t.Fatalf("%d, %v", next, err)
		}
		all := plain(data, text)
		inWindow := plain(data[lineAt(data, len(data)-back):], text)
		n := len(all) - len(entries)
		if len(entries) < len(inWindow) || n < 0 || len(entries) > 0 && !reflect.DeepEqual(entries, all[n:]) {
			t.Fatalf("recent %d: got %+v, want %+v", back, entries, inWindow)
		}
	})
}

// lineAt returns the beginning of the first line at or after from.
func lineAt(data []byte, from int) int {
	if from <= 0 {
		return 0
	}
	if i := bytes.IndexByte(data[from-1:], '\n'); i >= 0 {
		return from + i
	}
	return len(data)
}

func write(t testing.TB, path string, parts ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(parts, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string, from int64) (string, int64) {
	t.Helper()
	entries, next, err := Read(path, from, MaxText)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.UUID)
	}
	return strings.Join(ids, " "), next
}

func TestReadFollowsOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	whole := assistant(1, "one") + assistant(2, "two")
	write(t, file, whole, assistant(3, "three")[:40])
	ids, c := read(t, file, 0)
	if ids != "a1 a2" || c != int64(len(whole)) {
		t.Errorf("got %q, %+v", ids, c)
	}
	if ids, again := read(t, file, c); ids != "" || again != c {
		t.Errorf("half a line: %q, %+v", ids, again)
	}
	write(t, file, whole, assistant(3, "three"), assistant(4, "four"))
	ids, c = read(t, file, c)
	if ids != "a3 a4" {
		t.Errorf("got %q", ids)
	}
	if ids, again := read(t, file, c); ids != "" || again != c {
		t.Errorf("nothing new: %q, %+v", ids, again)
	}
}

// A file that became shorter is read from its beginning, or from near its end. One that is missing
// for a moment changes nothing.
func TestReadNoticesAnotherFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	first := assistant(1, "one") + assistant(2, "two")
	write(t, file, first)
	_, c := read(t, file, 0)
	for name, tt := range map[string]struct{ text, ids string }{
		"rotated":           {assistant(7, "x"), "a7"},
		"cut short":         {assistant(1, "one"), "a1"},
		"emptied":           {"", ""},
		"cut inside a line": {first[:len(first)-20], "a1"},
	} {
		write(t, file, tt.text)
		ids, next := read(t, file, c)
		if ids != tt.ids || next >= c || next > int64(len(tt.text)) {
			t.Errorf("%s: got %q, %d; want %q", name, ids, next, tt.ids)
		}
		if ids, _ := read(t, file, next); ids != "" {
			t.Errorf("%s, again: %q", name, ids)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, next, err := Read(file, c, MaxText); !os.IsNotExist(err) || next != c {
		t.Errorf("gone: %d, %v", next, err)
	}
	write(t, file, first, assistant(3, "three"))
	if ids, _ := read(t, file, c); ids != "a3" {
		t.Errorf("a copy of the same: %q", ids)
	}
	line := assistant(4, strings.Repeat("x", back/4))
	write(t, file, strings.Repeat(line, 100))
	if entries, next, err := Read(file, 1<<40, MaxText); len(entries) != 3 || next != int64(100*len(line)) || err != nil {
		t.Errorf("near the end: %d entries, %d, %v", len(entries), next, err)
	}
}

func TestReadOddLines(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		ids  string
	}{
		"carriage returns":            {strings.ReplaceAll(assistant(1, "one")+assistant(2, "two"), "\n", "\r\n"), "a1 a2"},
		"blank lines":                 {"\n \n\r\n" + assistant(1, "one") + "\n\n" + assistant(2, "two"), "a1 a2"},
		"zero bytes of a crash":       {assistant(1, "one") + strings.Repeat("\x00", 4096) + assistant(2, "two"), "a1 a2"},
		"zero bytes, then nothing":    {assistant(1, "one") + strings.Repeat("\x00", 4096) + "\n", "a1"},
		"a zero byte in a string":     {strings.Replace(assistant(1, "one"), "one", "o\x00e", 1) + assistant(2, "two"), "a2"},
		"no JSON":                     {"hello\n{\"a\":\n}\n" + assistant(1, "one"), "a1"},
		"JSON, but no object":         {"null\n[]\n\"user\"\n1\n" + assistant(1, "one"), "a1"},
		"two objects on a line":       {strings.TrimSpace(assistant(1, "one")) + assistant(2, "two") + assistant(3, "three"), "a3"},
		"bytes that are not UTF-8":    {strings.Replace(assistant(1, "one"), "one", "o\xff\xc3e", 1), "a1"},
		"types of no interest":        {`{"type":"system","content":"\"user\""}` + "\n" + assistant(1, "one"), "a1"},
		"members of the wrong type":   {`{"type":"user","message":[1],"timestamp":{},"uuid":5,"isSidechain":"no"}` + "\n" + `{"type":"assistant","message":{"content":[5,"x",null,{"type":"text","text":7}]}}` + "\n", " "},
		"deeper than anything honest": {`{"type":"user","x":` + strings.Repeat("[", 40_000) + strings.Repeat("]", 40_000) + "}\n" + assistant(1, "one"), "a1"},
	} {
		entries, c := drain(t, strings.NewReader(tt.text), int64(len(tt.text)), 0, chunk, MaxText)
		var ids []string
		for _, e := range entries {
			ids = append(ids, e.UUID)
			if !utf8.ValidString(e.Text) {
				t.Errorf("%s: %q", name, e.Text)
			}
		}
		if strings.Join(ids, " ") != tt.ids || c != int64(len(tt.text)) {
			t.Errorf("%s: got %q, %+v", name, ids, c)
		}
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Read(filepath.Join(dir, "none"), 0, MaxText); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	for _, name := range []string{dir, os.DevNull} {
		if _, _, err := Read(name, 0, MaxText); err == nil {
			t.Errorf("%s is not a transcript", name)
		}
		if _, _, err := Read(name, -tail, MaxText); err == nil {
			t.Errorf("%s is not a transcript", name)
		}
	}
}
