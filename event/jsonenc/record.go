package jsonenc

import "github.com/tidwall/gjson"

// Record is a value that says which member of a JSON object each of its
// variables is. One table serves both directions, so that what is written is
// what is read.
type Record interface {
	// Fields returns the members in the order they are written. Every Field
	// points into the Record.
	Fields() []Field
}

// Field ties a member's key to the variable that holds its value: a *string,
// *bool, *int, *int64, *[]string, Record, List or Optional. A zero value (for a
// Record: one whose members are all zero) is left out.
type Field struct {
	Key string
	Ptr any
}

// List is a slice of Records; see Slice.
type List interface {
	Len() int
	Item(i int) Record
	Grow() Record // appends a zero item
}

// Optional is a pointer to a Record; see Pointer.
type Optional interface {
	Get() Record // nil if the pointer is
	New() Record // points to a zero record
}

type slice[T any, P interface {
	*T
	Record
}] struct{ s *[]T }

// Slice makes *s, a slice of records, the value of a Field.
func Slice[T any, P interface {
	*T
	Record
}](s *[]T) List {
	return slice[T, P]{s}
}

func (l slice[T, P]) Len() int          { return len(*l.s) }
func (l slice[T, P]) Item(i int) Record { return P(&(*l.s)[i]) }

func (l slice[T, P]) Grow() Record {
	var zero T
	*l.s = append(*l.s, zero)
	return l.Item(len(*l.s) - 1)
}

type pointer[T any, P interface {
	*T
	Record
}] struct{ p **T }

// Pointer makes *p, a pointer to a record that may be nil, the value of a Field.
func Pointer[T any, P interface {
	*T
	Record
}](p **T) Optional {
	return pointer[T, P]{p}
}

func (o pointer[T, P]) Get() Record {
	if *o.p == nil {
		return nil
	}
	return P(*o.p)
}

func (o pointer[T, P]) New() Record {
	*o.p = new(T)
	return P(*o.p)
}

// Append appends r as a JSON object.
func Append(dst []byte, r Record) []byte {
	dst = append(dst, '{')
	for _, f := range r.Fields() {
		dst = appendField(dst, f)
	}
	return append(dst, '}')
}

func appendField(dst []byte, f Field) []byte {
	mark := len(dst)
	dst = Key(dst, f.Key)
	dst, zero := appendValue(dst, f.Ptr)
	if zero {
		return dst[:mark]
	}
	return dst
}

// appendValue appends what ptr points to and reports whether it is zero.
func appendValue(dst []byte, ptr any) (_ []byte, zero bool) {
	switch p := ptr.(type) {
	case *string:
		return AppendString(dst, *p), *p == ""
	case *bool:
		return appendBool(dst, *p), !*p
	case *int:
		return appendInt(dst, int64(*p)), *p == 0
	case *int64:
		return appendInt(dst, *p), *p == 0
	case *[]string:
		return appendStrings(dst, *p), len(*p) == 0
	case Record:
		mark := len(dst)
		dst = Append(dst, p)
		return dst, len(dst) == mark+len("{}")
	case List:
		return appendList(dst, p), p.Len() == 0
	case Optional:
		r := p.Get()
		if r == nil {
			return append(dst, "null"...), true
		}
		return Append(dst, r), false
	}
	panic("jsonenc: a Field of a type that is not supported")
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for _, s := range list {
		dst = AppendString(Comma(dst), s)
	}
	return append(dst, ']')
}

func appendList(dst []byte, l List) []byte {
	dst = append(dst, '[')
	for i := range l.Len() {
		dst = Append(Comma(dst), l.Item(i))
	}
	return append(dst, ']')
}

// Decode fills r from the object v and reports whether v is one. Members
// without a Field and members of another type than the Field's are skipped.
// v must come from valid JSON; strings share memory with it.
func Decode(v gjson.Result, r Record) bool {
	if !v.IsObject() {
		return false
	}
	fields := r.Fields()
	next := 0 // members usually come in the order of the fields
	v.ForEach(func(key, v gjson.Result) bool {
		for i := range fields {
			f := &fields[(next+i)%len(fields)]
			if f.Key == key.Str {
				decodeValue(v, f.Ptr)
				next += i + 1
				break
			}
		}
		return true
	})
	return true
}

func decodeValue(v gjson.Result, ptr any) {
	switch v.Type {
	case gjson.String:
		if p, ok := ptr.(*string); ok {
			*p = v.Str
		}
	case gjson.True, gjson.False:
		if p, ok := ptr.(*bool); ok {
			*p = v.Type == gjson.True
		}
	case gjson.Number:
		decodeInt(v, ptr)
	case gjson.JSON:
		decodeComposite(v, ptr)
	}
}

func decodeInt(v gjson.Result, ptr any) {
	switch p := ptr.(type) {
	case *int:
		*p = int(v.Int())
	case *int64:
		*p = v.Int()
	}
}

func decodeComposite(v gjson.Result, ptr any) {
	switch p := ptr.(type) {
	case Record:
		Decode(v, p)
	case Optional:
		if v.IsObject() {
			Decode(v, p.New())
		}
	case List:
		decodeList(v, p)
	case *[]string:
		decodeStrings(v, p)
	}
}

func decodeList(v gjson.Result, l List) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			Decode(v, l.Grow())
		}
		return true
	})
}

func decodeStrings(v gjson.Result, list *[]string) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			*list = append(*list, v.Str)
		}
		return true
	})
}
