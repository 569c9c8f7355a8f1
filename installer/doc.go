// Package installer puts beckon's hooks into the settings files of coding agents and takes them
// out again. Lines in start-up files of shells, and the mod's plugin, come and go the same way.
//
// What it guarantees:
//
//   - Every byte that is not part of beckon's own entries is kept: layout, line ends, a byte
//     order mark, numbers, escapes, unknown keys, other tools' hooks.
//   - The old bytes of a file are kept, and come back when the last part of beckon's goes, if
//     nobody else has changed the file since. From any other file beckon's parts alone are taken
//     out; white space where they were may differ from the original.
//   - A file that its client could not read is refused with its place and left untouched.
//     Other tools' hooks that no client can run stay.
//   - A file is replaced whole, after a flush to disk, and never written in place; a link stays a
//     link, and mode and owner stay as they are. A hard link is broken.
//   - What another program writes meanwhile is edited instead of overwritten. Where the system
//     cannot exchange two files in one step, a few microseconds remain in which it could be.
//
// Edit, Events and the Version functions are pure. Plan, InspectFile and StablePath read
// files; Apply alone writes them; FindClient and Client.PluginDirs alone run a program. Of the
// environment only PATH and TMPDIR are read: paths come in as arguments.
package installer
