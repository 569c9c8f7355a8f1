// Command beckon shows which coding-agent sessions need their developer.
// `beckon help` lists its commands and the topics of its manual.
//
// # How it is built
//
//	an agent's hook: one process, the payload on stdin
//	     |
//	     v
//	beckon-hook --- there is a policy for it ---> beckon-judge, or beckon hook
//	     |                                                  |
//	     | event.Parse: payload -> Event                    | policy: rules, commands, servers
//	     v                                                  |         -> one answer to the agent
//	store.Fold <------- the event, what was decided --------+
//	     |     lock, read, state.Apply, journal line, rename, unlock
//	     v
//	sessions/KEY.json, journal/KEY.jsonl       processes, the client's registry, transcripts
//	     |                                                  |
//	     v                                                  |
//	evidence.Reader <---------------------------------------+
//	     |     what it finds out is folded too
//	     |
//	     | state.Resolve(facts, evidence, now) -> one word
//	     v
//	render.Row ---> list, watch, statusline, prompt, tmux, serve, jump, notify
//
// Files are the one truth: nothing runs between hooks, and each view works the
// state out anew from facts and evidence.
//
//	cmd        beckon, the program people run; beckon-hook, the one hooks run;
//	           beckon-judge, which it becomes where a policy has only rules;
//	           internal: the manual, configuration, the hook's work, the lab
//	           that drives the real client, and the suite that runs it
//	event      what an agent said: kinds, payloads, other agents' tables; intent
//	           (what a message asks), transcript, redact, osc (terminal
//	           sequences), policy (what answers a hook)
//	state      what it means: Apply folds facts, Resolve turns facts and evidence
//	           into one word; store (files and locks), evidence (process,
//	           registry, transcript), history (turns), correlate (seats), stats,
//	           alert (what to notify), offer (what a session asks, and who
//	           answered), offer/hold (the hook that waits for that)
//	render     how it is shown: rows; term (lists), tui (watch), web (serve) and
//	           its page, jump, hosts, notify, card (an offer, whole)
//	installer  settings edits, plugin, client version; in release what makes a
//	           release
//	testdata   recordings of the real client, scripts, scenarios of the lab, the
//	           benchmark, files of earlier releases
//
// With answers installed, a hook that asks the user goes on as follows: its program
// becomes beckon-judge, which folds the event and writes an offer, then beckon-hook
// --wait, which costs nothing while it waits, and with an answer beckon-judge again,
// which asks the policy once more and tells the client.
//
// Imports run cmd -> installer, render -> state -> event; a test holds that, and
// what the hook binary may link.
package main
