package transcript

import "slices"

// Call reports whether the call of that id stands in the transcript at path and
// whether its result does, whatever that is. It looks as far back as LastHalt;
// of a call made before that, made is false. Errors are those of Recent.
func Call(path, id string) (made, answered bool, err error) {
	err = lookBack(path, Limits{}, func(entries []Entry) bool {
		for i := range entries {
			e := &entries[i]
			if slices.Contains(e.ToolUseIDs, id) {
				made = made || e.Type == Assistant
				answered = answered || e.ToolResult
			}
		}
		return made
	})
	return made, answered, err
}
