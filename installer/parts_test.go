package installer

// op adds a part to a file, or removes it.
type op struct {
	part func(Target) Part
	on   bool

	testOnlyBeforeRename func()
}

func (o op) in(t Target) Part {
	p := o.part(t)
	p.testOnlyBeforeRename = o.testOnlyBeforeRename
	return p
}

func Plan(t Target, o op) (Change, error)  { return o.in(t).Plan(o.on) }
func Apply(t Target, o op) (Change, error) { return o.in(t).Apply(o.on) }

func Install(want Spec) op {
	return op{part: func(t Target) Part { return t.Hooks(want) }, on: true}
}

func Uninstall() op { return op{part: func(t Target) Part { return t.Hooks(Spec{}) }} }

func StatusLine(program string) op {
	return op{part: func(t Target) Part { return t.StatusLine(program) }, on: program != ""}
}

// A StartupLine is a line of ours in a start-up file; one without a text is to go.
type StartupLine struct{ Name, Text string }

func Put(line StartupLine) op {
	return op{part: func(t Target) Part { return t.line(line.Name, line.Text) }, on: line.Text != ""}
}

func List(name string, words []string, on bool) op {
	return op{part: func(t Target) Part { return t.List(name, words) }, on: on}
}
