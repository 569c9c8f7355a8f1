// Command beckon shows which coding-agent sessions need their developer.
// `beckon help` lists its commands and the topics of its manual.
//
// # How it is built
//
//	an agent's hook: one process, the payload on stdin
//	     |
//	     v
//	beckon-hook --- its policy starts programs ---> beckon hook
//	     | (hook.Start)                                     | (hook.Main)
//	     | event.Parse: payload -> Event                    | policy: rules, commands, servers
//	     v                                                  |         -> one answer to the agent
//	store.Fold <------- the event, what was decided --------+
//	     |     lock, read, state.Apply, rename, a line of history, unlock
//	     v
//	sessions/KEY.json, history/DAY.jsonl       processes, the client's registry, transcripts
//	     |                                                  |
//	     v                                                  |
//	live.Reader, live.Follower <----------------------------+
//	     |     a snapshot, or what changed; what they find out is folded too
//	     |
//	     | state.Resolve(facts, evidence, now) -> one word
//	     v
//	render.Row ---> list, watch, statusline, prompt, tmux, serve, jump, notify
//
// Files are the one truth: nothing runs between hooks, and each view works the
// state out anew from facts and evidence.
//
//	cmd/beckon           the program that people run
//	cmd/beckon-hook      what hooks run: folds an event, answers by its rules, and exits
//	cmd/internal         what the two share: cli, config, service and manual; a package for each of the
//	                     commands setup, doctor, policies, fleets, talk (answer, reply, stop) and
//	                     segment (prompt, statusline); the hook process (hook, noblock, stack);
//	                     suite and bench, which drive the real programs in tests
//	event                what an agent said: payload -> Event; agents has the words of each,
//	                     transcript reads what hooks do not tell; intent reads messages,
//	                     redact takes secrets out; recording, osc, home, typed, jsonenc and
//	                     plainfile are forms of text and files; run runs programs
//	event/policy         what answers a hook: config reads files and has the packs, rule
//	                     and shell judge calls, run starts commands and servers, wire speaks to
//	                     agents and servers, trust keeps copies
//	state                Apply folds facts, Resolve makes one word of them; store has the files,
//	                     their locks and the history; evidence reads processes and the client's
//	                     registry, and live has both; history, stats, usage and alert say what was
//	                     said, sums, limits and what to notify of
//	state/request        what a session asks: its file, the waiting hook, the answer; a pin signs it
//	render               rows; term and tui draw them, card draws requests, jump goes to a pane,
//	                     hosts and fleet bring those of other machines
//	render/web           beckon serve: access says who may
//	render/notify        notifications; reach has their settings
//	installer            settings edits, plugin, client version; release
//	testdata             recordings, scripts, scenarios, files of earlier releases
//
// With answers installed, a hook that asks the user goes on as follows: its program
// folds the event and makes a request, becomes beckon-hook --wait, which costs nothing
// while it waits, and with an answer asks the policy once more and tells the client.
//
// Imports run cmd -> installer, render -> state -> event; a test holds that, and
// what the hook binary may link.
package main
