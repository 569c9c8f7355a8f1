// What sessions ask, and the buttons that answer it. An offer that is drawn
// stays the same elements until it is over, and its buttons answer that one and no
// other: they know its digest, and what of it was drawn.

import { age, arrange, byId as $, drawBlocks, el, mark, pathOf, redraw, text } from "./cards.mjs";
import { recordOf } from "./line.mjs";
import { clean } from "./state.mjs";

// settle is how long nothing is answered after offers came, went or moved, in
// ms: the hand that comes down now was meant for what was there before.
const settle = 600;

// swipe is how far a finger has to go sideways to come to another offer, in pixels.
const swipe = 60;

// Offers shows one offer, the oldest first, and the titles of those that wait behind it.
export class Offers {
  views = new Map();
  keys = [];
  order = "";
  open = "";
  place = 0;
  picked = false; // somebody has gone to the one that is open
  moved = 0; // when what is shown came, went or moved

  // give(offer, answer) sends an answer; tell(words) says why it does not.
  constructor(root, { give, tell }) {
    this.root = root;
    this.give = give;
    this.tell = tell;
    this.count = el("span", { role: "status" });
    this.bar = el("div", { class: "queue" }, this.count, button("Previous", () => this.step(-1)), button("Next", () => this.step(1)));
    let from = null;
    root.addEventListener("touchstart", (e) => { from = e.touches.length === 1 ? e.touches[0] : null; }, { passive: true });
    root.addEventListener("touchend", (e) => {
      const [to] = e.changedTouches, dx = from ? to.clientX - from.clientX : 0;
      if (Math.abs(dx) > swipe && Math.abs(dx) > 2 * Math.abs(to.clientY - from.clientY)) this.step(dx < 0 ? 1 : -1);
      from = null;
    }, { passive: true });
  }

  // step opens the next offer, or the one before.
  step(by) {
    if (this.keys.length > 1) this.pick(this.keys[(this.place + by + this.keys.length) % this.keys.length]);
    this.root.scrollIntoView({ block: "start" });
  }

  pick(key) {
    this.picked = true;
    this.show(key);
  }

  // show opens an offer and folds the others. An answer goes only to one that has been open for a moment.
  show(key) {
    if (key !== this.open) this.moved = performance.now();
    this.open = key;
    this.place = Math.max(0, this.keys.indexOf(key));
    for (const [k, view] of this.views) view.fold(k !== key);
    text(this.count, `${this.place + 1} of ${this.keys.length} requests`);
  }

  // draw shows asks, what the server said of each offer, with the rows of their
  // sessions.
  draw(asks, rows) {
    const keyOf = ({ offer }) => `${offer.id} ${offer.drawn}`;
    const nodes = asks.map((ask) => {
      const key = keyOf(ask);
      if (!this.views.has(key)) this.views.set(key, new View(ask, (answer, view) => this.send(ask.offer, answer, view), () => this.pick(key)));
      const view = this.views.get(key);
      view.draw(ask, rows.find((r) => recordOf(r) === ask.offer.record));
      return view.node;
    });
    const keys = asks.map(keyOf), order = keys.join();
    for (const [key, view] of this.views) {
      if (keys.includes(key)) continue;
      view.eye.disconnect();
      this.views.delete(key);
    }
    if (order !== this.order) {
      Object.assign(this, { order, keys, moved: performance.now() });
      const next = keys[this.picked ? Math.min(this.place, keys.length - 1) : 0]; // at first they come in any order
      this.show(this.picked && keys.includes(this.open) ? this.open : next);
    }
    const held = this.root.contains(document.activeElement);
    arrange(this.root, nodes.length > 1 ? [this.bar, ...nodes] : nodes);
    this.root.hidden = !nodes.length;
    if (held && !this.root.contains(document.activeElement)) (this.root.querySelector(".offer:not(.folded) h3 a") ?? document.getElementById("main")).focus({ preventScroll: true });
  }

  async send(offer, answer, view) {
    if (performance.now() - this.moved < settle) return this.tell("What is asked has just changed: look again");
    if (answer.word === "allow" && view.unseen.size) return this.reveal(view.firstUnseen);
    await this.give(offer, { digest: offer.digest, drawn: offer.drawn, ...answer });
  }

  // press is a click by key: it acts only on what is on the screen, else it scrolls there.
  press(node) {
    const view = [...this.views.values()].find((v) => v.node.contains(node));
    const { top, bottom } = node.getBoundingClientRect();
    if (top < barHeight() || bottom > innerHeight) return this.reveal((view?.unseen.size && view.firstUnseen) || node);
    node.focus({ preventScroll: true });
    node.click();
  }

  reveal(node) {
    node.scrollIntoView({ block: "center" });
    this.tell("Read all of it first, then once more");
  }
}

const barHeight = () => Math.ceil(document.querySelector(".top").getBoundingClientRect().bottom);

// shownWhole is the part of a piece that has to be on the screen: not all, for a window
// that is lower than one.
const shownWhole = 0.9;

// pieces are the elements of a text, each short enough to be on the screen at once.
const pieces = (s) => (clean(s).match(/[^]{1,200}/gu) ?? []).map((t) => el("span", { class: "piece" }, t));

const button = (words, click, props = {}) => el("button", { type: click ? "button" : "submit", ...props, ...(click && { on: { click } }) }, words);
const labelled = (words, input) => el("label", { class: "field" }, el("span", {}, words), input);
const words = (label, props = {}) => {
  const input = el("textarea", { rows: "2", maxlength: "16000", ...props });
  return [input, labelled(label, input)];
};

// View is one offer. While it is folded none of it counts as seen.
class View {
  constructor(ask, send, open) {
    const { offer } = ask, { card } = offer;
    const id = `offer-${offer.id}`;
    this.who = el("a");
    this.node = el("section", { class: "offer", data: { offer: offer.id, kind: offer.kind }, "aria-labelledby": id });
    this.eye = new IntersectionObserver((seen) => {
      for (const e of seen) {
        if (e.intersectionRatio < shownWhole && e.intersectionRect.height < shownWhole * (e.rootBounds?.height ?? Infinity)) continue;
        this.eye.unobserve(e.target);
        this.unseen.delete(e.target);
      }
    }, { rootMargin: `-${barHeight()}px 0px 0px 0px`, threshold: [0.1, 0.3, 0.5, 0.7, shownWhole] });
    this.buttons = el("div", { class: "answer" }, ask.from ? this.form(ask, send) : el("p", { class: "why" }, `You cannot answer from here: ${ask.why}.`));
    this.more = button("Show", open, { class: "more", "aria-describedby": id });
    this.node.append(...[el("h3", { id }, this.who, " ", el("b", {}, pieces(card.title))), where(offer), offer.kind === "question" && ask.from ? null : planned(offer), this.buttons, this.more].flat().filter(Boolean));
    this.unseen = new Set(this.node.querySelectorAll(".piece"));
    this.fold(true);
  }

  fold(folded) {
    if (folded === this.folded) return;
    this.folded = folded;
    this.node.classList.toggle("folded", folded);
    this.eye.disconnect();
    if (!folded) for (const piece of this.unseen) this.eye.observe(piece);
  }

  get firstUnseen() {
    return this.unseen.values().next().value;
  }

  draw(ask, row) {
    redraw(this.who, row ? [row.name, row.project, row.session_id] : ask.offer.session_id, () => document.createTextNode(row?.name || row?.project || ask.offer.project || ask.offer.session_id));
    mark(this.who, { href: row ? pathOf(row) : `/session/${ask.offer.session_id}` });
  }

  // form makes what can be answered; while an answer is under way no other is
  // sent.
  form(ask, send) {
    const kinds = { question: questions, plan, reply };
    const once = async (answer) => {
      if (this.busy) return;
      this.busy = true;
      try {
        await send(answer, this);
      } finally {
        this.busy = false;
      }
    };
    const form = el("form", { on: { submit: (e) => e.preventDefault() } });
    form.append(...[(kinds[ask.offer.kind] ?? permission)(ask, once, form)].flat(Infinity).filter(Boolean));
    return form;
  }
}

function where({ card, made_at: at }) {
  return el("p", { class: "at" }, [card.dir, card.branch && `branch ${card.branch}`, card.host && `on ${card.host}`, card.agent && `asked by its subagent ${card.agent}`]
    .filter(Boolean).flatMap((x) => [el("bdi", {}, x), " · "]), age(new Date(at).toISOString(), { before: "for ", fine: true }));
}

// planned shows a plan as Markdown where the server can parse it, and all else as lines.
function planned({ card, blocks }) {
  if (!blocks) return sheet(card);
  return [el("div", { class: "words", role: "group", "aria-label": "The plan" }, drawBlocks(blocks, pieces)), sheet({ ...card, lines: card.lines.slice(card.plan) })];
}

// sheet shows all of it. Lines of a diff have their sign and number; colour is beside them.
function sheet(card) {
  if (!card.lines?.length) return null;
  const numbers = numbersOf(card.lines), marks = changesOf(card.lines);
  return el("div", { class: numbers.size ? "sheet diff" : "sheet", role: "group", "aria-label": "What it asks" }, card.lines.map((l, i) => {
    const [from, to] = marks.get(i) ?? [0, 0], shown = l.text || "\u00a0";
    return el("div", { data: { line: l.kind, ...(numbers.has(i) && { at: numbers.get(i) }) } },
      pieces(shown.slice(0, from)), to > from && el("mark", {}, pieces(shown.slice(from, to))), pieces(shown.slice(to)));
  }));
}

// numbersOf are the line numbers of a diff: of what goes in the old file, of all else in the new one.
function numbersOf(lines) {
  const numbers = new Map();
  let before = 0, after = 0;
  lines.forEach(({ kind, text: t }, i) => {
    const hunk = kind === "hunk" && t.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)/);
    if (hunk) [before, after] = hunk.slice(1).map(Number);
    else if (!after || !["add", "delete", "text"].includes(kind)) after = 0;
    else {
      numbers.set(i, kind === "delete" ? before : after);
      if (kind !== "add") before++;
      if (kind !== "delete") after++;
    }
  });
  return numbers;
}

// changesOf says for each line of a diff that replaces another, and for that one, where they differ.
function changesOf(lines) {
  const marks = new Map();
  for (let i = 0; i < lines.length;) {
    let gone = 0, came = 0;
    while (lines[i + gone]?.kind === "delete") gone++;
    while (lines[i + gone + came]?.kind === "add") came++;
    if (gone === came) for (let j = i; j < i + gone; j++) markPair(marks, lines, j, j + gone);
    i += gone + came || 1;
  }
  return marks;
}

// A pair with less in common than this share of the longer line is a new line, and not marked.
const alike = 0.4;

function markPair(marks, lines, i, j) {
  const a = lines[i].text, b = lines[j].text, least = Math.min(a.length, b.length);
  let head = 1, tail = 0; // after the sign
  while (head < least && a[head] === b[head]) head++;
  while (tail < least - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  if (/[\ud800-\udbff]/.test(a[head - 1])) head--; // a letter is not cut
  if (/[\udc00-\udfff]/.test(a.at(-tail))) tail--;
  if (head - 1 + tail < alike * (Math.max(a.length, b.length) - 1)) return;
  marks.set(i, [head, a.length - tail]).set(j, [head, b.length - tail]);
}

const unseen = (card) => !card.whole && el("p", { class: "why" }, `Not all of it can be shown (${card.why}), so it can be allowed only at its session.`);

function permission({ offer, from }, send) {
  const [why, field] = words("Why not, for the agent (optional)", { rows: "1" });
  const { card } = offer;
  return [
    unseen(card),
    el("div", { class: "row" }, card.whole && button("Allow", () => send({ word: "allow" }), { class: "yes" }), button("Deny", () => send({ word: "deny", message: why.value.trim() }), { class: "no" })),
    card.whole && from === "page" && (card.always ?? []).map((rule, i) => button(`Allow, and ${rule}`, () => send({ word: "allow", always: i + 1 }), { class: "always" })),
    field,
  ];
}

function plan({ offer }, send) {
  const [what, field] = words("What to change (for Send back)");
  return [unseen(offer.card), field, el("div", { class: "row" }, offer.card.whole && button("Approve", () => send({ word: "allow" }), { class: "yes" }),
    button("Send back", () => send({ word: "deny", message: what.value.trim() }), { class: "no" }))];
}

function reply(_, send, form) {
  const [what, field] = words("Your reply", { required: true });
  form.addEventListener("submit", () => send({ word: "say", message: what.value.trim() }));
  return [field, el("div", { class: "row" }, button("Send", null, { class: "yes" }))];
}

// questions are answered by their options, in own words, or, where several may be
// chosen, by both.
function questions({ offer }, send) {
  const { card } = offer;
  const [why, field] = words("Why not, for the agent (optional)", { rows: "1" });
  const asked = (card.questions ?? []).map((q, i) => {
    const name = `${offer.id}-${i}`;
    const own = el("input", { type: "text", autocomplete: "off", maxlength: "16000" });
    const boxes = (q.options ?? []).map(() => el("input", { type: q.several ? "checkbox" : "radio", name }));
    if (!q.several) own.addEventListener("input", () => { if (own.value) for (const b of boxes) b.checked = false; });
    for (const b of boxes) if (!q.several) b.addEventListener("change", () => { own.value = ""; });
    own.addEventListener("input", () => own.setCustomValidity(""));
    const node = el("fieldset", { class: "asked" }, el("legend", {}, q.header && `${q.header}: `, pieces(q.question), q.several && " (several may be chosen)"),
      (q.options ?? []).map((o, j) => el("label", { class: "option" }, boxes[j], el("span", {}, el("b", {}, pieces(o.label)), o.description && el("small", {}, " ", pieces(o.description))))),
      labelled(boxes.length ? "Or in your own words" : "Your answer", own));
    return { node, own, value: () => ({ options: boxes.flatMap((b, j) => (b.checked ? [j + 1] : [])), text: own.value.trim() }) };
  });
  const ready = () => asked.every((a) => {
    const { options, text: said } = a.value();
    a.own.setCustomValidity(options.length || said ? "" : "This question has no answer yet");
    return a.own.reportValidity();
  });
  return [
    unseen(card), asked.map((a) => a.node),
    el("div", { class: "row" }, card.whole && button("Answer", () => { if (ready()) send({ word: "allow", choices: asked.map((a) => a.value()) }); }, { class: "yes" }),
      button("Refuse", () => send({ word: "deny", message: why.value.trim() }), { class: "no" })),
    field,
  ];
}

const did = { allow: "allowed", deny: "refused", say: "replied" };
const didTo = { question: { allow: "answered" }, plan: { allow: "approved", deny: "sent back" } };

export function endWords({ answered, why, taken }) {
  const by = answered && `${did[answered.word] ?? answered.word} by ${answered.by || "somebody"}, from ${{ page: "the page", remote: "a browser elsewhere" }[answered.from] ?? answered.from}`;
  return [by, !taken && why].filter(Boolean).join(": ") || "over";
}

export function drawEnds(root, ends) {
  redraw(root, ends, () => ends.map((e) => el("li", {}, el("b", {}, e.title), " ", el("span", {}, endWords(e)))));
}

export function saidOf(offer, answer) {
  const w = didTo[offer.kind]?.[answer.word] ?? did[answer.word];
  return `${w[0].toUpperCase()}${w.slice(1)}: ${offer.card.title}`;
}

export const asksOf = (s, wants) => [...s.offers.values()].filter((o) => wants(o)).map((o) => s.asks.get(o.id)).filter(Boolean)
  .sort((a, b) => a.offer.made_at - b.offer.made_at || (a.offer.id < b.offer.id ? -1 : 1));

let known = {}; // the user's PIN, which signs answers, until the page is left or loaded again

// signed does what may take the PIN, with {pin} once that is known, and asks for it as
// often as the server does.
export async function signed(send) {
  for (;;) {
    try {
      return await send(known);
    } catch (e) {
      if (e.code !== "pin" && e.code !== "wrong_pin") throw e;
      known = {};
      const typed = await askPIN(e.code === "wrong_pin" ? e.message : "");
      if (!typed) throw e;
      known = { pin: typed };
    }
  }
}

function askPIN(why) {
  const box = $("pin"), field = $("pin-typed");
  field.value = "";
  $("pin-why").textContent = why;
  box.returnValue = "";
  box.showModal();
  return new Promise((done) => {
    box.addEventListener("close", () => {
      done(box.returnValue === "give" ? field.value : "");
      field.value = "";
    }, { once: true });
  });
}
