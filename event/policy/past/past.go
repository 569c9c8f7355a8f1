// Package past reads the tool calls of earlier sessions, so that a policy can be tried on
// them: from the client's transcripts, from beckon's own history and policy trace, and from
// recordings. Transcripts and recordings contain whole calls. Journals and the trace keep one
// line of a call, redacted and without line breaks: a policy's answer to it is approximate. A
// line that was shortened is counted but not returned.
package past

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// maxLine limits one line, in bytes: a call may write a whole file.
const maxLine = 64 << 20

// Call is one past event that a policy would answer.
type Call struct {
	At      time.Time // zero if the file does not say
	Kind    event.Kind
	Payload json.RawMessage // as the hook would get it; from a shortened source only the tool and its subject
	Project string          // the project's directory, empty if the file does not say
	Place   string          // file and line
}

// Reader reads calls from files. The zero value reads everything.
type Reader struct {
	Since    time.Time               // calls before it are skipped, and files last written before it
	Progress func(read, total int64) // called now and then with bytes; may be nil

	Cut    int // calls of which only the beginning is known
	Broken int // lines that are not JSON

	seen map[string]bool // ids of calls that were returned: a resumed transcript repeats them
	err  error
}

// Err returns what went wrong while reading: an unreadable file or a context that ended. The
// other files were read.
func (r *Reader) Err() error { return r.err }

// Calls yields the calls of the files, and of the files ending in .jsonl below the
// directories, in the order of paths. A call in several files counts the first time. Missing
// files are skipped.
func (r *Reader) Calls(ctx context.Context, paths ...string) iter.Seq[Call] {
	return func(yield func(Call) bool) {
		r.seen = map[string]bool{}
		files, total := r.files(paths)
		var read int64
		for _, f := range files {
			if !r.file(ctx, f.path, yield) {
				return
			}
			if read += f.size; r.Progress != nil {
				r.Progress(read, total)
			}
		}
	}
}

type file struct {
	path string
	size int64
}

// files lists the files to read. An unreadable directory is an error, but the others are read;
// so are the remaining files if one disappears meanwhile.
func (r *Reader) files(paths []string) (list []file, total int64) {
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real // WalkDir does not follow its root
		}
		_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || p != path && !strings.HasSuffix(p, ".jsonl")) {
				return nil
			}
			var info fs.FileInfo
			if err == nil {
				info, err = d.Info()
			}
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				r.err = errors.Join(r.err, err)
			case err == nil && info.Mode().IsRegular() && !info.ModTime().Before(r.Since):
				list = append(list, file{p, info.Size()})
				total += info.Size()
			}
			return nil
		})
	}
	return list, total
}

// file yields the calls of one file and reports whether to go on.
func (r *Reader) file(ctx context.Context, path string, yield func(Call) bool) bool {
	f, err := os.Open(path)
	if err != nil {
		r.err = errors.Join(r.err, err)
		return true
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 64<<10), maxLine)
	var began time.Time // of a recording
	for n := 1; in.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			r.err = errors.Join(r.err, err)
			return false
		}
		line := gjson.ParseBytes(in.Bytes())
		if !line.IsObject() || !gjson.ValidBytes(in.Bytes()) {
			r.Broken += min(len(bytes.TrimSpace(in.Bytes())), 1)
			continue
		}
		if line.Get("kind").Str == "start" {
			began = time.UnixMilli(line.Get("t0_epoch_ms").Int())
		}
		for _, c := range r.parse(line, began) {
			c.Place = fmt.Sprintf("%s:%d", path, n)
			if (c.At.IsZero() || !c.At.Before(r.Since)) && r.first(c) && !yield(c) {
				return false
			}
		}
	}
	if err := in.Err(); err != nil && !errors.Is(err, io.EOF) {
		r.err = errors.Join(r.err, fmt.Errorf("reading %s: %w", path, err))
	}
	return true
}

// first reports whether the call was not seen before, by its id.
func (r *Reader) first(c Call) bool {
	id := gjson.GetBytes(c.Payload, "tool_use_id").Str
	if id == "" || c.Kind != event.PreToolUse {
		return true
	}
	if r.seen[id] {
		return false
	}
	r.seen[id] = true
	return true
}

// parse returns the calls of a line, depending on the kind of its file.
func (r *Reader) parse(line gjson.Result, began time.Time) []Call {
	switch {
	case line.Get("t_ms").Exists():
		return recorded(line, began)
	case line.Get("message.content").IsArray():
		return spoken(line)
	case line.Get("seq").Exists():
		e := line.Get("event")
		tool := e.Get("tool.name").Str
		subject := strings.TrimPrefix(e.Get("tool.summary").Str, tool+": ")
		return r.shortened(e, e.Get("kind").Str, time.UnixMilli(line.Get("at").Int()), tool, subject, e.Get("tool.id").Str)
	case line.Get("hooks").Exists():
		return r.shortened(line, line.Get("event").Str, line.Get("at").Time(), line.Get("tool").Str, line.Get("subject").Str, line.Get("tool_use_id").Str)
	}
	return nil
}

// recorded returns the hook payload of a line of a recording.
func recorded(line gjson.Result, began time.Time) []Call {
	kind := event.ByName(line.Get("kind").Str)
	payload := line.Get("payload")
	if kind == event.Unknown || !payload.IsObject() {
		return nil
	}
	at := time.Time{}
	if !began.IsZero() {
		at = began.Add(time.Duration(line.Get("t_ms").Int()) * time.Millisecond)
	}
	return []Call{{At: at, Kind: kind, Payload: json.RawMessage(payload.Raw), Project: line.Get("env.CLAUDE_PROJECT_DIR").Str}}
}

// spoken returns the tool calls of a transcript's line.
func spoken(line gjson.Result) (calls []Call) {
	for _, block := range line.Get("message.content").Array() {
		if block.Get("type").Str != "tool_use" {
			continue
		}
		payload := payloadOf(line.Get("sessionId").Str, line.Get("cwd").Str, block.Get("name").Str, block.Get("id").Str, json.RawMessage(block.Get("input").Raw))
		calls = append(calls, Call{At: line.Get("timestamp").Time(), Kind: event.PreToolUse, Payload: payload, Project: line.Get("cwd").Str})
	}
	return calls
}

// cutMark ends a text that was shortened.
const cutMark = "…"

// subjects are, per tool, the member that a call's one line shows.
var subjects = map[string]string{
	"Bash": "command", "PowerShell": "command", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "Read": "file_path",
	"NotebookEdit": "notebook_path", "WebFetch": "url",
}

// shortened returns the call of a line from a source that keeps one line per call.
func (r *Reader) shortened(of gjson.Result, kind string, at time.Time, tool, subject, id string) []Call {
	member, known := subjects[tool]
	if event.ByName(kind) != event.PreToolUse || !known || subject == "" {
		return nil
	}
	if strings.Contains(subject, cutMark) {
		r.Cut++
		return nil
	}
	cwd := of.Get("cwd").Str
	if strings.HasSuffix(member, "path") && cwd != "" && !filepath.IsAbs(subject) {
		subject = filepath.Join(cwd, subject)
	}
	input, err := json.Marshal(map[string]string{member: subject})
	if err != nil {
		return nil
	}
	return []Call{{At: at, Kind: event.PreToolUse, Payload: payloadOf(of.Get("session_id").Str, cwd, tool, id, input), Project: cwd}}
}

// payloadOf returns the payload that a PreToolUse hook would have got.
func payloadOf(session, cwd, tool, id string, input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	payload, err := json.Marshal(struct {
		Session string          `json:"session_id"`
		Cwd     string          `json:"cwd"`
		Event   event.Kind      `json:"hook_event_name"`
		Tool    string          `json:"tool_name"`
		ID      string          `json:"tool_use_id,omitempty"`
		Input   json.RawMessage `json:"tool_input"`
	}{session, cwd, event.PreToolUse, tool, id, input})
	if err != nil {
		return json.RawMessage("{}")
	}
	return payload
}
