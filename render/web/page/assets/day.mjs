// The day: a lane for each session, and what happened while the user was away.

import { age, pathOf, placeOf } from "./card.mjs";
import { el, redraw, show, svg, text } from "./dom.mjs";
import { keyOf, matcher, recordOf, what } from "./state.mjs";
import { GLYPHS, count, oneLine, span, stateWords } from "./words.mjs";

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
