// Signing in: the address that `beckon serve` prints brings its token, or a
// ticket, behind the #, which no server is sent and no log sees. For that the
// server gives a session, which is kept for this origin alone and sent in a
// header: a cookie would go to every port of the host.

import * as prefs from "./prefs.mjs";

const key = "session";
const secrets = /^.*#(token|ticket)=/;

// ask is fetch with the session. Without one that is good, it takes away the one
// there is.
export async function ask(path, options = {}) {
  const session = prefs.get(key, "");
  const headers = { ...options.headers, ...(session && { Authorization: `Bearer ${session}` }) };
  const answer = await fetch(path, { cache: "no-store", ...options, headers });
  if (answer.status === 401 && session && prefs.get(key, "") === session) prefs.put(key, "");
  return answer;
}

// enter signs in with what was pasted: a token, or the whole address. It returns
// why it could not.
export async function enter(pasted) {
  const secret = pasted.trim().replace(secrets, "");
  if (!secret) return "";
  let answer;
  try {
    answer = await fetch("/api/login", { method: "POST", headers: { Authorization: `Bearer ${secret}` } });
  } catch {
    return "the server does not answer";
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) return body.error?.message ?? `the server answered ${answer.status}`;
  prefs.put(key, body.session);
  return "";
}

// arrive signs in with what the address brings, and takes it out of the address
// and of the browser's history.
export async function arrive() {
  const brought = location.hash;
  if (!secrets.test(brought)) return "";
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
  prefs.put("left", Date.now());
}

// changed tells what other tabs do (came: one signed in; went: one signed out),
// and brought when this one's address has something to sign in with.
export function changed({ came, went, brought }) {
  window.addEventListener("storage", (e) => {
    if (e.key === prefs.name(key) && e.newValue) came();
    if (e.key === prefs.name("left")) went();
  });
  window.addEventListener("hashchange", () => { if (secrets.test(location.hash)) brought(); });
}
