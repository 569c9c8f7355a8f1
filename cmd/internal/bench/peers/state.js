// The session's state in a file, with nothing but node's own modules; a
// directory is the lock, since node has no flock.
const fs = require("fs");
const e = JSON.parse(fs.readFileSync(0, "utf8"));
const path = `${process.env.STATE_DIR}/${e.session_id}.json`;
for (;;) {
  try {
    fs.mkdirSync(path + ".lock");
    break;
  } catch (err) {
    if (err.code !== "EEXIST") throw err;
  }
}
let s = {};
try {
  s = JSON.parse(fs.readFileSync(path, "utf8"));
} catch (err) {
  if (err.code !== "ENOENT") throw err;
}
Object.assign(s, {
  session_id: e.session_id,
  event: e.hook_event_name,
  tool: e.tool_name,
  summary: (e.tool_input?.command ?? "").slice(0, 120),
  count: (s.count ?? 0) + 1,
  at: Date.now() / 1000,
});
fs.writeFileSync(path + ".tmp", JSON.stringify(s));
fs.renameSync(path + ".tmp", path);
fs.rmdirSync(path + ".lock");
