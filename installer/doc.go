// Package installer puts beckon's hooks into Claude Code's settings files and
// takes them out again, or makes a plugin of them.
//
// What it guarantees:
//
//   - Every byte that is not part of beckon's own entries is kept: layout, line
//     ends, a byte order mark, numbers, escapes, unknown keys, other tools' hooks
//     (CASES.md 18).
//   - Removing what was added to an otherwise unchanged file gives the original
//     bytes, with or without the backup.
//   - A file that its client could not read, or whose hooks have a shape that is
//     not known, is refused with its place and left untouched.
//   - A settings file is replaced whole, by rename, after a flush to disk; a link
//     stays a link, and mode and owner stay as they are. A hard link is broken by
//     the rename.
//   - Another writer seen before the rename is never overwritten. Between the last
//     comparison and the rename a few microseconds remain in which one could be:
//     Claude Code takes no lock that could be shared.
//
// Edit, remove, Diff, Events and the Version functions are pure. Plan, Inspect
// and StablePath read files; Apply and Plugin.Write alone write them; FindClient and
// Client.Ask alone run a program. Of the environment only PATH is read, to find the
// client: paths come in as arguments.
package installer
