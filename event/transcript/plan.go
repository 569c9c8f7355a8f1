package transcript

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// planTool is the call with which the agent wants a plan approved. The client writes
// the whole plan into it, also where the agent wrote a file.
const planTool = "ExitPlanMode"

// Plan returns the whole plan that the agent last asked to have approved, nothing
// where there is none as far back as LastHalt looks. Errors are those of Recent.
func Plan(path string) (string, error) {
	f, size, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for back := int64(firstWindow); ; back *= 4 {
		b := make([]byte, min(back, size))
		n, err := readAt(f, b, size-int64(len(b)))
		if err != nil {
			return "", err
		}
		if plan := lastPlan(b[:n]); plan != "" || back >= min(size, maxBack) {
			return plan, nil
		}
	}
}

// lastPlan looks through the lines of b from the end. One that begins before b is no
// JSON and left out.
func lastPlan(b []byte) string {
	for len(b) > 0 {
		b = bytes.TrimRight(b, "\n")
		line := b[bytes.LastIndexByte(b, '\n')+1:]
		b = b[:len(b)-len(line)]
		if !bytes.Contains(line, []byte(`"`+planTool+`"`)) || !gjson.ValidBytes(line) {
			continue
		}
		v := gjson.ParseBytes(line)
		plan := v.Get(`message.content.#(name=="` + planTool + `").input.plan`)
		if v.Get("type").Str == Assistant && plan.Type == gjson.String {
			return strings.ToValidUTF8(plan.Str, "\uFFFD")
		}
	}
	return ""
}
