// Package lab drives the real Claude Code client, and the other agents of
// Agents, so that what beckon says can be compared with what they do. It holds
// a scripted model server, scratch homes, a tmux driver, a recorder and
// scenarios as data.
//
// Nothing here talks to anything but loopback, except Install, which asks npm
// for the client. The client never sees the caller's environment, home or
// credentials. A Lab ends every process it started, and only those.
//
// It needs tmux, npm and a Unix; elsewhere the package is empty.
//
// The screen texts that steps wait for are those of the versions in Pinned;
// a newer client may word them differently, and such a step then fails by name.
package lab
