// Command beckon shows which coding-agent sessions need their developer.
// `beckon help` lists its commands and the topics of its manual.
//
// # How it is built
//
//	an agent's hook: one process, the payload on stdin
//	     |
//	     v
//	beckon-hook --- its policy starts programs ---> beckon hook
//	     |                                                  |
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
//	cmd/beckon                   the program that people run: a file a command
//	cmd/beckon-hook              what hooks run: folds an event and exits
//	cmd/internal/cli             what its commands share: errors, configuration, sessions
//	cmd/internal/segment         prompt and statusline
//	cmd/internal/setup           setup, install, uninstall, plugin
//	cmd/internal/doctor          doctor: a table of checks
//	cmd/internal/policies        policy
//	cmd/internal/fleets          fleet, and the rows of other machines
//	cmd/internal/talk            answer, reply, stop, away, back
//	cmd/internal/hook            a hook process: fold, ask the policy or the user, answer
//	cmd/internal/noblock         a hook that dies does not block the agent
//	cmd/internal/stack           a hook's stack is large from the start
//	cmd/internal/config          config.json, and every setting in it
//	cmd/internal/manual          the pages of beckon help
//	cmd/internal/suite           scenarios of the real client, as tests, and what drives it
//	cmd/internal/bench           benchmarks of whole programs, and a soak
//
//	event                        what an agent said: payload -> Event
//	event/agents                 the words of an agent's hooks, as tables
//	event/agents/beside          what other agents tell beside their hooks
//	event/intent                 what a message asks of the developer
//	event/transcript             the client's transcript
//	event/recording              recordings of the real client
//	event/redact                 takes secrets out
//	event/osc                    terminal sequences
//	event/home                   where beckon's files and programs are
//	event/typed                  durations and misspelt words that people type
//	event/bounded                the beginning of what a program prints
//	event/jsonc                  JSON with comments
//	event/jsonenc                JSON of records, for a process that lives a millisecond
//	event/plainfile              regular files: without the poller, replaced as a whole, their versions
//	event/policy                 what answers a hook
//	event/policy/config          policy files
//	event/policy/packs           the rules that ship with beckon
//	event/policy/rule            whether a rule covers a call
//	event/policy/shell           the commands that a line runs
//	event/policy/run             commands, servers, prompts
//	event/policy/wire            events and answers, as handlers and the client see them
//	event/policy/trust           trusted copies, claims, notices, the trace
//
//	state                        Apply folds facts, Resolve makes one word of them
//	state/store                  files, locks and seats
//	state/evidence               processes, registry, terminals, repositories
//	state/live                   both together: a snapshot, and what changes
//	state/history                turns
//	state/stats                  sums by day and project
//	state/usage                  usage limits of accounts
//	state/alert                  what to notify of
//	state/request                what a session asks: its file, the waiting hook, the answer
//	state/request/pin            a PIN that signs answers
//
//	render                       rows
//	render/term                  lists and texts
//	render/tui                   beckon watch
//	render/web                   beckon serve
//	render/web/access            who may use the server, where it listens, who is at the other end
//	render/web/feed              rows and events, for whoever follows
//	render/web/page              its page
//	render/web/respond           JSON, and errors in one format
//	render/card                  a request, whole
//	render/hosts                 sessions of other machines, asked by ssh
//	render/fleet                 rows of many hosts over NATS, and the views that merge them
//	render/jump                  goes to a session's terminal
//	render/run                   runs other programs, each with a limit
//	render/notify                notifications
//	render/notify/reach          settings of how it reaches the user
//
//	installer                    settings edits, plugin, client version
//	installer/release            what makes a release
//	testdata                     recordings, scripts, scenarios, files of earlier releases
//
// With answers installed, a hook that asks the user goes on as follows: its program
// folds the event and makes a request, becomes beckon-hook --wait, which costs nothing
// while it waits, and with an answer asks the policy once more and tells the client.
//
// Imports run cmd -> installer, render -> state -> event; a test holds that, and
// what the hook binary may link.
//
// # One payload, from stdin to a row
//
//	cmd/beckon-hook/main.go      the process
//	cmd/internal/hook/start.go   Start: is there a policy for the event?
//	cmd/internal/hook/hook.go    observe: read, fold, exit with 0 whatever happens
//	event/parse.go               ParseReader: payload -> Event
//	state/store/fold.go          Fold: lock, read, change, write, unlock
//	state/apply.go               Apply: Event -> facts
//	cmd/beckon/list.go           the command
//	state/live/live.go           Look: all sessions, with their evidence
//	state/resolve.go             Resolve: facts and evidence -> one word
//	render/row.go                Rows
//	render/term/list.go          List: the lines
//
// # One change, from a file to the page of beckon serve
//
//	render/web/web.go            Serve: the server
//	state/live/follow.go         Run: a session's file has changed
//	render/web/feed/board.go     take: its row, and what happened in it
//	render/web/feed/events.go    report: an event, with a number
//	render/web/access/guard.go   Guard: may the caller follow?
//	render/web/routes.go         events: GET /events
//	render/web/feed/stream.go    Stream: what the caller has not had yet
package main
