// The board and its cards, and the elements that every view is made of.

import { recordOf } from "./line.mjs";
import { GLYPHS, TASKS, clean, count, groups, keyOf, lastLine, oneLine, stateWords, taskOf, what } from "./state.mjs";

// Elements without markup: every text becomes a text node, so nothing that a
// session says can be taken for HTML.

/** @param {string} id @returns {any} the element with that id */
export const byId = (id) => document.getElementById(id);

/** @returns {any} the element that has the focus */
export const focused = () => document.activeElement;

// el makes an element. props: class, on (listeners), data, hidden, and plain
// attributes; a value of null, undefined or false leaves one out. Children are
// nodes or texts; nothing else, and no markup.
export function el(tag, props = {}, ...children) {
  return fill(set(document.createElement(tag), props), children);
}

const svgSpace = "http://www.w3.org/2000/svg";

export function svg(tag, props = {}, ...children) {
  return fill(set(document.createElementNS(svgSpace, tag), props), children);
}

function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, f] of Object.entries(value)) node.addEventListener(type, f);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : clean(value));
  }
  return node;
}

function fill(node, children) {
  for (const c of children.flat(Infinity)) {
    if (c === null || c === undefined || c === false || c === "") continue;
    node.append(c instanceof Node ? c : clean(c));
  }
  return node;
}

// drawBlocks makes elements of Markdown that the server has parsed; words(text) makes the text of one.
export function drawBlocks(blocks, words) {
  return blocks.map((b) => el("div", { class: "block", data: { block: b.kind, level: b.level }, ...(b.kind === "h" && { role: "heading", "aria-level": Math.min(3 + b.level, 6) }) },
    b.mark && el("span", { class: "at" }, `${b.mark} `), b.spans.map((s) => el(s.style || "span", {}, words(s.text)))));
}

// middle makes a name that loses its middle where it has no room: its ends tell it
// from others. The style cuts the first half; what is short has no other.
export function middle(name) {
  const letters = [...clean(name)], head = letters.length > 9 ? letters.length - 7 : letters.length;
  return [letters.slice(0, head), letters.slice(head)].filter((half) => half.length).map((half) => el("span", {}, half.join("")));
}

// text sets a node's text if it differs: an unchanged one is not read out again.
export function text(node, value) {
  const t = clean(value);
  if (node.textContent !== t) node.textContent = t;
}

// mark sets attributes that differ: styles are not computed anew for the same.
export function mark(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const v = clean(value);
    if (node.getAttribute(name) !== v) node.setAttribute(name, v);
  }
}

export function show(node, shown) {
  if (node.hidden === Boolean(shown)) node.hidden = !shown;
}

// redraw replaces a node's children when what they are drawn from has changed.
export function redraw(node, from, draw) {
  const key = JSON.stringify(from) ?? "";
  if (node.drawnFrom === key) return;
  node.drawnFrom = key;
  node.replaceChildren(...[draw()].flat(Infinity).filter(Boolean));
  show(node, node.firstChild);
}

// arrange makes nodes the children of parent, in their order, and touches only
// those that are out of place. Focus stays where it is, even on a node that
// moves.
export function arrange(parent, nodes) {
  const held = focused();
  const keep = new Set(nodes);
  for (const c of [...parent.children]) if (!keep.has(c)) c.remove();
  let at = parent.firstElementChild;
  for (const n of nodes) {
    if (n === at) {
      at = at.nextElementSibling;
      continue;
    }
    if (n.isConnected && parent.isConnected && parent.moveBefore) parent.moveBefore(n, at);
    else parent.insertBefore(n, at);
  }
  if (held && held !== document.activeElement && held.isConnected) held.focus({ preventScroll: true });
}

const repeats = new Set(["j", "k"]); // which go on while they are held down

// listen binds single keys. They do nothing while something is typed, or while on says no.
export function listen(on, actions) {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.repeat && !repeats.has(e.key)) return;
    const typing = /** @type {Element} */ (e.target).closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
    if (document.querySelector("dialog[open]")) return;
    const action = e.key === "Escape" || (!typing && on()) ? actions[e.key] : null;
    if (action && action(e) !== false) e.preventDefault();
  });
}

// One session, as a card and as the head of its page.

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

// The board: groups of cards, one card a seat, each the same elements for as
// long as its row lives.

export class Board {
  cards = new Map();
  sections = new Map();

  // act(row, name) does something to a session; look(row) is called when a
  // card comes into view.
  constructor(root, empty, { act, look }) {
    this.root = root;
    this.empty = empty;
    this.act = act;
    this.eyes = new IntersectionObserver((seen) => {
      for (const e of seen) {
        const card = this.cards.get(/** @type {any} */ (e.target).dataset.key);
        if (card) card.near = e.isIntersecting;
        if (card?.near) look(card.row);
      }
    }, { rootMargin: "300px" });
    this.look = look;
  }

  draw(s) {
    const shown = groups(s), held = this.held();
    this.root.classList.toggle("rows", s.view === "rows");
    this.hosts = severalHosts(s.rows);
    for (const [key, card] of this.cards) {
      if (s.rows.has(key)) continue;
      this.eyes.unobserve(card.node);
      this.cards.delete(key);
    }
    // Cards move while both their groups are in the document: a node that
    // leaves it loses the focus.
    const nodes = shown.map((g) => this.section(g, s));
    arrange(this.root, nodes);
    for (const [id, sec] of this.sections) if (!nodes.includes(sec.node)) this.sections.delete(id);
    this.drawEmpty(s, shown.length > 0);
    if (held >= 0 && this.held() < 0) { // its card is gone: whoever has its place
      const links = this.links();
      links[Math.min(held, links.length - 1)]?.focus({ preventScroll: true });
    }
  }

  section(g, s) {
    let sec = this.sections.get(g.id);
    if (!sec) {
      const name = el("span"), n = el("span", { class: "n" }), list = el("ul", { class: "cards", role: "list" });
      const head = el("h2", {}, name, " ", n);
      sec = { node: el("section", { class: "group", data: { group: g.id } }, head, list), name, n, list };
      this.sections.set(g.id, sec);
      this.root.append(sec.node);
    }
    mark(sec.node, { "aria-label": g.name });
    text(sec.name, g.name);
    text(sec.n, String(g.rows.length));
    arrange(sec.list, g.rows.map((row) => this.card(row, s)));
    return sec.node;
  }

  card(row, s) {
    const key = keyOf(row);
    let card = this.cards.get(key);
    if (!card) {
      card = new Card((name) => this.act(card.row, name));
      this.cards.set(key, card);
      mark(card.node, { "data-key": key });
      this.eyes.observe(card.node);
    }
    const turns = s.turns.get(recordOf(row));
    card.draw(key, row, { turns, busy: s.busy.get(recordOf(row)), hosts: this.hosts, line: s.view === "rows" });
    if (card.near && !turns) this.look(row);
    return card.node;
  }

  drawEmpty(s, any) {
    redraw(this.empty, s.rows.size ? s.filter : null, () => (s.rows.size
      ? [el("h2", {}, "Nothing matches"), el("p", {}, `No session has “${s.filter}”. `, el("kbd", {}, "Esc"), " clears the filter.")]
      : [el("h2", {}, "No sessions yet"), el("p", {}, "They appear here with their first hook. ", el("code", {}, "beckon doctor"), " tells whether hooks are installed.")]));
    this.empty.hidden = any || !s.ready;
  }

  links() {
    return [...this.root.querySelectorAll(".name")];
  }

  focused() {
    return this.cards.get(focused()?.closest?.(".card")?.dataset.key)?.row;
  }

  held() {
    const card = focused()?.closest?.(".card");
    return card ? this.links().indexOf(card.querySelector(".name")) : -1;
  }

  step(by) {
    const links = this.links(), at = this.held();
    const to = at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1);
    reach(links[to]);
  }

  next() {
    const links = this.links(), at = this.held();
    const order = [...links.slice(at + 1), ...links.slice(0, at + 1)];
    const to = order.find((a) => a.closest(".needs"));
    reach(to);
    return Boolean(to);
  }

  find(path) {
    reach(this.links().find((a) => pathOf(this.cards.get(a.closest(".card").dataset.key).row) === path));
  }
}

function severalHosts(rows) {
  const hosts = new Set();
  for (const row of rows.values()) hosts.add(row.host);
  return hosts.size > 1;
}

function reach(link) {
  if (!link) return;
  link.focus({ preventScroll: true });
  link.closest(".card").scrollIntoView({ block: "nearest" });
}
