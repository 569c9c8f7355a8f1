// Package lab drives the real Claude Code client, and the other agents of Agents, so that what
// beckon shows can be compared with what they do. It has a scripted model server, scratch
// homes, a tmux driver, a recorder, and scenarios as data.
//
// It connects only to loopback, except for Install, which gets the client from npm. The client
// never sees the caller's environment, home or credentials. A Lab ends every process that it
// started, and no other.
//
// It needs tmux, npm and a Unix; elsewhere the package is empty.
//
// The screen texts that steps wait for are those of the versions in Pinned; a newer client may
// word them differently, and such a step then fails with its name.
package lab
