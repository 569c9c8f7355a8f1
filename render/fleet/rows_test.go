package fleet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// faults lists every fault that a fleet must survive, and the tests that prove that it does.
var faults = []struct{ fault, tests string }{
	{"a link is killed", "bus TestLinkIsKilled"},
	{"a host is switched off, a container evicted", "fleet TestNotHeard; bus TestLinkIsKilled"},
	{"the network between host and hub is cut", "bus TestNetworkIsCut"},
	{"a connection carries nothing and is not ended", "bus TestHalfOpen"},
	{"connections are reset in the midst of a message", "bus TestResets"},
	{"the hub is killed, its disk is lost", "bus TestHubLosesItsDisk; suite TestFleetOfThree"},
	{"the hub is restored from a backup", "bus TestHubIsRestored; fleet TestFleetComesRight"},
	{"one of three servers dies, or two", "bus TestCluster"},
	{"a viewer's watch dies silently", "bus TestWatchDies; fleet TestFleetComesRight"},
	{"a viewer is slow", "bus TestSlowViewer"},
	{"messages come twice, out of order, of an old epoch", "fleet TestFleetComesRight"},
	{"a host's clock is a year off, or jumps", "fleet TestClocks; bus TestRowsTravel"},
	{"a host's files are a backup's", "bus TestOldEpoch"},
	{"a machine is cloned", "bus TestCopiedMachine; hub TestAnswerToCopy"},
	{"an access is revoked, or has ended", "hub TestHub; hub TestAnotherServer"},
	{"a host's disk is full", "beckon TestFleetViews"},
	{"a link of a newer version", "fleet TestNewerRows"},
	{"a hostile link: long rows, many rows, escape codes", "fleet TestStrangersAreCleaned; bus TestMadLink"},
	{"a stolen access", "hub TestHostMayDoNothingElse; hub TestAnswerWithoutRight"},
	{"an answer that is forged, replayed or meant for another", "ctl TestForged; ctl TestNumbers; hub TestReplayedAnswer; hub TestAnswerElsewhere"},
	{"all links come back at once", "bus TestHerd"},
}

// TestEveryFaultHasTests looks for them.
func TestEveryFaultHasTests(t *testing.T) {
	have := map[string]bool{}
	for name, dir := range map[string]string{"fleet": ".", "bus": "bus", "ctl": "ctl", "hub": "../../cmd/beckon-fleet", "beckon": "../../cmd/beckon", "suite": "../../cmd/internal/suite"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+f.Name(), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					have[name+" "+fn.Name.Name] = true
				}
			}
		}
	}
	for _, f := range faults {
		for test := range strings.SplitSeq(f.tests, "; ") {
			if !have[test] {
				t.Errorf("%s: there is no test %s", f.fault, test)
			}
		}
	}
}
