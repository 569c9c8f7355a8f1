// Elements without markup: every text becomes a text node, so nothing that a
// session says can be taken for HTML.

import { clean } from "./words.mjs";

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
