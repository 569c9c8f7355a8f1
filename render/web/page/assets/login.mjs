// Signing in: the link that `beckon serve` prints brings a code behind the #, which
// no server is sent and no log sees. For that the server gives a session, once,
// which is kept for this origin alone and sent in a header: a cookie would go to
// every port of the host.

import * as prefs from "./prefs.mjs";

const key = "session";
const link = /^.*#code=/;
const code = /^[ah][0-9a-z]+\.[0-9a-z]+\.[0-9a-z]{26}$/;

const bytes = (words) => new TextEncoder().encode(words);
const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, "0")).join("");

// proved has the server show that it knows a session ("ID.SECRET"), before it is sent
// that: when beckon is gone, another program may listen on its port. From elsewhere
// without TLS browsers do no such sums; there the network sees everything in any case.
async function proved(session) {
  if (!crypto.subtle) return true;
  const [id, secret] = session.split(".");
  const digest = hex(await crypto.subtle.digest("SHA-256", bytes(secret)));
  const mac = await crypto.subtle.importKey("raw", bytes(digest), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const words = hex(crypto.getRandomValues(new Uint8Array(16)));
  const answer = await fetch(`/api/proof?session=${id}&words=${words}`, { cache: "no-store" });
  const { proof } = await answer.json().catch(() => ({}));
  return proof === hex(await crypto.subtle.sign("HMAC", mac, bytes(`proof ${words}`)));
}

let trusted = {}; // the session that this server proved to know, since it was last heard without a break

// doubt has the server prove itself again: the line to it broke.
export function doubt() {
  trusted = {};
}

function trust(session) {
  if (trusted.session !== session) trusted = { session, proof: proved(session) };
  return trusted.proof;
}

// ask is fetch with the session. Without one that is good, it takes away the one
// there is.
export async function ask(path, options = {}) {
  const session = prefs.get(key, "");
  let answer;
  try {
    const known = !session || await trust(session);
    const headers = { ...options.headers, ...(session && { Authorization: `Bearer ${session}` }) };
    answer = known ? await fetch(path, { cache: "no-store", ...options, headers }) : new Response("{}", { status: 401 });
  } catch (e) {
    doubt();
    throw e;
  }
  if (answer.status === 401 && session && prefs.get(key, "") === session) prefs.put(key, "");
  return answer;
}

// enter signs in with what was pasted: a link, or its code. Nothing else is sent. It
// returns why it could not.
export async function enter(pasted) {
  const secret = pasted.trim().replace(link, "");
  if (!secret) return "";
  if (!code.test(secret)) return "that opens nothing here";
  let answer;
  try {
    answer = await fetch("/api/login", { method: "POST", headers: { Authorization: `Bearer ${secret}` } });
  } catch {
    return "the server does not answer";
  }
  const body = await answer.json().catch(() => ({}));
  if (answer.status === 401) return "that link was used, or is too old";
  if (!answer.ok) return body.error?.message ?? `the server answered ${answer.status}`;
  prefs.put(key, body.session);
  return "";
}

// arrive signs in with what the address brings, and takes it out of the address
// and of the browser's history, if that was not done at once.
export async function arrive() {
  const brought = globalThis.brought ?? location.hash;
  delete globalThis.brought;
  if (!link.test(brought)) return "";
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    return await enter(decodeURIComponent(brought));
  } catch {
    return "that address is not whole";
  }
}

// leave signs out, in all tabs.
export async function leave() {
  await ask("/api/logout", { method: "POST" }).catch(() => {});
  prefs.put(key, "");
  prefs.put("digest", "");
  prefs.put("left", Date.now());
}

// changed tells what other tabs do (came: one signed in; went: one signed out),
// and brought when this one's address has something to sign in with.
export function changed({ came, went, brought }) {
  window.addEventListener("storage", (e) => {
    if (e.key === prefs.name(key) && e.newValue) came();
    if (e.key === prefs.name("left")) went();
  });
  window.addEventListener("hashchange", () => { if (link.test(location.hash)) brought(); });
}
