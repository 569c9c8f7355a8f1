// How things are said: spans of time, states, and text that came from
// elsewhere. Pure.

// Glyphs are those of `beckon list`: a state is told by sign and word, never by
// colour alone.
export const GLYPHS = {
  permission: "!", question: "?", failed: "×", working: "*", compacting: "~",
  idle: "–", backburner: "z", unknown: ".", ended: ".", lost: ".",
};

// stateWords says a row's state as `beckon list` does.
export function stateWords(row) {
  if (row.state === "idle") return row.reason || "idle";
  if (row.state === "backburner") return "aside";
  return row.state;
}

// span says a time in at most two units: 12s, 3m, 2h 5m, 3d 4h.
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m}m`;
  const h = Math.floor(m / 60);
  if (h < 24) return m % 60 ? `${h}h ${m % 60}m` : `${h}h`;
  const d = Math.floor(h / 24);
  return h % 24 ? `${d}d ${h % 24}h` : `${d}d`;
}

// fine says a short time with its seconds, for what somebody waits for.
export function fine(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s >= 60 && s < 600) return `${Math.floor(s / 60)}m ${s % 60}s`;
  return span(ms);
}

export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

// clean drops what could reorder or hide text on the page: control characters
// but newline and tab, bidirectional overrides, invisible marks.
export function clean(text) {
  return String(text ?? "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");
}

// oneLine is clean text in one line.
export const oneLine = (text) => clean(text).replace(/\s+/g, " ").trim();

// lastLine is the last line of what an agent said, which tells what it wants.
export function lastLine(text) {
  const lines = clean(text).trim().split("\n");
  return oneLine(lines[lines.length - 1]);
}
