// The figures beside the board: time at work and waiting, and how the hooks do.

import { age } from "./card.mjs";
import { el, redraw, svg } from "./dom.mjs";
import { count, span } from "./words.mjs";

// drawStats shows the newest days as a table whose cells are bars: what it says
// can be read without seeing it.
export function drawStats(root, stats) {
  if (!stats) return;
  redraw(root, stats, () => {
    const days = stats.days.slice(-7);
    if (!days.length) return el("p", { class: "empty" }, "Nothing was done in the last 7 days.");
    const most = Math.max(60, ...days.map((d) => d.busy_seconds + d.waiting_seconds));
    return [
      el("table", { class: "days" }, el("caption", { class: "hush" }, "Time at work and waiting for you, by day"),
        el("thead", {}, el("tr", {}, ...[["Day", ""], ["At work", "key work"], ["Waited for you", "key wait"]].map(([h, c]) =>
          el("th", { scope: "col", class: c }, h)))),
        el("tbody", {}, days.toReversed().map((d) => dayRow(d, most)))),
      totals(days),
      projects(stats.projects),
    ];
  });
}

function dayRow(d, most) {
  const work = 100 * d.busy_seconds / most, wait = 100 * d.waiting_seconds / most;
  const bar = svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "work", width: work.toFixed(2), height: "8" }),
    svg("rect", { class: "wait", x: work.toFixed(2), y: "2", width: wait.toFixed(2), height: "4" }));
  return [
    el("tr", {}, el("th", { scope: "row" }, dayName(d.date)), el("td", {}, span(1000 * d.busy_seconds)), el("td", {}, span(1000 * d.waiting_seconds))),
    el("tr", { class: "chart", "aria-hidden": "true" }, el("td", { colspan: "3" }, bar)),
  ];
}

function dayName(date) {
  const [y, m, d] = date.split("-").map(Number);
  return new Date(y, m - 1, d).toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short" });
}

function totals(days) {
  const sum = (k) => days.reduce((n, d) => n + d[k], 0);
  return el("p", { class: "sums" }, [count(sum("turns"), "turn"), count(sum("tools"), "tool call"),
    count(sum("permissions"), "permission"), count(sum("questions"), "question"), count(sum("errors"), "error")].join(" · "));
}

function projects(all = {}) {
  const list = Object.entries(all).filter(([, d]) => d.busy_seconds >= 60).sort((a, b) => b[1].busy_seconds - a[1].busy_seconds).slice(0, 5);
  if (list.length < 2) return null;
  return el("dl", { class: "facts" }, list.map(([name, d]) =>
    el("div", {}, el("dt", { title: name }, name.split("/").at(-1) || name), el("dd", {}, span(1000 * d.busy_seconds)))));
}

const modes = { hooks_active: "hooks active", polling_fallback: "polling: hooks are silent" };

// drawHooks shows /hook/status.
export function drawHooks(root, h) {
  if (!h) return;
  redraw(root, h, () => {
    const ms = (v) => `${v < 10 ? v.toFixed(1) : Math.round(v)} ms`;
    const facts = [
      ["Receiving", h.enabled ? "enabled" : "disabled"],
      ["Mode", modes[h.mode] ?? h.mode],
      ["Last event", h.last_event_at ? [h.last_event_type, " ", age(h.last_event_at, { after: " ago" })] : "none yet"],
      ["Transcripts read", `every ${span(1000 * h.polling_interval)}${h.reconciliations ? `, ${h.reconciliations} times so far` : ""}`],
      ["Files", h.watching === "fsnotify" ? "watched" : `polled every ${h.file_poll_interval} s`],
      ["Hook takes", h.latency ? `p50 ${ms(h.latency.p50_ms)}, p99 ${ms(h.latency.p99_ms)}` : "not measured yet"],
      ["Events", `${h.events_received} since the server began`],
      ["Pages open", String(h.sse_clients)],
    ];
    return el("dl", { class: "facts" }, facts.map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v))));
  });
}
