// How the page calls when nobody looks at it: title, icon, the browser's notifications and
// Web Push, and a live region for those who listen.

import * as api from "./line.mjs";
import { keep, kept } from "./line.mjs";
import { byId as $, pathOf, text } from "./cards.mjs";
import { clean, keyOf, oneLine, stateWords } from "./state.mjs";

export function drawTitle(n, name = "") {
  const title = `${n ? `(${n}) ` : ""}${name ? `${oneLine(name).slice(0, 60)} – ` : ""}beckon`;
  if (document.title !== title) document.title = title;
  const icon = document.getElementById("icon");
  const href = n ? `data:image/svg+xml,${encodeURIComponent(iconOf(n))}` : "/assets/icon.svg";
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}

const iconOf = (n) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#b4470b"/>` +
  `<text x="16" y="${n > 9 ? 22.5 : 24}" font-family="system-ui,sans-serif" font-weight="700" font-size="${n > 9 ? 18 : 23}" text-anchor="middle" fill="#fff">${n > 99 ? "99" : n}</text></svg>`;

// Attention tells of each edge once.
export class Attention {
  told = 0;
  shown = new Map();

  constructor(live, { chosen, open }) {
    this.live = live;
    this.chosen = chosen;
    this.open = open;
  }

  draw(s) {
    if (s.phase === "denied" && this.phase !== "denied") this.forget();
    this.phase = s.phase;
    for (const n of s.notices) if (n.n > this.told) this.tell(n);
    this.told = s.noticed;
    if (s.ended !== this.ended) {
      this.ended = s.ended;
      if (s.ended) this.say(`${s.ended.row.name || s.ended.row.project || "A session"} ${s.ended.reason === "lost" ? "was lost" : "ended"}`);
    }
    for (const [key, note] of this.shown) {
      if (s.rows.get(key)?.needs_you) continue;
      note.close(); // it was answered elsewhere
      this.shown.delete(key);
    }
  }

  tell(n) {
    const who = n.row.name || n.row.project || n.row.agent;
    const words = n.kind === "needs_you" ? `${who} needs you: ${stateWords(n.row)}` : `${who} is done`;
    this.say(`${words}. ${oneLine(n.text)}`);
    if (this.allowed(n) && !document.hasFocus()) this.raise(n, words);
  }

  allowed(n) {
    return this.chosen(n.kind) && globalThis.Notification?.permission === "granted";
  }

  raise(n, words) {
    const options = { body: oneLine(n.text).slice(0, 200), tag: n.tag, icon: "/assets/icon.svg" };
    /** @type {any} */
    let note;
    try {
      note = new Notification(clean(words), options);
    } catch {
      note = byWorker(clean(words), { ...options, data: pathOf(n.row) }); // a phone
    }
    note.onclick = () => {
      window.focus();
      this.open(n.row);
      note.close();
    };
    if (n.kind === "needs_you") this.shown.set(keyOf(n.row), note);
  }

  // forget takes away all that was shown: who signs out leaves nothing behind.
  forget() {
    keep("push", "off");
    for (const note of this.shown.values()) note.close();
    this.shown.clear();
    return inTurn(async () => {
      for (const worker of await navigator.serviceWorker?.getRegistrations() ?? []) {
        for (const note of await worker.getNotifications()) note.close();
        await worker.unregister();
      }
    });
  }

  say(words) {
    const line = document.createElement("p");
    line.textContent = clean(words);
    this.live.append(line);
    while (this.live.childElementCount > 5) this.live.firstElementChild.remove();
  }
}

const script = "/assets/worker.js";

// address is that of the only script that is named by a text. The content security
// policy has room for one policy, which gives no other.
const address = globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: () => script }).createScriptURL("") ?? script;

// inTurn does one thing with the worker's notifications at a time: Chromium forgets
// one that is still being put up when it is asked which there are, and one that is put
// up while somebody signs out would stay. What fails, the page says in its own way.
let last = Promise.resolve();
const inTurn = (work) => (last = last.then(work).catch(() => null));

// byWorker shows a notification by a service worker, which is there from the first
// one until somebody signs out.
function byWorker(title, options) {
  const shown = inTurn(() => show(title, options));
  return { close: () => inTurn(async () => { for (const note of await (await shown)?.getNotifications({ tag: options.tag }) ?? []) note.close(); }) };
}

async function show(title, options) {
  const found = await registered();
  await found.showNotification(title, options);
  return found;
}

// registered is the service worker, once it is active.
export async function registered() {
  const found = await navigator.serviceWorker.register(address);
  const coming = found.installing ?? found.waiting;
  if (!found.active) await new Promise((active) => coming.addEventListener("statechange", () => coming.state === "activated" && active()));
  return found;
}

// What this device is told of, and how: by the open page, or by Web Push, for which the browser
// subscribes at its own service and the server is told where that is.

const on = (pref, usual) => kept(pref, usual) === "on";

// told says whether the open page tells of a kind of notice, needs_you or done.
export const told = (kind) => on("notify") && !on("push") && (kind !== "done" || on("done", "on"));

async function subscribe() {
  const { pushManager } = await registered(), { key } = await api.push();
  await (await pushManager.getSubscription())?.unsubscribe(); // it may be for another key
  const { endpoint, keys } = (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })).toJSON();
  await api.subscribe({ endpoint, keys, done: on("done", "on") });
}

async function end() {
  await api.subscribe({});
  for (const worker of await navigator.serviceWorker.getRegistrations()) await (await worker.pushManager.getSubscription())?.unsubscribe();
}

function draw() {
  const granted = globalThis.Notification?.permission;
  $("notify").hidden = !granted || granted === "denied";
  $("notify-push").disabled = !globalThis.PushManager;
  $("notify-open").checked = granted === "granted" && on("notify");
  $("notify-push").checked = granted === "granted" && on("push");
  $("notify-done").checked = on("done", "on");
  const words = $("notify-open").checked || $("notify-push").checked ? "Notifications are on" : "Notifications";
  $("notify").setAttribute("aria-pressed", String(words !== "Notifications"));
  $("notify").title = words;
  text($("notify").querySelector("span"), words);
}

// choose keeps what a box says, and has the browser and the server do it.
async function choose(pref, box) {
  let why = "";
  const was = kept(pref, "off"), want = box.checked ? "on" : "off";
  try {
    if (pref !== "done" && want === "on" && await Notification.requestPermission() !== "granted") throw new Error("The browser does not allow notifications");
    keep(pref, want);
    if (pref === "push" && want === "off") await end();
    else if (pref !== "notify" && on("push")) await subscribe();
  } catch (e) {
    keep(pref, was);
    why = e.message;
  }
  text($("notices-why"), why);
  draw();
}

// begin has the boxes do what they say.
export function begin() {
  for (const [pref, id] of [["notify", "notify-open"], ["push", "notify-push"], ["done", "notify-done"]]) $(id).addEventListener("change", () => choose(pref, $(id)));
  $("notify").addEventListener("click", async () => {
    const known = await api.push().catch(() => null);
    if (known && !known.on) keep("push", "off"); // the push service has ended it
    draw();
    $("notices").showModal();
  });
  draw();
}
