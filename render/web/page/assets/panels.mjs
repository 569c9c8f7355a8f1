// The figures beside the board: time at work and waiting, and how the hooks do.

import { age } from "./card.mjs";
import { el, middle, redraw, svg } from "./dom.mjs";
import { count, span } from "./words.mjs";

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
  const high = 100, most = Math.max(60, ...days.map((d) => d.busy_seconds + d.waiting_seconds));
  const bar = (name, i, top, tall) => tall > 0 &&
    svg("rect", { class: name, x: String(i * 40 + 7), y: top.toFixed(1), width: "26", height: tall.toFixed(1), rx: "3" });
  return svg("svg", { class: "chart", viewBox: `0 0 ${shownDays * 40} ${high + 2}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    days.map((d, i) => {
      const work = high * d.busy_seconds / most, wait = high * d.waiting_seconds / most;
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
