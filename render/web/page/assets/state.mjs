// What the page knows, and the words for it. Pure: no document, no requests.

import { recordOf } from "./line.mjs";

// How things are said: spans of time, states, and text that came from elsewhere.

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

// What the page knows, and how each event changes it. Pure: no clock, no
// document, no network. reduce(state, event) gives a new state; whatever is
// not touched stays the same object, so that drawing can compare by identity.
//
// No rule about states is here: a session's state, group, needs_you and unseen
// are the server's. STATES and compareRows repeat those of state and render.Queue, and a
// test holds them to it.

export const STATES = ["permission", "question", "failed", "working",
  "compacting", "idle", "backburner", "unknown", "ended", "lost"];

const keptTurns = 4; // of each session, for its card
const keptNotices = 20;
const keptEnds = 3;

// PHASES of the connection, as people read them.
export const PHASES = {
  connecting: "Connecting",
  live: "Live",
  lost: "Reconnecting",
  denied: "Not signed in",
  resting: "Resting", // in a tab behind others
};

/** @type {{ mode: string, asksFirst: boolean }} */
const noMarks = { mode: "fair", asksFirst: true };

// marksOf reads from GET /api/config what the user has chosen for the order of rows (render.Queue).
export function marksOf(config) {
  const mode = config.queue?.value || noMarks.mode, asksFirst = config.permission_first?.value !== "false";
  return mode === noMarks.mode && asksFirst ? noMarks : { mode, asksFirst };
}

export function initial() {
  return {
    phase: "connecting",
    since: 0, // ms, of the phase
    detail: "", // what to tell of the phase
    ready: false, // a snapshot came
    skew: 0, // server's clock minus ours, ms
    rows: new Map(), // key -> row of list --json
    turns: new Map(), // session id -> its newest turns, oldest first
    busy: new Map(), // session id -> seconds at work today
    offers: new Map(), // id -> what the line told of it: those that are open
    asks: new Map(), // id -> what the server says of it
    ends: [], // of the newest offers that went
    away: null,
    stats: null, hooks: null, digest: null, marks: noMarks,
    date: "", day: null, // the day that is looked at, empty for today, and its timeline
    notices: [], // edges to tell of, oldest first, numbered by n
    noticed: 0, // n of the newest
    ended: null, // the newest row that went, for those who listen
    filter: "", group: "need", order: "need", view: "cards",
  };
}

// keyOf names a card. A seat outlives its session (/clear, resume). Another machine
// may use the ids of this one.
export const keyOf = (row) => (row.remote ? `${row.remote.name}/${idOf(row)}` : row.seat_id || `session ${recordOf(row)}`);

// idOf names the session of another machine's row to the server.
export const idOf = (row) => row.seat_id || recordOf(row);

export function reduce(s, e) {
  return steps[e.type]?.(s, e) ?? s;
}

const steps = {
  phase: (s, e) => s.phase === e.phase && s.detail === (e.detail ?? "") ? s
    : { ...s, phase: e.phase, detail: e.detail ?? "", since: s.phase === e.phase ? s.since : e.now },

  clock: (s, e) => ({ ...s, skew: skewOf(e.server, e.now) }),

  snapshot(s, e) {
    const rows = new Map();
    for (const row of e.data.sessions) rows.set(keyOf(row), row);
    const turns = new Map(); // what was missed is not told, so they are asked for again
    const offers = new Map((e.data.offers ?? []).map((o) => [o.id, o]));
    const asks = new Map([...s.asks].filter(([id]) => offers.has(id)));
    let next = { ...s, offers, asks, away: e.data.away ?? null, rows, turns, ready: true, skew: skewOf(e.data.generated_at, e.now) };
    if (!s.ready) return next; // what was there before the page is no news
    for (const [key, row] of rows) {
      const was = s.rows.get(key);
      if (row.needs_you && !(was?.needs_you && was.state === row.state)) next = notify(next, "needs_you", row);
    }
    return next;
  },

  session_created: show,
  session_updated: show,

  session_ended(s, e) {
    const row = e.data.session;
    const rows = new Map(s.rows);
    const turns = new Map(s.turns);
    rows.delete(keyOf(row));
    turns.delete(recordOf(row));
    return { ...s, rows, turns, ended: { row, reason: e.data.reason } };
  },

  turn_created(s, e) {
    const had = s.turns.get(recordOf(e.data));
    // A card whose turns were not asked for yet will get this one with them.
    if (!had || had.some((t) => t.turn_id === e.data.turn_id)) return s;
    return withTurns(s, recordOf(e.data), [...had, e.data]);
  },

  turns: (s, e) => withTurns(s, e.session, e.turns),

  notification(s, e) {
    const row = s.rows.get(e.data.agent_id || `session ${recordOf(e.data)}`);
    if (!row || (e.data.kind === "needs_you") !== row.needs_you) return s;
    return notify(s, e.data.kind, row, e.data.text);
  },

  offer_created: (s, e) => ({ ...s, offers: new Map(s.offers).set(e.data.id, e.data), ends: s.ends.filter((o) => o.record !== e.data.record) }),

  // asked is what the server says of an offer; a newer one takes its place.
  asked: (s, e) => (s.offers.has(e.data.offer.id) ? { ...s, asks: new Map(s.asks).set(e.data.offer.id, e.data) } : s),

  offer_ended(s, e) {
    const offers = new Map(s.offers), asks = new Map(s.asks), was = asks.get(e.data.id);
    offers.delete(e.data.id);
    asks.delete(e.data.id);
    if (!was || was.offer.kind === "reply") return { ...s, offers, asks };
    const end = { ...e.data, record: was.offer.record, title: was.offer.card.title };
    return { ...s, offers, asks, ends: [...s.ends, end].slice(-keptEnds) };
  },

  forget: (s, e) => ({ ...s, ends: s.ends.filter((o) => o.id !== e.offer) }),

  away: (s, e) => ({ ...s, away: e.data.away }),

  busy: (s, e) => ({ ...s, busy: new Map(e.rows.map((r) => [recordOf(r), r.busy_seconds ?? 0])) }),
  stats: (s, e) => ({ ...s, stats: e.data }),
  hooks: (s, e) => ({ ...s, hooks: e.data }),
  digest: (s, e) => ({ ...s, digest: e.data }),
  marks: (s, e) => ({ ...s, marks: e.marks }),
  date: (s, e) => ({ ...s, date: e.date, day: null }),
  day: (s, e) => (e.date === s.date ? { ...s, day: e.data } : s),
  filter: (s, e) => ({ ...s, filter: e.filter }),
  group: (s, e) => ({ ...s, group: e.group }),
  order: (s, e) => ({ ...s, order: e.order }),
  view: (s, e) => ({ ...s, view: e.view }),
};

function show(s, e) {
  const row = e.data.session;
  const rows = new Map(s.rows);
  const was = rows.get(keyOf(row));
  rows.set(keyOf(row), row);
  if (!was || recordOf(was) === recordOf(row)) return { ...s, rows };
  const turns = new Map(s.turns); // the seat has another session (/clear)
  turns.delete(recordOf(was));
  return { ...s, rows, turns };
}

function withTurns(s, session, list) {
  const turns = new Map(s.turns);
  turns.set(session, list.slice(-keptTurns));
  return { ...s, turns };
}

// notify adds an edge. Its tag is the same in every tab, so a browser shows it
// once.
function notify(s, kind, row, text) {
  const n = s.noticed + 1;
  const tag = `beckon ${keyOf(row)} ${kind} ${row.state} ${row.since}`;
  if (s.notices.some((x) => x.tag === tag)) return s;
  const notice = { n, tag, kind, row, text: text || what(row) };
  return { ...s, noticed: n, notices: [...s.notices, notice].slice(-keptNotices) };
}

// skewOf is how far the server's clock is ahead. The server looks at its clock
// once a second, so less than two is none.
function skewOf(server, now) {
  const d = Date.parse(server) - now;
  return Math.abs(d) < 2000 || Number.isNaN(d) ? 0 : d;
}

// what tells in one line what a row wants or does.
export function what(row) {
  if (row.question?.text) return row.question.text;
  if (row.tool) return row.tool.summary || row.tool.name;
  if (row.state === "failed") return (row.reason || "").replaceAll("_", " ");
  return row.title || "";
}

// compareRows is render.Queue.Arrange. The page does not know terminals' windows: to it, grouped
// is static.
export function compareRows(a, b, { mode, asksFirst } = noMarks) {
  const kept = mode === "static" || mode === "grouped";
  const at = (row) => (kept ? Date.parse(row.first_seen_at) : Date.parse(row.since) * (mode === "prio" ? -1 : 1));
  const text = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
  return need(a) - need(b) || (asksFirst && !kept ? Number(asks(b)) - Number(asks(a)) : 0) ||
    at(a) - at(b) || text(a.seat_id, b.seat_id) || text(recordOf(a), recordOf(b));
}

const need = (row) => Object.keys(NEEDS).indexOf(row.group);
const asks = (row) => row.state === "permission" || row.state === "question";

export function waiting(s) {
  let n = 0;
  for (const row of s.rows.values()) if (row.needs_you) n++;
  return n;
}

export const matching = (s) => [...s.rows.values()].filter(matcher(s.filter));

// tallies counts the rows of each need, and tells since when the longest waits.
export function tallies(rows) {
  const of = { longest: "" };
  for (const row of rows) {
    of[row.group] = (of[row.group] ?? 0) + 1;
    if (row.needs_you && (!of.longest || Date.parse(row.since) < Date.parse(of.longest))) of.longest = row.since;
  }
  return of;
}

// Names of the groups (render.GroupOf), in the order and words of watch.
export const NEEDS = {
  needs_you: "Needs you",
  working: "Working",
  done: "Done",
  idle: "Idle",
  backburner: "Aside",
  ended: "Ended",
};

export const TASKS = {
  awaiting_input: "awaiting input",
  failed: "failed",
  commanded: "commanded",
  processing: "processing",
  complete: "complete",
  idle: "idle",
};

// taskOf is how far a row's task is. To the server a turn that failed completes
// its task, too; nobody would call it that.
export const taskOf = (row) => (row.state === "failed" ? "failed" : row.turn?.task ?? "idle");

// groups returns what the board shows: [{id, name, rows}], without empty ones.
export function groups(s) {
  const rows = matching(s).sort((a, b) => orders[s.order](a, b) || compareRows(a, b, s.marks));
  const found = new Map();
  for (const row of rows) {
    const [id, name] = groupOf[s.group](row);
    if (!found.has(id)) found.set(id, { id, name, rows: [] });
    found.get(id).rows.push(row);
  }
  if (s.marks !== noMarks) for (const g of found.values()) g.rows.sort((a, b) => need(a) - need(b));
  const list = [...found.values()];
  const rank = groupRank[s.group];
  return rank ? list.sort((a, b) => rank(a.id) - rank(b.id)) : list; // else in the order of their most urgent row
}

const groupRank = {
  need: (id) => Object.keys(NEEDS).indexOf(id),
  task: (id) => Object.keys(TASKS).indexOf(id.slice("task-".length)),
};

const groupOf = {
  need: (r) => [r.group, NEEDS[r.group] ?? r.group],
  label: (r) => [`label-${r.label || ""}`, r.label || "no label"],
  project: (r) => [`project-${r.project_id || r.cwd || ""}`, r.project || "no project"],
  host: (r) => [`host-${r.host || ""}`, r.host || "this machine"],
  task: (r) => [`task-${taskOf(r)}`, TASKS[taskOf(r)] ?? taskOf(r)],
  none: () => ["all", "All sessions"],
};

const orders = {
  need: () => 0,
  name: (a, b) => (a.name || a.project || "").localeCompare(b.name || b.project || ""),
  new: (a, b) => Date.parse(b.since) - Date.parse(a.since),
};

export const ORDERS = { need: "most urgent first", name: "by name", new: "latest change first" };
export const GROUPS = { need: "by need", label: "by label", project: "by project", host: "by host", task: "by task", none: "no groups" };
export const VIEWS = { cards: "Cards", rows: "Rows", day: "Timeline" };

// matcher makes a test of rows from the words of a filter; all must be found, but one after ! must
// not, and one after label: must be a word of the label.
export function matcher(filter) {
  const words = filter.toLowerCase().split(/\s+/).filter((w) => w && w !== "!");
  return (r) => {
    if (!words.length) return true;
    const text = [r.state, stateWords(r), r.reason, r.title, r.name, r.project, r.cwd, r.git?.branch, r.branch, r.model, r.host, r.agent, r.session_id,
      r.tool?.summary, r.question?.text, TASKS[taskOf(r)], r.needs_you && "needs-you", r.unseen && "new", `#${r.label ?? ""}`].join("\n").toLowerCase();
    const labels = (r.label ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const has = (w) => (w.startsWith("label:") ? labels.includes(w.slice(6)) || (w === "label:" && labels.length > 0) : text.includes(w));
    return words.every((w) => (w.startsWith("!") ? !has(w.slice(1)) : has(w)));
  };
}
