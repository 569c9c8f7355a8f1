// The board: groups of cards, one card a seat, each the same elements for as
// long as its row lives.

import { Card, pathOf } from "./card.mjs";
import { arrange, el, focused, mark, redraw, text } from "./dom.mjs";
import { groups, keyOf, recordOf } from "./state.mjs";

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
