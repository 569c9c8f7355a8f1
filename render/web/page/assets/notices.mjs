// What this device is told of, and how: by the open page, or by Web Push, for which the browser
// subscribes at its own service and the server is told where that is.

import * as api from "./api.mjs";
import { registered } from "./attention.mjs";
import { byId as $, text } from "./dom.mjs";
import * as prefs from "./prefs.mjs";

const on = (pref, usual) => prefs.get(pref, usual) === "on";

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
  const was = prefs.get(pref, "off"), want = box.checked ? "on" : "off";
  try {
    if (pref !== "done" && want === "on" && await Notification.requestPermission() !== "granted") throw new Error("The browser does not allow notifications");
    prefs.put(pref, want);
    if (pref === "push" && want === "off") await end();
    else if (pref !== "notify" && on("push")) await subscribe();
  } catch (e) {
    prefs.put(pref, was);
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
    if (known && !known.on) prefs.put("push", "off"); // the push service has ended it
    draw();
    $("notices").showModal();
  });
  draw();
}
