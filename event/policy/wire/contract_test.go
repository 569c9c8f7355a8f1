package wire

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"beckon/event"

	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "write testdata/contract.txt from what is found")

// wishes are what a policy may want from an event.
var wishes = []struct {
	name string
	v    Verdict
}{
	{"silence", Verdict{}},
	{"allow", Verdict{Decision: Allow, Reason: "fine"}},
	{"ask", Verdict{Decision: Ask, Reason: "sure?"}},
	{"deny", Verdict{Decision: Deny, Reason: "no"}},
	{"modify", Verdict{Input: []byte(`{"command":"ls"}`)}},
	{"allow and modify", Verdict{Decision: Allow, Input: []byte(`{"command":"ls"}`)}},
	{"context", Verdict{Context: []string{"one", "two"}}},
	{"system", Verdict{System: []string{"look"}}},
	{"halt", Verdict{Halt: true, HaltReason: "enough"}},
	{"terminal", Verdict{Terminal: "\a"}},
	{"extra", Verdict{Extra: map[string]json.RawMessage{"sessionTitle": []byte(`"t"`), "retry": []byte("true"), "watchPaths": []byte("[]"),
		"updatedToolOutput": []byte(`"x"`), "action": []byte(`"accept"`), "content": []byte("{}"), "nonsense": []byte("1")}}},
	{"all", Verdict{Decision: Deny, Reason: "no", Input: []byte(`{}`), Context: []string{"c"}, System: []string{"s"}, Halt: true, Terminal: "\a",
		Interrupt: []byte("true"), UpdatedPermissions: []byte("[]")}},
}

// Every event with every wish gives an answer that the client's schema accepts, or names what
// it left out. testdata/contract.txt is the whole table, for people to read.
func TestContract(t *testing.T) {
	data, err := os.ReadFile("testdata/output.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema := compile(t, data)
	var table strings.Builder
	for _, info := range event.Kinds {
		fmt.Fprintf(&table, "%s\n", info.Kind)
		for _, w := range wishes {
			a := Dialect{}.Translate(info.Kind, w.v, false, nil)
			fmt.Fprintf(&table, "  %s:", w.name)
			if len(a.Stdout) > 0 {
				fmt.Fprintf(&table, " %s", strings.TrimSpace(string(a.Stdout)))
			}
			if a.ExitCode != 0 {
				fmt.Fprintf(&table, " exit %d, stderr %q", a.ExitCode, a.Stderr)
			}
			if len(a.Dropped) > 0 {
				fmt.Fprintf(&table, " dropped %v", a.Dropped)
			}
			table.WriteString("\n")
			if len(a.Stdout) == 0 {
				continue
			}
			if err := valid(t, schema, a.Stdout); err != nil {
				t.Errorf("%s %s: %s: %v", info.Kind, w.name, a.Stdout, err)
			}
			if name := gjson.GetBytes(a.Stdout, "hookSpecificOutput.hookEventName"); name.Exists() && name.Str != string(info.Kind) {
				t.Errorf("%s %s: hookEventName %q", info.Kind, w.name, name.Str)
			}
			if strings.Count(string(a.Stdout), "\n") != 1 || !strings.HasPrefix(string(a.Stdout), "{") || !strings.HasSuffix(string(a.Stdout), "}\n") {
				t.Errorf("%s %s: not one object on one line: %q", info.Kind, w.name, a.Stdout)
			}
		}
	}
	const golden = "testdata/contract.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != table.String() {
		t.Errorf("the table is another one (-update writes it): %v", err)
	}
}

// The contract contains exactly the events of the kind table.
func TestContractIsWhole(t *testing.T) {
	if len(contract) != len(event.Kinds) {
		t.Fatalf("%d rows for %d events", len(contract), len(event.Kinds))
	}
	for i, info := range event.Kinds {
		if contract[i].Kind != info.Kind {
			t.Errorf("row %d is %s, want %s", i, contract[i].Kind, info.Kind)
		}
		if (contract[i].Never != "") != (info.Register == event.Never) {
			t.Errorf("%s: registered %v, never %q", info.Kind, info.Register, contract[i].Never)
		}
	}
}

// A member of the answer itself is not one of hookSpecificOutput: there it is dropped.
func TestTerminalSequenceIsNoExtra(t *testing.T) {
	v := Verdict{Extra: map[string]json.RawMessage{"terminalSequence": json.RawMessage(`"x"`)}}
	if a := (Dialect{}).Translate(event.Stop, v, false, nil); a.Stdout != nil || len(a.Dropped) != 1 {
		t.Errorf("%s, dropped %v", a.Stdout, a.Dropped)
	}
}
