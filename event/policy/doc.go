// Package policy answers a hook: it reads what the user decided about their
// agents (policy.json), puts each event to the handlers that match it, merges
// what they say into one answer and writes that in the client's own words.
//
// It guarantees: silence when no handler has anything to say; the same answer
// for the same event and policy (handlers that rewrite run one after the other
// in a stated order, and no answer depends on which was done first); one
// deadline over everything that an event starts; nothing that an event cannot
// express reaches the client; a file with a mistake never switches off what
// was in force before it. It does not guarantee that a policy cannot be got
// round: an agent that may run any command may do by another command what a
// rule for the first forbids. It is a guard rail, not a sandbox.
//
// The package is an edge: it reads files and starts handlers. It is linked by
// beckon alone, never by beckon-hook (DESIGN.md section 6).
package policy
