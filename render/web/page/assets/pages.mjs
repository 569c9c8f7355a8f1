// What the page shows beside the board: a session's own page, the day, and figures.

import * as api from "./line.mjs";
import { recordOf } from "./line.mjs";
import { Card, age, arrange, cost, drawBlocks, el, middle, pathOf, placeOf, redraw, refusals, show, svg, text } from "./cards.mjs";
import { Offers, asksOf, drawEnds } from "./offers.mjs";
import { GLYPHS, TASKS, clean, count, keyOf, matcher, oneLine, span, stateWords, what } from "./state.mjs";

// One session's page: its card in full, where it sits, and its timeline, which
// is what was said and, when asked for, every line of its journal.

// Lines of a journal, the newest: how many are read at first, and kept.
const begun = 500, kept = 1000;

const working = new Set(["working", "compacting", "permission", "question"]); // there is a turn to stop

export class SessionPage {
  // act(row, name) does something to the session, fail(error) tells of what
  // failed, met(row) is called once when a session that is opened is there; give and
  // tell are those of Offers.
  constructor(root, { act, fail, met, give, tell }) {
    this.fail = fail;
    this.met = met;
    this.asks = el("div", { class: "asks", role: "region", "aria-label": "Waits for your answer", hidden: true });
    this.offers = new Offers(this.asks, { tell, give });
    this.stop = el("button", { type: "button", class: "stop", title: "Its turn ends at its next call", on: { click: () => act(this.row, "stop") } }, "Stop");
    this.ends = el("ul", { class: "ends", role: "list", "aria-label": "Answered a moment ago", hidden: true });
    this.label = el("button", { type: "button", on: { click: () => act(this.row, "label") } }, "Label");
    this.card = new Card((name) => this.row && act(this.row, name));
    this.heading = el("h1", { tabindex: "-1" });
    this.facts = el("dl", { class: "facts" });
    this.every = el("input", { type: "checkbox", id: "every", on: { change: () => this.drawLines() } });
    this.lines = el("ol", { class: "lines", "aria-label": "Timeline, the newest first" });
    this.note = el("p", { class: "empty", role: "status" });
    root.replaceChildren(
      el("nav", { "aria-label": "Back" }, el("a", { href: "/", class: "back" }, "All sessions")), this.heading,
      el("ul", { class: "cards one", role: "list" }, this.card.node), this.note,
      this.label, this.stop, this.asks, this.ends,
      el("section", { class: "panel" }, el("div", { class: "bar" }, el("h2", {}, "Timeline"),
        el("label", { for: "every" }, this.every, " every event")), this.lines),
      el("section", { class: "panel" }, el("h2", {}, "Where"), this.facts));
    this.nodes = new Map();
  }

  // open shows the session or seat id, of another machine the key.
  open(id) {
    if (this.id === id) return;
    // What was asked for on another visit is not this one's, though the id may be.
    Object.assign(this, { id, visit: {}, row: null, live: null, journal: [], after: 0 });
    this.nodes.clear();
    this.lines.replaceChildren();
    this.card.node.hidden = this.stop.hidden = this.label.hidden = true;
    text(this.heading, "Session");
    text(this.note, "Reading");
    this.refresh();
  }

  close() {
    this.id = this.row = this.visit = null;
    this.offers.draw([], []);
  }

  // draw takes what the page knows anew; a row that is no longer live is asked
  // for.
  draw(s) {
    if (!this.id) return;
    const row = [...s.rows.values()].find((r) => (r.remote ? keyOf(r) === this.id : r.seat_id === this.id || r.session_id === this.id));
    if (row) {
      const news = row !== this.live;
      this.live = row;
      if (recordOf(row) !== (this.row && recordOf(this.row))) Object.assign(this, { journal: [], after: 0 });
      this.drawRow(row, s);
      if (news) this.refresh();
    } else if (this.live) {
      this.live = null;
      this.refresh();
    }
    const record = this.row && recordOf(this.row);
    this.offers.draw(asksOf(s, (o) => !this.row?.remote && o.record === record), [...s.rows.values()]);
    drawEnds(this.ends, s.ends.filter((o) => o.record === record));
    const turns = s.turns.get(this.row && recordOf(this.row));
    if (turns !== this.turns) {
      this.turns = turns;
      this.refresh();
    }
  }

  drawRow(row, s) {
    const first = !this.row;
    if (first) this.met(row);
    this.row = row;
    this.label.hidden = Boolean(row.remote);
    this.stop.hidden = !working.has(row.state) || Boolean(row.remote);
    if (row.remote) text(this.note, row.needs_you ? `Answer it where it runs, on ${row.remote.name}: beckon answer --fleet` : "");
    else text(this.note, row.state === "ended" || row.state === "lost" ? "This session is over." : "");
    this.card.node.hidden = false;
    this.card.draw(keyOf(row), row, { busy: s?.busy.get(recordOf(row)) ?? row.busy_seconds });
    text(this.heading, oneLine(row.title) || row.name || row.project || "Session");
    redraw(this.facts, factsOf(row), () => factsOf(row).map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, el("bdi", {}, v)))));
  }

  again() {
    if (this.id) this.refresh();
  }

  // refresh reads what the journal has gained. One read is under way at a time;
  // what comes meanwhile makes one more.
  async refresh() {
    if (this.busy) {
      this.due = true;
      return;
    }
    this.busy = true;
    const { visit } = this;
    try {
      do {
        this.due = false;
        await this.read(visit);
      } while (this.due && this.visit === visit);
    } catch (e) {
      if (this.visit === visit) {
        text(this.note, e.status === 404 ? "There is no such session." : "");
        if (e.status !== 404) this.fail(e);
      }
    }
    this.busy = false;
    if (this.id && this.visit !== visit) this.refresh();
  }

  async read(visit) {
    if (this.live?.remote) return arrange(this.lines, [el("li", { class: "none" }, `Its timeline is on ${this.live.remote.name}.`)]);
    if (!this.live) {
      const row = await api.one(this.id);
      if (this.visit !== visit) return;
      if (!this.live) this.drawRow(row);
    }
    for (;;) {
      const session = recordOf(this.row);
      const page = await (this.after ? api.journal(session, this.after) : api.journalEnd(session, begun));
      if (this.visit !== visit || session !== recordOf(this.row)) return;
      const news = page.lines.filter((l) => l.seq > this.after);
      this.journal = [...this.journal, ...news].slice(-kept);
      this.after = this.journal.at(-1)?.seq ?? 0;
      this.drawLines();
      if (!page.next || !news.length) return;
    }
  }

  drawLines() {
    const every = this.every.checked;
    const shown = this.journal.filter((l) => every || l.turn).reverse();
    const had = this.nodes;
    this.nodes = new Map(shown.map((l) => {
      const key = `${recordOf(this.row)} ${l.seq}`;
      return [key, had.get(key) ?? lineOf(l)];
    }));
    const nodes = [...this.nodes.values()];
    arrange(this.lines, nodes.length ? nodes : [el("li", { class: "none" }, "Nothing was said yet.")]);
  }
}

function factsOf(row) {
  const { process: p, terminal: t, tmux: x, git: g } = row;
  return [
    ["Directory", row.cwd], ["Branch", g?.branch], ["Worktree", g?.worktree],
    ["Terminal", t && [t.kind, t.id, x?.session && `session ${x.session}`].filter(Boolean).join(" ")],
    ["Process", p && `${p.pid}${p.alive === undefined ? "" : p.alive ? ", alive" : ", gone"}`],
    ["Host", row.host], ["Agent", [row.agent, row.version].filter(Boolean).join(" ")], ["Model", row.model],
    ["Context", row.context && `${Math.round(row.context.used_percentage)}% used`], ["Cost", cost(row)], ["Permission mode", row.permission_mode],
    ["Told by", `${row.source}, confidence ${row.confidence}`],
    ["Subagents", row.subagents?.map((a) => `${a.type || a.agent_id} (${a.state})`).join(", ")],
    ["Refused", refusals(row).join("; ")],
    ["Began", when(row.created_at)], ["Session", row.session_id], ["Seat", row.seat_id],
  ].filter(([, v]) => v);
}

const when = (t) => new Date(t).toLocaleString();

// clock says a time of today, and the day of any other.
const clock = (t) => (t.toDateString() === new Date().toDateString() ? t.toLocaleTimeString()
  : t.toLocaleString(undefined, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" }));

function lineOf(l) {
  const at = el("time", { datetime: l.at, title: when(l.at) }, clock(new Date(l.at)));
  if (l.turn) return turnLine(l, at);
  const [name, words] = l.event ? eventWords(l.event) : l.observation ? seenWords(l.observation) : l.action ? ["you", l.action.kind] : [l.kind, ""];
  return el("li", { class: "line", data: { kind: l.kind } }, at, el("div", {}, el("b", {}, name), " ", el("span", {}, words)),
    l.us > 0 && el("small", {}, `${(l.us / 1000).toFixed(1)} ms`));
}

function turnLine({ turn: t, blocks }, at) {
  return el("li", { class: "line turn", data: { actor: t.actor, intent: t.intent } }, at,
    el("div", { class: "said" }, el("b", {}, t.actor === "user" ? "you" : "agent"), " ", blocks ? el("div", { class: "words" }, drawBlocks(blocks, clean)) : el("p", { class: "words" }, clean(t.text || "").trim() || "(no text kept)"),
      el("small", {}, [t.intent.replaceAll("_", " "), t.task && `task ${TASKS[t.task] ?? t.task}`, t.refused && `refused: ${t.refused}`].filter(Boolean).join(" · "))));
}

const eventWords = (e) => [e.name || e.kind, oneLine(e.tool?.summary || e.tool?.name || e.prompt || e.message || e.reason || e.source || "")];
const seenWords = (o) => ["seen", oneLine([o.what, o.source && `by the ${o.source}`, o.confidence && `(${o.confidence})`].filter(Boolean).join(" "))];

// The day: a lane for each session, and what happened while the user was away.

// kinds of time, as they are called and drawn: where on a lane of 16, and how tall,
// so that they can be told without colour.
const kinds = {
  failed: ["failed", 0, 16], waiting: ["waiting for you", 2, 12], working: ["working", 4, 8], idle: ["idle", 7, 2],
};
const wide = 1000, least = 3; // of a lane, and of what is seen on it
const ticks = [1, 5, 15, 30, 60, 120, 180, 360].map((m) => 60_000 * m);
const most = 6; // ticks, which a phone has room for, and sessions of a digest

const hour = (ms) => new Date(ms).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });

export function drawDay(root, timeline, filter) {
  const held = root.contains(document.activeElement) && document.activeElement.getAttribute("href");
  redraw(root, [timeline, filter], () => {
    if (!timeline) return el("p", { class: "none" }, "Reading");
    const lanes = timeline.lanes.filter(matcher(filter));
    if (!lanes.length) return el("p", { class: "none" }, filter ? `No session of this day has “${filter}”.` : "Nothing was done on this day.");
    const from = Date.parse(timeline.from), length = Math.max(Date.parse(timeline.to) - from, 1000);
    const at = (time) => wide * Math.min(1, Math.max(0, (time - from) / length));
    const marks = marksOf(from, length);
    return [
      el("div", { class: "lane axis", "aria-hidden": "true" }, el("span", {}), el("span", { class: "hours" }, marks.map((m) => {
        const mark = el("span", {}, hour(m));
        mark.style.left = `${at(m) * 100 / wide}%`;
        return mark;
      }))),
      el("ol", { class: "lanes" }, lanes.map((l) => lane(l, at, marks))),
      el("p", { class: "sums legend" }, Object.entries(kinds).map(([kind, [words, y, tall]]) => el("span", {},
        svg("svg", { class: "spans", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("rect", { class: kind, y: String(y), width: "16", height: String(tall) })), words))),
    ];
  });
  if (held && !root.contains(document.activeElement)) [...root.querySelectorAll("a")].find((a) => a.getAttribute("href") === held)?.focus({ preventScroll: true });
}

// marksOf are round times of the day, as many as there is room for.
function marksOf(from, length) {
  const step = ticks.find((t) => length / t <= most) ?? ticks.at(-1);
  const day = new Date(from).setHours(0, 0, 0, 0);
  const marks = [];
  for (let t = day + step * Math.ceil((from - day) / step); t < from + length * 0.82; t += step) marks.push(t);
  return marks;
}

function lane(l, at, marks) {
  const took = Object.fromEntries(Object.keys(kinds).map((k) => [k, 0]));
  const spans = (l.spans ?? []).map((s) => {
    const from = Date.parse(s.from), to = Date.parse(s.to), [words, y, tall] = kinds[s.kind];
    took[s.kind] += to - from;
    return svg("rect", { class: s.kind, x: at(from).toFixed(1), y: String(y), width: Math.max(least, at(to) - at(from)).toFixed(1), height: String(tall) },
      svg("title", {}, `${words}, ${hour(from)} to ${hour(to)}: ${span(to - from)}`));
  });
  const row = { ...l, git: { branch: l.branch } };
  return el("li", { class: "lane" },
    el("a", { class: "place", href: `/session/${encodeURIComponent(recordOf(l))}` }, placeOf(row)),
    svg("svg", { class: "spans", viewBox: `0 0 ${wide} 16`, preserveAspectRatio: "none", "aria-hidden": "true" },
      marks.map((m) => svg("rect", { class: "tick", x: at(m).toFixed(1), width: "1", height: "16" })), spans),
    el("span", { class: "sums" }, Object.keys(kinds).filter((k) => k !== "idle" && took[k] >= 1000).map((k) => `${span(took[k])} ${kinds[k][0]}`).join(" · ")));
}

// drawDigest shows what happened since the user was last away, until that is
// dismissed: those that need them first.
export function drawDigest(root, digest, rows, dismissed) {
  const list = digest?.sessions ?? [];
  show(root, list.length && digest.since !== dismissed);
  if (root.hidden) return;
  redraw(root.querySelector(".since"), digest.since, () => [document.createTextNode(`Since ${hour(Date.parse(digest.since))}, `), age(digest.since, { after: " ago" })]);
  redraw(root.querySelector("ul"), [digest, list.map((d) => rows.get(keyOf(d))?.state)], () => [
    ...list.slice(0, most).map((d) => line(d, rows.get(keyOf(d)) ?? d)),
    list.length > most && el("li", { class: "none" }, `and ${count(list.length - most, "session")} more`),
  ]);
}

function line(d, row) {
  const often = (n, word) => (n > 1 || n && !row.needs_you) && `${word} ${n}×`;
  const did = [d.worked_seconds >= 60 && `worked ${span(1000 * d.worked_seconds)}`, often(d.asked, "asked"), often(d.failed, "failed")].filter(Boolean).join(", ");
  return el("li", { data: { state: row.state } },
    el("span", { class: "glyph", "aria-hidden": "true" }, GLYPHS[row.state] ?? "."),
    el("a", { class: "place", href: pathOf(row) }, placeOf(row)),
    el("b", {}, stateWords(row)), el("span", { class: "what" }, oneLine(what(row))), el("span", { class: "did" }, did));
}

export function drawDate(node, date) {
  const words = date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" });
  text(node, date.toDateString() === new Date().toDateString() ? `Today, ${words}` : words);
}

// The figures beside the board: time at work and waiting, and how the hooks do.

const shownDays = 7;

// drawStats shows the newest days as a chart, and the same as a table for those
// who do not see it.
export function drawStats(root, stats, today = new Date()) {
  if (!stats) return;
  redraw(root, [stats, dateOf(today)], () => {
    const days = week(stats.days, today), last = days.at(-1);
    return [
      el("p", { class: "sums" }, "of all sessions together"),
      el("dl", { class: "big" }, figure("key work", "At work today", last.busy_seconds), figure("key wait", "Waited for you", last.waiting_seconds)),
      chart(days),
      el("p", { class: "names", "aria-hidden": "true" }, days.map((d) => el("span", {}, dayName(d.date, { weekday: "short" }).slice(0, 2)))),
      table(days), totals(days), projects(stats.projects),
    ];
  });
}

const figure = (key, name, seconds) => el("div", {}, el("dt", { class: key }, name), el("dd", {}, span(1000 * seconds)));

export const dateOf = (d) => [d.getFullYear(), d.getMonth() + 1, d.getDate()].map((n) => String(n).padStart(2, "0")).join("-");

const nothing = { busy_seconds: 0, waiting_seconds: 0, turns: 0, tools: 0, permissions: 0, questions: 0, errors: 0, cost_usd: 0 };

// week is the last days, with those on which nothing was done. The server's
// today may be later than ours.
function week(told, today) {
  const newest = told.at(-1)?.date ?? "";
  const end = newest > dateOf(today) ? parse(newest) : today;
  const by = new Map(told.map((d) => [d.date, d]));
  return Array.from({ length: shownDays }, (_, i) => {
    const date = dateOf(new Date(end.getFullYear(), end.getMonth(), end.getDate() - shownDays + 1 + i));
    return by.get(date) ?? { ...nothing, date };
  });
}

export function parse(date) {
  const [y, m, d] = date.split("-").map(Number);
  return new Date(y, m - 1, d);
}

const fullDay = { weekday: "short", day: "numeric", month: "short" };
const dayName = (date, how) => parse(date).toLocaleDateString(undefined, how);

// chart is a bar a day: time at work, and on it the time that it waited.
function chart(days) {
  const high = 100, longest = Math.max(60, ...days.map((d) => d.busy_seconds + d.waiting_seconds));
  const bar = (name, i, top, tall) => tall > 0 &&
    svg("rect", { class: name, x: String(i * 40 + 7), y: top.toFixed(1), width: "26", height: tall.toFixed(1), rx: "3" });
  return svg("svg", { class: "chart", viewBox: `0 0 ${shownDays * 40} ${high + 2}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    days.map((d, i) => {
      const work = high * d.busy_seconds / longest, wait = high * d.waiting_seconds / longest;
      return svg("g", {}, svg("title", {}, `${dayName(d.date, fullDay)}: ${span(1000 * d.busy_seconds)} at work, waited for you ${span(1000 * d.waiting_seconds)}`),
        svg("rect", { class: "day", x: String(i * 40), width: "40", height: String(high + 2) }),
        bar("work", i, high - work, work), bar("wait", i, high - work - wait - (work && 1.5), wait), bar("none", i, high, 2));
    }));
}

function table(days) {
  return el("div", { class: "hush" }, el("table", { class: "days" }, el("caption", {}, "Time at work and waiting for you, by day"),
    el("thead", {}, el("tr", {}, ["Day", "At work", "Waited for you"].map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, days.map((d) => el("tr", {}, el("th", { scope: "row" }, dayName(d.date, fullDay)),
      el("td", {}, span(1000 * d.busy_seconds)), el("td", {}, span(1000 * d.waiting_seconds)))))));
}

function totals(days) {
  const sum = (k) => days.reduce((n, d) => n + d[k], 0);
  const some = (key, one) => sum(key) > 0 && count(sum(key), one);
  const spent = sum("cost_usd");
  const list = [some("turns", "turn"), some("tools", "tool call"), some("permissions", "permission"), some("questions", "question"),
    some("errors", "error"), spent >= 0.005 && `$${spent.toFixed(2)}`].filter(Boolean);
  return el("p", { class: "sums" }, `${shownDays} days: ${list.join(" · ") || "nothing yet"}`);
}

function projects(all = {}) {
  const list = Object.entries(all).filter(([, d]) => d.busy_seconds >= 60).sort((a, b) => b[1].busy_seconds - a[1].busy_seconds).slice(0, 5);
  if (list.length < 2) return null;
  return el("dl", { class: "facts" }, list.map(([name, d]) =>
    el("div", {}, el("dt", { title: name, class: "mid" }, middle(name.split("/").at(-1) || name)), el("dd", {}, span(1000 * d.busy_seconds)))));
}

// hearing says how the hooks do. That they are silent is no fault while no session
// is at work that they should tell of.
function hearing(h) {
  if (h.mode === "hooks_active") return "Hooks are heard";
  return h.last_event_at ? "Hooks are quiet" : "No hook yet";
}

export function drawHooks(root, h) {
  if (!h) return;
  redraw(root, h, () => {
    const facts = [
      ["Last event", h.last_event_at ? [h.last_event_type, " ", age(h.last_event_at, { after: " ago" })] : "none yet"],
      ["Over HTTP", h.enabled ? "taken, too" : "not taken"],
      ["Events", String(h.events_received)],
      ["Transcripts read", `every ${span(1000 * h.polling_interval)}`],
      ["Files", h.watching === "fsnotify" ? "watched" : "polled"],
      ["Pages open", String(h.sse_clients)],
    ];
    return [
      el("p", { class: `hearing${h.mode === "hooks_active" ? "" : " quiet"}` }, el("span", { class: "dot", "aria-hidden": "true" }), hearing(h)),
      el("dl", { class: "facts" }, facts.map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v)))),
    ];
  });
}
