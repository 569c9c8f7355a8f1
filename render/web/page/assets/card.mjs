// One session, as a card and as the head of its page.

import { el, focused, mark, middle, redraw, show, svg, text } from "./dom.mjs";
import { TASKS, keyOf, taskOf, what } from "./state.mjs";
import { GLYPHS, count, lastLine, oneLine, stateWords } from "./words.mjs";

export const pathOf = (row) => `/session/${encodeURIComponent(row.remote ? keyOf(row) : row.seat_id || row.session_id)}`;

// age is a time that keeps counting: the clock finds it by its data.
export function age(when, { before = "", after = "", fine = false } = {}) {
  return el("time", { datetime: when, data: { since: Date.parse(when), before, after, ...(fine && { fine: "1" }) } });
}

// Card is what shows one row. Its parts stay the same elements for as long as
// it lives, so that focus, selection and open details do too.
export class Card {
  constructor(act) {
    const part = (tag, name, ...children) => el(tag, { class: name }, ...children);
    this.glyph = el("span", { class: "glyph", "aria-hidden": "true" });
    this.state = part("b", "state");
    this.held = part("span", "held");
    this.fresh = part("span", "fresh", "new");
    this.place = part("p", "place");
    this.name = el("a", { class: "name" });
    this.title = part("h3", "title", this.name);
    this.need = part("div", "need");
    this.turns = el("ul", { class: "turns", "aria-label": "Newest turns" });
    this.task = part("span", "said");
    this.badges = el("ul", { class: "badges", "aria-label": "Details" });
    this.active = part("span", "active");
    this.buttons = buttons(act);
    this.node = el("li", { class: "card" },
      part("div", "head", part("span", "pill", this.glyph, this.state), this.fresh, this.held),
      part("div", "where", this.place, this.active), this.title, this.need, this.turns,
      part("div", "low", part("span", "task", steps(), this.task), this.badges),
      part("div", "acts", ...Object.values(this.buttons)));
  }

  // draw shows row, with its newest turns and seconds at work today if known;
  // hosts is true where its host says something, line where the card is one line.
  /** @param {string} key @param {any} row @param {any} [more] */
  draw(key, row, { turns, busy, hosts, line } = {}) {
    const from = { row, said: turns, busy, hosts, line };
    if (Object.entries(from).every(([name, value]) => this[name] === value)) return;
    Object.assign(this, from);
    mark(this.node, { "data-key": key, "data-session": row.session_id, "data-state": row.state, "data-task": taskOf(row) });
    this.node.classList.toggle("needs", row.needs_you);
    this.node.classList.toggle("unseen", row.unseen);
    text(this.glyph, GLYPHS[row.state] ?? ".");
    text(this.state, stateWords(row));
    show(this.fresh, row.unseen && !row.needs_you);
    redraw(this.held, [row.since, row.needs_you, line], () => age(row.since, { before: line ? "" : "for ", fine: row.needs_you && !line }));
    redraw(this.place, [row.name, row.project, row.git, row.cwd], () => placeOf(row));
    text(this.task, TASKS[taskOf(row)] ?? taskOf(row));
    text(this.name, oneLine(line ? what(row) : row.title) || "no prompt yet");
    mark(this.name, { href: pathOf(row), "aria-label": spoken(row, this.name.textContent) });
    redraw(this.need, needFrom(row), () => need(row));
    redraw(this.turns, [row.title, row.question?.text, turns], () => turnLines(row, turns));
    redraw(this.badges, badgesFrom(row, busy, hosts), () => badges(row, busy, hosts));
    redraw(this.active, row.updated_at, () => ["last active ", age(row.updated_at, { after: " ago" })].map(asNode));
    this.drawButtons(row);
  }

  drawButtons(row) {
    const { jump, seen, aside } = this.buttons;
    const held = focused();
    show(jump, row.terminal && !row.remote);
    show(seen, row.unseen && !row.remote);
    show(aside, !row.remote);
    if (held?.hidden && this.node.contains(held)) aside.focus({ preventScroll: true }); // else it would be nowhere
    text(aside.firstChild, row.state === "backburner" ? "Take back" : "Set aside");
    for (const b of Object.values(this.buttons)) text(b.lastChild, ` ${row.name || row.project || row.session_id.slice(0, 8)}`);
  }
}

const steps = () => el("span", { class: "steps", "aria-hidden": "true" }, ...[1, 2, 3, 4].map(() => el("i")));

const asNode = (x) => (x instanceof Node ? x : document.createTextNode(x));

// buttons makes what can be done to a session. A hidden word tells apart the
// buttons of many cards.
function buttons(act) {
  const make = (name, word) => el("button", { type: "button", data: { act: name }, on: { click: () => act(name) } },
    el("span", {}, word), el("span", { class: "hush" }, ""));
  return { jump: make("jump", "Jump"), seen: make("seen", "Seen"), aside: make("backburner", "Set aside") };
}

// spoken is the card in one sentence, for those who hear it.
function spoken(row, shown) {
  const where = [row.name, row.project, row.git?.branch && `branch ${row.git.branch}`].filter(Boolean).join(", ");
  const head = `${stateWords(row)}${row.needs_you ? ", needs you" : row.unseen ? ", new" : ""}`;
  return [shown, head, where, oneLine(row.question?.text || row.tool?.summary)].filter(Boolean).join("; ");
}

export function placeOf(row) {
  return [
    el("bdi", { class: "project mid", title: row.cwd }, middle(row.name || row.project || row.cwd || "")),
    row.git?.branch && el("bdi", { class: "branch mid", title: row.git.branch }, middle(row.git.branch)),
  ];
}

const needFrom = (row) => [row.state, row.needs_you, row.reason, row.tool, row.question];

// need is what a session wants, or what it runs.
export function need(row) {
  if (row.question) return asked(row);
  if (row.state === "failed") return el("p", { class: "why" }, (row.reason || "failed").replaceAll("_", " "));
  if (row.tool) return el("p", { class: "call" }, row.tool.summary || row.tool.name);
  return null;
}

function asked(row) {
  const q = row.question;
  const call = row.tool && row.state === "permission";
  return [
    call ? el("p", { class: "call" }, q.text) : question(q.header, q.text, q.multi_select),
    options(q.options),
    ...(q.more ?? []).flatMap((m) => [question(m.header, m.text, m.multi), options(m.options)]),
    q.plan && el("details", { class: "plan" }, el("summary", {}, "The plan"), el("pre", { tabindex: "0", "aria-label": "The plan" }, q.plan)),
    q.form?.length && el("p", { class: "form" }, "Fields: ", ...q.form.flatMap((f, i) => [i ? ", " : "", el("bdi", {}, f)])),
    q.suggestions?.length && el("p", { class: "offers" }, "It offers: ", q.suggestions.join("; ")),
  ];
}

function question(header, words, many) {
  return el("p", { class: "ask" }, header && el("b", {}, `${header}: `), words, many && el("i", {}, " (several may be chosen)"));
}

function options(list) {
  if (!list?.length) return null;
  return el("ol", { class: "options" }, list.map((o) =>
    el("li", {}, el("b", {}, o.label ?? ""), o.description && el("span", {}, ` ${o.description}`))));
}

// turnLines are the newest turns, without those that the card says already.
function turnLines(row, turns = []) {
  const said = new Set([oneLine(row.title), oneLine(row.question?.text), row.reason]);
  return turns.map((t) => ({ t, line: t.actor === "agent" && t.intent !== "progress" ? lastLine(t.text) : oneLine(t.text) }))
    .filter(({ line }, i, all) => line && !said.has(line) && line !== all[i + 1]?.line).slice(-2)
    .map(({ t, line }) => el("li", { data: { actor: t.actor } },
      el("span", { class: "who" }, t.actor === "user" ? "you" : "agent"), el("bdi", {}, line)));
}

const badgesFrom = (row, busy, hosts) => [row.label, row.subagents, row.background, row.refused, row.permission_mode, hosts && row.host, row.agent,
  minutes(busy), row.process?.alive, percent(row), cost(row)];

// refusals says which calls the client itself refused in this turn, and why.
export const refusals = (row) => (row.refusals ?? []).map((r) => `${r.summary || r.tool}${r.reason ? `: ${r.reason}` : ""}`);

const minutes = (s) => (s >= 60 ? Math.floor(s / 60) : 0);

const percent = (row) => (row.context ? Math.round(row.context.used_percentage) : 0);

export const cost = (row) => (row.cost_usd >= 0.005 ? `$${row.cost_usd.toFixed(2)}` : "");

// nearlyFull is the share of the context, in percent, from which the client is
// about to compact it.
const nearlyFull = 85;

function context(row) {
  const used = percent(row);
  if (!used) return null;
  return el("li", { class: `badge context${used >= nearlyFull ? " full" : ""}`, title: "how full the model's context is" },
    svg("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "all", width: "100", height: "24", rx: "12" }), svg("rect", { class: "used", width: String(Math.min(used, 100)), height: "24", rx: "12" })),
    `context ${used}%`);
}

function badges(row, busy, hosts) {
  const bg = row.background ?? {};
  const subs = row.subagents ?? [];
  const stuck = subs.filter((a) => a.state === "permission" || a.state === "question");
  const badge = (name, words, title) => words && el("li", { class: `badge ${name}`, title }, words);
  return [
    badge("label", row.label && `#${row.label}`),
    badge("subs", subs.length && count(subs.length, "subagent"), subs.map((a) => `${a.type || a.agent_id}: ${a.state}`).join(", ")),
    badge("stuck", stuck.length && `${count(stuck.length, "subagent")} asks`, stuck.map((a) => a.type || a.agent_id).join(", ")),
    badge("agents", bg.agents && `${count(bg.agents, "agent")} behind`, "background agents"),
    badge("shells", bg.shells && count(bg.shells, "shell"), "background shells"),
    badge("crons", bg.crons && count(bg.crons, "schedule"), "scheduled wake-ups"),
    badge("refused", row.refused && `${row.refused} refused`, refusals(row).join("\n")),
    badge("mode", row.permission_mode && row.permission_mode !== "default" && row.permission_mode, "permission mode"),
    badge("busy", minutes(busy) && `${minutes(busy)}m at work today`),
    badge("agent", row.agent && row.agent !== "claude-code" && row.agent),
    badge("gone", row.process?.alive === false && "process gone"),
    badge("host", hosts && row.host, "the machine it runs on"),
    context(row),
    badge("cost", cost(row), "cost of the session so far"),
  ];
}
