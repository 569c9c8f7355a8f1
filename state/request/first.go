package request

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/tidwall/gjson"
)

// tail is how many bytes of a transcript are read for what became of a call.
const tail = 512 << 10

// Refused reports whether a Deny that the client was given for a Permission counted: if the
// dialog is answered at the session at the same moment, only the transcript tells. It waits at
// most that long for the transcript; known is false if nothing comes, which is always so for
// subagents.
func (r *Request) Refused(wait time.Duration) (ours, known bool) {
	path := gjson.GetBytes(r.Payload, "transcript_path").String()
	if path == "" || r.UseID == "" || r.Actor != "" || r.Kind != Permission {
		return false, false
	}
	until(wait, 20*time.Millisecond, func() bool {
		ours, known = decidedBy(path, r.UseID)
		return ours // on a busy machine the client may write the result before the one who decided
	})
	return ours, known
}

// decidedBy looks at the end of a transcript for who decided the call useID: a hook's refusal
// has a line of its own next to the result's.
func decidedBy(path, useID string) (hook, known bool) {
	f, err := os.Open(path)
	if err != nil {
		return false, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, false
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tail), tail))
	if err != nil {
		return false, false
	}
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(useID)) || !gjson.ValidBytes(line) {
			continue
		}
		v := gjson.ParseBytes(line)
		if a := v.Get("attachment"); a.Get("type").Str == "hook_permission_decision" && a.Get("toolUseID").Str == useID {
			return true, true
		}
		for _, block := range v.Get("message.content").Array() {
			known = known || block.Get("type").Str == "tool_result" && block.Get("tool_use_id").Str == useID
		}
	}
	return false, known
}
