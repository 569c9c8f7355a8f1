package event

import (
	"beckon/event/jsonenc"
	"io"
	"strconv"
	"strings"
	"testing"
)

// sizes lists payload sizes in bytes, for a tool call that is mostly source text with lines of
// different lengths.
var sizes = [...]int{500, 50_000, 1_000_000, 10_000_000}

func sized(n int) []byte {
	const head = `{"session_id":"0d3f6f0e-5b0d-4a4f-9d0b-1f1f5f1f0d3f","transcript_path":"/home/u/.claude/projects/-p/0d3f.jsonl","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/p/src/main.go","content":"`
	const tail = `"},"tool_use_id":"toolu_01ABC"}`
	lines := [...]string{`\tif err := run(ctx, args[1:]); err != nil {\n`, `\t\treturn err\n`, `\t}\n`, `\n`,
		`// Bytes left out of a container are counted without the space between them.\n`, `\tname := \"beckon\" + suffix\n`}
	p := append(make([]byte, 0, n+200), head...)
	for i := 0; len(p) < n-len(tail) || i == 0; i++ {
		p = append(p, lines[i*i%41%len(lines)]...)
	}
	return append(p, tail...)
}

// small returns a payload of many short values, none of which can be cut.
func small(n int) []byte {
	const item = `{"line":12,"text":"short","ok":true},`
	return []byte(`{"session_id":"s","tool_name":"T","tool_input":{},"tool_response":[` + strings.Repeat(item, n/len(item)) + `{}],"tool_use_id":"t"}`)
}

func benchSizes(b *testing.B, f func(r io.Reader) error) {
	run := func(name string, p []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f(&pipe{p}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, n := range sizes {
		run(strconv.Itoa(n), sized(n))
	}
	run("small-values-1000000", small(1_000_000))
}

// pipe returns as much per read as a pipe does.
type pipe struct{ p []byte }

func (r *pipe) Read(p []byte) (int, error) {
	if len(r.p) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 64<<10)], r.p)
	r.p = r.p[n:]
	return n, nil
}

func BenchmarkParseReader(b *testing.B) {
	benchSizes(b, func(r io.Reader) error {
		_, err := ParseReader("", "", r)
		return err
	})
}

// BenchmarkPlainRead is the lower bound: the bytes are copied and not parsed.
func BenchmarkPlainRead(b *testing.B) {
	buf := make([]byte, 64<<10)
	benchSizes(b, func(r io.Reader) error {
		for {
			if _, err := r.Read(buf); err == io.EOF {
				return nil
			}
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	e, err := Parse("", "", sized(500))
	if err != nil {
		b.Fatal(err)
	}
	e.Origin = &Origin{Host: "h", Process: Process{Pid: 7, Start: "1"}, Git: Git{Branch: "main"}}
	text := jsonenc.Append(nil, &e)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		dst := make([]byte, 0, 4096)
		for b.Loop() {
			dst = jsonenc.Append(dst[:0], &e)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var e Event
			if !jsonenc.Decode(string(text), &e) {
				b.Fatal("refused")
			}
		}
	})
}
