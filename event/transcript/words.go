package transcript

// LastWords returns what the agent said last in the main conversation, as long
// as nothing came of it: no call, no result, no prompt and no Esc. That is the
// final message of a turn that is over; or the zero Item. It
// looks as far back as LastHalt does. Errors are those of Recent.
func LastWords(path string, limit Limits) (last Item, err error) {
	err = lookBack(path, limit, func(entries []Entry) (found bool) {
		last, found = lastWords(entries)
		return found
	})
	return last, err
}

// lastWords returns the last words in entries, and whether these tell anything
// of it.
func lastWords(entries []Entry) (last Item, found bool) {
	for i := range entries {
		e := &entries[i]
		switch begins := e.Prompt && e.Type != Queued; {
		case !e.Main():
			continue
		case begins, e.ToolResult, e.Interrupt, e.Synthetic, e.Aborted, e.Type == Assistant && len(e.ToolUseIDs) > 0:
			last = Item{}
		case e.Type == Assistant && e.Text != "":
			last = Item{e.Text, e.At}
		default:
			continue
		}
		found = true
	}
	return last, found
}
