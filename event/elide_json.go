package event

// The grammar of JSON: each method consumes what begins with the byte c, and reports whether
// the payload is still valid.

func (e *elider) key(c byte) bool {
	if c != '"' {
		return e.fail("no key where one must be")
	}
	e.element()
	e.state = wantColon
	return e.string()
}

func (e *elider) after(c byte) bool {
	switch {
	case e.depth == 0:
		return e.fail("something after the end")
	case c == ',' && e.inObject():
		e.state = wantKey
	case c == ',':
		e.state = wantValue
	case c == '}' && e.inObject() || c == ']' && !e.inObject():
		return e.close()
	default:
		return e.fail("no comma after a value")
	}
	e.pos++
	return true
}

func (e *elider) value(c byte) bool {
	e.state = wantComma
	switch c {
	case '{':
		return e.open(true, wantFirstKey)
	case '[':
		return e.open(false, wantFirstValue)
	case '"':
		return e.string()
	case 't':
		return e.literal("true")
	case 'f':
		return e.literal("false")
	case 'n':
		return e.literal("null")
	}
	return e.number(c)
}

func (e *elider) open(object bool, next state) bool {
	if e.depth == MaxDepth {
		return e.fail("nesting is too deep")
	}
	e.depth++
	e.kinds[e.depth] = object
	e.pos++
	e.state = next
	return true
}

func (e *elider) close() bool {
	e.depth--
	e.pos++
	e.state = wantComma
	if e.skip.on && e.depth == e.skip.base {
		e.endSkip()
	}
	return true
}

func (e *elider) literal(word string) bool {
	for i := 0; i < len(word); i++ {
		if !e.more() {
			return e.fail(cutShort)
		}
		if e.buf[e.pos] != word[i] {
			return e.fail("no such literal")
		}
		e.pos++
	}
	return true
}

func (e *elider) number(c byte) bool {
	start := e.w + e.pos - e.seg
	if c == '-' {
		e.pos++
		if !e.more() {
			return e.fail(cutShort)
		}
		c = e.buf[e.pos]
	}
	switch {
	case c == '0':
		e.pos++
	case !e.digits(start):
		return false
	}
	if e.more() && e.buf[e.pos] == '.' {
		e.pos++
		if !e.digits(start) {
			return false
		}
	}
	if e.more() && e.buf[e.pos]|0x20 == 'e' && !e.exponent(start) {
		return false
	}
	e.endNumber(start)
	return e.bad == nil
}

func (e *elider) exponent(start int) bool {
	e.pos++
	if e.more() && (e.buf[e.pos] == '+' || e.buf[e.pos] == '-') {
		e.pos++
	}
	return e.digits(start)
}

// digits consumes one or more digits of the number whose result starts at start.
func (e *elider) digits(start int) bool {
	if !e.more() {
		return e.fail(cutShort)
	}
	if c := e.buf[e.pos]; c < '0' || c > '9' {
		return e.fail("no value where one must be")
	}
	for e.more() && '0' <= e.buf[e.pos] && e.buf[e.pos] <= '9' {
		e.pos++
		if e.pos == e.end && !e.skip.on {
			e.flush()
			e.w = min(e.w, start+maxNumber+1) // endNumber drops it anyway
		}
	}
	return true
}

func (e *elider) endNumber(start int) {
	if e.skip.on || e.w+e.pos-e.seg-start <= maxNumber {
		return
	}
	e.flush()
	e.w = start + copy(e.buf[start:], "null")
}
