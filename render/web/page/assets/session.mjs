// One session's page: its card in full, where it sits, and its timeline, which
// is what was said and, when asked for, every line of its journal.

import * as api from "./api.mjs";
import { Card, cost, refusals } from "./card.mjs";
import { arrange, drawBlocks, el, redraw, text } from "./dom.mjs";
import { Offers, asksOf, drawEnds } from "./offers.mjs";
import { TASKS, keyOf, recordOf } from "./state.mjs";
import { clean, oneLine } from "./words.mjs";

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
