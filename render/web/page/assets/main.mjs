// The page: one state, one way to change it, one drawing a frame.

import * as api from "./line.mjs";
import * as notices from "./notices.mjs";
import { Board, age, byId as $, el, listen, pathOf, redraw, text } from "./cards.mjs";
import { hear, line, refused } from "./first.mjs";
import { changed, enter, keep, kept, leave, recordOf, share } from "./line.mjs";
import { Attention, drawTitle } from "./notices.mjs";
import { Offers, asksOf, drawEnds, endWords, saidOf, signed } from "./offers.mjs";
import { SessionPage, dateOf, drawDate, drawDay, drawDigest, drawHooks, drawStats, parse } from "./pages.mjs";
import { GROUPS, NEEDS, ORDERS, PHASES, VIEWS, count, fine, initial, marksOf, matching, oneLine, reduce, span, tallies, waiting } from "./state.mjs";

const chosen = (pref, among) => (Object.hasOwn(among, kept(pref)) ? { [pref]: kept(pref) } : {});
let state = { ...initial(), ...chosen("group", GROUPS), ...chosen("order", ORDERS), ...chosen("view", VIEWS) };
const crowd = 12; // sessions, from which a phone shows rows unless cards were chosen
const phone = matchMedia("(max-width: 42rem)");
const hiddenPace = 200; // ms
let frame = 0, timer = 0;

function dispatch(event) {
  const next = reduce(state, event);
  if (next === state) return;
  state = next;
  // A hidden page gets no frames, but its title and notifications are wanted most then.
  if (document.hidden) timer ||= setTimeout(draw, hiddenPace);
  else frame ||= requestAnimationFrame(draw);
}

// --- actions

const moreTurns = api.queue(2);
const board = new Board($("groups"), $("empty"), { act, look });
const page = new SessionPage($("session"), { act, fail, met, give, tell: (words) => toast(words, true) });
const offers = new Offers($("asks"), { give, tell: (words) => toast(words, true) });
const attention = new Attention($("live"), { chosen: notices.told, open: (row) => go(pathOf(row)) });

// look asks for the newest turns of a card that came into view.
function look(row) {
  if (row.remote || state.turns.has(recordOf(row))) return;
  moreTurns(recordOf(row), async () => {
    const { turns } = await api.turns(recordOf(row), 4);
    dispatch({ type: "turns", session: recordOf(row), turns });
  });
}

// act does what a button or a key asks for. Setting aside asks for how long, and stopping
// whether it is meant.
function act(row, name) {
  if (row.remote) return toast(`It is on ${row.remote.name}: beckon jump goes there`, true);
  if (name === "stop") return choose(row, "Stop it?", "Its turn ends at its next call.", [["Stop", undefined, "It stops at its next call"]], name);
  if (name === "label") return choose(row, "Label", "Without words it has no label.", [labelForm(row)], name);
  if (name !== "backburner") return tell(row, name, undefined, { jump: "Jumped to its terminal", seen: "Marked as seen" }[name]);
  if (row.state === "backburner") return tell(row, name, { off: true }, "Taken back");
  choose(row, "Set aside", "Its own next prompt brings it back in any case.", spans.map(([words, body]) => [words, body(), `Set aside ${words[0].toLowerCase()}${words.slice(1)}`]), name);
}

// labelForm asks for the words to put on a session.
function labelForm(row) {
  const field = el("input", { maxlength: "64", value: row.label ?? "", "aria-label": "Label" });
  const send = () => tell(row, "label", { label: field.value }, field.value.trim() ? `Labelled ${field.value.trim()}` : "It has no label");
  return el("form", { method: "dialog", class: "choices", on: { submit: send } }, field, el("button", {}, "Label"));
}

// met marks a session as seen whose page somebody opens, or comes back to, as
// `beckon show` does.
function met(row) {
  if (row.unseen && !row.remote && !document.hidden) api.act(row, "seen").catch(() => {}); // its button stays
}

async function tell(row, name, body, done) {
  try {
    await api.act(row, name, body);
    toast(done);
  } catch (e) {
    fail(e);
  }
}

// give answers the offer that was drawn, and says what became of that.
async function give(offer, answer) {
  try {
    const { taken, why } = await signed((typed) => api.answer(offer.id, { ...answer, ...typed }));
    toast(taken ? saidOf(offer, answer) : `Not taken: ${why}`, !taken);
  } catch (e) {
    fail(e);
    if (e.status === 412) ask(offer.id);
    if ([404, 409, 410].includes(e.status)) dispatch({ type: "offer_ended", data: { id: offer.id, answered: e.answered, why: e.message } });
  }
}

const asking = api.queue(2);

// ask has the server say what an offer asks; the line tells only that it is there.
function ask(id) {
  asking(id, async () => dispatch({ type: "asked", data: await api.offer(id) }));
}

function askAll() {
  const shown = page.row && recordOf(page.row);
  for (const o of state.offers.values()) if (!state.asks.has(o.id) && (o.kind !== "reply" || o.record === shown)) ask(o.id);
}

/** @type {[string, () => any][]} */
const spans = [
  ["Until its next prompt", () => undefined],
  ["For 30 minutes", () => ({ until: "30m" })],
  ["For 2 hours", () => ({ until: "2h" })],
  ["Until it needs me", () => ({ until: "needed" })],
  ["Until tomorrow, 9:00", () => ({ until: tomorrow().toISOString() })],
];

function tomorrow() {
  const t = new Date(Date.now() + state.skew);
  return new Date(t.getFullYear(), t.getMonth(), t.getDate() + 1, 9);
}

// choose asks which of some choices ([words, body, what is said when it is done], or a form) of an
// action is meant.
function choose(row, title, note, choices, action) {
  const box = $("aside");
  text($("aside-title"), title);
  text($("aside-note"), note);
  text($("aside-what"), `${row.name || row.project || row.session_id}: ${oneLine(row.title) || "no prompt yet"}`);
  $("aside-choices").replaceChildren(...choices.map((c) => {
    if (c instanceof Node) return c;
    const [words, body, done] = c;
    const click = () => {
      box.close();
      tell(row, action, body, done);
    };
    return el("button", { type: "button", on: { click } }, words);
  }));
  box.showModal();
}

let toastTimer = 0;
function toast(words, bad = false) {
  const t = $("toast");
  t.hidden = false;
  t.classList.toggle("bad", bad);
  t.textContent = words;
  attention.say(words); // a region that was hidden is not always read out
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { t.hidden = true; t.textContent = ""; }, bad ? 8000 : 3000);
}

function fail(e) {
  toast([e.message, e.hint].filter(Boolean).join(": "), true);
}

// --- places

const sessionAt = () => {
  const m = location.pathname.match(/^\/session\/([^/]+)\/?$/);
  try {
    return m && decodeURIComponent(m[1]);
  } catch {
    return null;
  }
};

let shownPath = "/", boardScroll = 0;

function go(path) {
  if (path !== location.pathname) history.pushState(null, "", path);
  arrive();
}

function arrive() {
  const id = sessionAt(), from = shownPath;
  if (from === "/" && id) boardScroll = window.scrollY;
  shownPath = location.pathname;
  $("board").hidden = Boolean(id);
  $("session").hidden = !id;
  if (id) page.open(id);
  else page.close();
  draw();
  if (from === shownPath) return;
  if (id) {
    window.scrollTo(0, 0);
    page.heading.focus({ preventScroll: true });
  } else {
    window.scrollTo(0, boardScroll);
    board.find(from);
  }
}

document.addEventListener("click", (e) => {
  const a = /** @type {Element} */ (e.target).closest("a[href^='/']");
  if (!a || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  e.preventDefault();
  go(a.getAttribute("href"));
});
window.addEventListener("popstate", arrive);
navigator.serviceWorker?.addEventListener("message", (e) => {
  if (typeof e.data.open === "string") go(e.data.open);
  if (e.data.answer) press(e.data.answer).then((answered) => e.ports[0].postMessage(answered));
});

// press answers by the button of a notice, of the request that it showed.
async function press({ offer, digest, drawn, word }) {
  try {
    const { taken, why } = await api.answer(offer, { digest, drawn, word });
    toast(taken ? `Answered: ${word}` : `Not taken: ${why}`, !taken);
    return true;
  } catch (e) {
    fail(e);
    return false;
  }
}

// --- drawing

function draw() {
  cancelAnimationFrame(frame);
  clearTimeout(timer);
  frame = timer = 0;
  const n = waiting(state);
  if (phone.matches && state.rows.size > crowd && !kept("view")) setTool("view", "rows", false);
  drawLink();
  if (state.ready) drawHero();
  else if (state.phase === "denied") text($("tally"), PHASES.denied);
  if (!$("board").hidden) {
    const day = state.view === "day";
    $("day").hidden = !day;
    $("groups").hidden = $("empty").hidden = day;
    if (day) drawDayOf(shownDay());
    else board.draw(state);
    drawDigest($("digest"), state.digest, state.rows, kept("digest"));
    offers.draw(asksOf(state, (o) => o.kind !== "reply"), [...state.rows.values()]);
    drawEnds($("ends"), state.ends);
  } else {
    offers.draw([], []);
  }
  for (const e of state.ends) if (!told.has(e.id)) tellEnd(e);
  $("away").hidden = state.phase !== "live" || !state.away && !state.offers.size;
  $("away").setAttribute("aria-pressed", String(Boolean(state.away)));
  page.draw(state);
  askAll();
  drawTitle(state.phase === "resting" ? 0 : n, page.row?.title); // it would not hold
  $("side").hidden = !state.ready; // else the cards push it away
  drawStats($("stats"), state.stats);
  drawHooks($("hooks"), state.hooks);
  attention.draw(state);
  tick();
}

const shownDay = () => (state.date ? parse(state.date) : new Date(Date.now() + state.skew));

function drawDayOf(date) {
  drawDate($("day-name"), date);
  $("day-after").disabled = !state.date;
  drawDay($("lanes"), state.day, state.filter);
}

function goToDay(by) {
  const to = shownDay();
  to.setDate(to.getDate() + by);
  const date = dateOf(to);
  dispatch({ type: "date", date: date >= dateOf(new Date(Date.now() + state.skew)) ? "" : date });
  readDay().catch(fail);
}

async function readDay() {
  const { date, view } = state;
  if (view === "day") dispatch({ type: "day", date, data: await api.timeline(date) });
}

function dismiss() {
  if ($("digest").hidden || !state.digest) return false;
  keep("digest", state.digest.since);
  draw();
  $("main").focus({ preventScroll: true });
}

const told = new Set(); // ends of offers
const endShown = 20_000; // ms

function tellEnd(e) {
  told.add(e.id);
  attention.say(`${e.title}: ${endWords(e)}`);
  setTimeout(() => dispatch({ type: "forget", offer: e.id }), endShown);
}

function drawHero() {
  const of = tallies(matching(state)), n = of.needs_you ?? 0;
  text($("tally"), state.filter ? `${n || "None"} of these ${n > 1 ? "need" : "needs"} you`
    : n ? `${count(n, "session")} ${n === 1 ? "needs" : "need"} you` : "Nobody needs you");
  const rest = [state.filter && `${shownOf(state)} shown`, ...Object.keys(NEEDS).slice(1).map((g) => of[g] && `${of[g]} ${NEEDS[g].toLowerCase()}`)];
  const lost = broken() && new Date(state.since + state.skew).toISOString();
  redraw($("sum"), [lost, of.longest, rest], () => [lost && age(lost, { before: "as it was ", after: " ago" }), of.longest && age(of.longest, { before: "the longest for ", fine: true }), ...rest]
    .filter(Boolean).flatMap((x, i) => [i ? document.createTextNode(" · ") : null, x instanceof Node ? x : document.createTextNode(x)]));
}

const broken = () => state.phase === "lost" || state.phase === "denied";

function drawLink() {
  document.documentElement.dataset.phase = state.phase;
  text($("link-word"), PHASES[state.phase]);
  text($("link-why"), broken() && state.detail ? `– ${state.detail}` : "");
  $("again").hidden = !broken();
  $("login").hidden = state.phase !== "denied";
  $("leave").hidden = state.phase !== "live";
}

function tick() {
  const now = Date.now() + state.skew;
  for (const t of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("time[data-since]"))) {
    const d = t.dataset, ms = now - Number(d.since);
    text(t, d.before + (d.fine ? fine(ms) : span(ms)) + d.after);
  }
}

// --- tools

const themes = ["system", "light", "dark"];

function setTheme(name) {
  keep("theme", name);
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  say($("theme"), `Theme: ${{ system: "as the system" }[name] ?? name}`);
}

function say(button, words) {
  button.title = words;
  text(button.querySelector("span"), words);
}

const theme = () => document.documentElement.dataset.theme ?? "system";
const nextTheme = () => {
  setTheme(themes[(themes.indexOf(theme()) + 1) % themes.length]);
  toast($("theme").title);
};

function setFilter(words) {
  $("filter").value = words;
  dispatch({ type: "filter", filter: words });
}

let filterTimer = 0;

const shownOf = (s) => `${matching(s).length} of ${count(s.rows.size, "session")}`;

// setTool sets what a choice of the tools is, and keeps it if somebody chose it.
function setTool(name, value, lasting = true) {
  if (lasting) keep(name, value);
  $(name).value = value;
  dispatch({ type: name, [name]: value });
  if (value === "day") readDay().catch(fail);
}

const nextOf = (name, among) => () => {
  const all = Object.keys(among), at = all[(all.indexOf(state[name]) + 1) % all.length];
  setTool(name, at);
  toast(`${{ group: "Grouped", order: "Sorted" }[name] ?? "View"}: ${among[at].toLowerCase()}`);
};

function tools() {
  for (const [name, among] of Object.entries({ group: GROUPS, order: ORDERS, view: VIEWS })) {
    $(name).append(...Object.entries(among).map(([value, words]) => el("option", { value }, words)));
    $(name).value = state[name];
    $(name).addEventListener("change", () => setTool(name, $(name).value));
  }
  $("filter").addEventListener("input", () => {
    dispatch({ type: "filter", filter: $("filter").value });
    clearTimeout(filterTimer);
    filterTimer = setTimeout(() => attention.say(`${shownOf(state)} shown`), 600); // once typing rests
  });
  $("away").addEventListener("click", () => {
    const back = Boolean(state.away);
    api.away(back).then(() => toast(back ? "You are back" : "You are away: what subagents ask waits for you"), fail);
  });
  $("dismiss").addEventListener("click", dismiss);
  $("day-before").addEventListener("click", () => goToDay(-1));
  $("day-after").addEventListener("click", () => goToDay(1));
  $("theme").addEventListener("click", nextTheme);
  $("help-open").addEventListener("click", () => $("help").showModal());
  for (const b of document.querySelectorAll("dialog [data-close]")) b.addEventListener("click", () => b.closest("dialog").close());
  $("keys").checked = kept("keys", "on") === "on";
  $("keys").addEventListener("change", () => keep("keys", $("keys").checked ? "on" : "off"));
  $("login").addEventListener("submit", (e) => {
    e.preventDefault();
    signIn(() => enter($("secret").value));
  });
  $("leave").addEventListener("click", async () => {
    await attention.forget();
    await leave();
    location.replace("/"); // nothing that was shown stays
  });
  setTheme(theme());
  notices.begin();
}

async function signIn(how) {
  const why = await how();
  text($("login-why"), why);
  $("secret").value = "";
  if (!why) line.again();
}

function keyboard() {
  const row = () => (sessionAt() ? page.row : board.focused());
  const doTo = (name) => () => row() ? void act(row(), name) : false;
  // push clicks what is in the request of a session's page, as watch does in a peek.
  const push = (what) => () => {
    const button = sessionAt() && page.asks.querySelector(`.offer:not(.folded) ${what}`);
    return button ? void page.offers.press(button) : false;
  };
  const toReply = () => {
    const field = sessionAt() && $("session").querySelector("[data-kind=reply]:not([hidden], .folded) textarea");
    return field ? void field.focus() : false;
  };
  const onName = (f) => (e) => (e.target.matches("a.name, h1, body") && row() ? f(row()) : false);
  const onBoard = (f) => () => {
    if (sessionAt()) go("/");
    return f();
  };
  const onCards = (f) => onBoard(() => (state.view === "day" ? false : f()));
  listen(() => $("keys").checked, {
    j: onCards(() => board.step(1)),
    k: onCards(() => board.step(-1)),
    n: onCards(() => { if (!board.next()) toast("Nobody needs you"); }),
    Enter: onName((r) => (r.terminal ? void act(r, "jump") : false)),
    " ": onName((r) => (sessionAt() ? false : go(pathOf(r)))),
    y: push(".yes"), d: push(".no"), a: push(".always"), r: toReply,
    S: () => (sessionAt() && page.row && !page.stop.hidden ? void act(page.row, "stop") : false),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [n, push(`.option:nth-of-type(${n}) input`)])),
    m: doTo("seen"), b: doTo("backburner"), l: doTo("label"), z: () => void api.undo().then(() => toast("Undone"), fail), t: nextTheme, g: nextOf("group", GROUPS), s: nextOf("order", ORDERS), v: nextOf("view", VIEWS),
    "/": onBoard(() => { $("filter").focus(); $("filter").select(); }),
    "?": () => $("help").showModal(),
    Escape: () => {
      if (sessionAt()) go("/");
      else if (state.filter) setFilter("");
      else return dismiss();
    },
  });
}

// --- what is asked for now and then, while somebody looks

function every(seconds, f) {
  const again = () => { if (!document.hidden && state.phase === "live") f().catch(() => {}); };
  setInterval(again, 1000 * seconds);
  document.addEventListener("visibilitychange", again);
  return again;
}

const asked = [
  every(10, async () => dispatch({ type: "hooks", data: await api.hooks() })),
  every(60, async () => dispatch({ type: "stats", data: await api.stats() })),
  every(300, async () => dispatch({ type: "digest", data: await api.digest() })),
  every(60, readDay),
  every(300, async () => dispatch({ type: "marks", marks: marksOf(await api.config()) })),
  every(60, async () => {
    const list = await api.list();
    dispatch({ type: "clock", server: list.generated_at, now: Date.now() });
    dispatch({ type: "busy", rows: list.sessions });
  }),
];

text($("login-why"), refused);
tools();
keyboard();
arrive();
setInterval(() => { if (!document.hidden) tick(); }, 1000);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  draw();
  if (page.row) met(page.row);
});

hear((event) => {
  const was = state.phase;
  dispatch(event);
  if (state.phase !== "live" || was === "live") return;
  asked.forEach((f) => f());
  page.again();
});
$("again").addEventListener("click", line.again);
changed({ came: () => { if (state.phase === "denied") line.again(); }, went: () => location.reload(), brought: () => signIn(api.arrive) });
const rests = share({
  rest: () => { line.stop(); dispatch({ type: "phase", phase: "resting", now: Date.now() }); },
  wake: line.again,
});
window.addEventListener("online", () => { if (!rests()) line.again(); });
// A page in the browser's back-forward cache must not hold a line.
window.addEventListener("pagehide", line.stop);
window.addEventListener("pageshow", (e) => { if (e.persisted) line.again(); });
