// Package policy answers a hook: it reads what the user decided about their
// agents (policy.json), puts each event to the hooks that match it, merges what
// they say into one answer and writes that in the client's own words.
//
// It guarantees: silence when no hook has anything to say; the same answer for
// the same event and policy; one deadline over everything that an event starts,
// and rules that are judged whatever becomes of the rest; nothing that an event
// cannot express reaches the client; a file with a mistake never switches off
// what was in force before it. It does not guarantee that a policy cannot be got
// round: an agent that may run any command may do by another command what a
// rule for the first forbids. It is a guard rail, not a sandbox.
//
// The rooms below it: command reads shell lines, match says what a rule covers,
// config reads the files, wire has what an event can express and the JSON of all
// sides, trust keeps files between hooks, run starts commands and asks servers and
// models, quiet finds the calls that no rule can concern. This package starts
// nothing itself.
package policy
