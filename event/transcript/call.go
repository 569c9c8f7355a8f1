package transcript

import "slices"

// Call reports whether the call of that id stands in the transcript at path and
// whether its result does, whatever that is. It looks as far back as LastHalt;
// of a call made before that, made is false. Errors are those of Recent.
func Call(path, id string) (made, answered bool, err error) {
	for back := int64(firstWindow); ; back *= 4 {
		entries, c, err := Recent(path, back, Limits{})
		if err != nil {
			return false, false, err
		}
		for i := range entries {
			e := &entries[i]
			if slices.Contains(e.ToolUseIDs, id) {
				made = made || e.Type == Assistant
				answered = answered || e.ToolResult
			}
		}
		if made || back >= maxBack || back >= c.Offset {
			return made, answered, nil
		}
	}
}
