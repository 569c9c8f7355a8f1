// All that passes between the page and its server: signing in, the line of events and
// requests beside it; and what the browser keeps: the session, and what the user chose.

const prefName = (name) => `beckon.${name}`;

export function kept(name, fallback) {
  try {
    return localStorage.getItem(prefName(name)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(prefName(name), value);
  } catch {
    // It lasts as long as the page, then.
  }
}

// Signing in: the link that `beckon serve` prints brings a code behind the #, which
// no server is sent and no log sees. For that the server gives a session, once,
// which is kept for this origin alone and sent in a header: a cookie would go to
// every port of the host.

const sessionPref = "session";
const link = /^.*#code=/;
const codeForm = /^[ah][0-9a-z]+\.[0-9a-z]+\.[0-9a-z]{26}$/;

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
function doubt() {
  trusted = {};
}

function trust(session) {
  if (trusted.session !== session) trusted = { session, proof: proved(session) };
  return trusted.proof;
}

// signed is fetch with the session. Without one that is good, it takes away the one
// there is.
async function signed(path, options = {}) {
  const session = kept(sessionPref, "");
  let answer;
  try {
    const known = !session || await trust(session);
    const headers = { ...options.headers, ...(session && { Authorization: `Bearer ${session}` }) };
    answer = known ? await fetch(path, { cache: "no-store", ...options, headers }) : new Response("{}", { status: 401 });
  } catch (e) {
    doubt();
    throw e;
  }
  if (answer.status === 401 && session && kept(sessionPref, "") === session) keep(sessionPref, "");
  return answer;
}

// enter signs in with what was pasted: a link, or its code. Nothing else is sent. It
// returns why it could not.
export async function enter(pasted) {
  const secret = pasted.trim().replace(link, "");
  if (!secret) return "";
  if (!codeForm.test(secret)) return "that opens nothing here";
  let answer;
  try {
    answer = await fetch("/api/login", { method: "POST", headers: { Authorization: `Bearer ${secret}` } });
  } catch {
    return "the server does not answer";
  }
  const body = await answer.json().catch(() => ({}));
  if (answer.status === 401) return "that link was used, or is too old";
  if (!answer.ok) return body.error?.message ?? `the server answered ${answer.status}`;
  keep(sessionPref, body.session);
  trusted = { session: body.session, proof: true }; // from this server
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
  await signed("/api/logout", { method: "POST" }).catch(() => {});
  keep(sessionPref, "");
  keep("digest", "");
  keep("left", Date.now());
}

// changed tells what other tabs do (came: one signed in; went: one signed out),
// and brought when this one's address has something to sign in with.
export function changed({ came, went, brought }) {
  window.addEventListener("storage", (e) => {
    if (e.key === prefName(sessionPref) && e.newValue) came();
    if (e.key === prefName("left")) went();
  });
  window.addEventListener("hashchange", () => { if (link.test(location.hash)) brought(); });
}

// The line to the server: GET /events, read by hand, because an EventSource
// neither tells of heartbeats nor lets one come back after an error page. It
// reconnects for ever and says where it stands.

const quiet = 40_000; // ms without a byte, heartbeats included: the line is dead
const firstWait = 500; // ms
const longestWait = 10_000;

// parser reads a stream of server-sent events. It returns a function that takes
// the next piece of text; tell gets each {type, data}.
export function parser(tell) {
  let rest = "", type = "", data = [];
  const line = (l) => {
    if (l === "") {
      if (data.length) tell({ type: type || "message", data: data.join("\n") });
      type = ""; data = [];
      return;
    }
    const cut = l.indexOf(":");
    const field = cut < 0 ? l : l.slice(0, cut);
    const value = cut < 0 ? "" : l.slice(cut + 1).replace(/^ /, "");
    if (field === "event") type = value;
    else if (field === "data") data.push(value);
  };
  return (piece) => {
    rest += piece;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    lines.forEach(line);
  };
}

// follow opens the line. dispatch gets {type, data, now} for events and
// {type: "phase", ...} for the line itself. It returns {again, stop}: again
// reconnects at once.
export function follow(dispatch, { url = "/events" } = {}) {
  let wait = firstWait, timer = 0, stopped = false, line = null;

  const phase = (name, detail) => dispatch({ type: "phase", phase: name, detail, now: Date.now() });

  const take = (e) => {
    let data;
    try {
      data = JSON.parse(e.data);
    } catch {
      return; // not ours
    }
    dispatch({ type: e.type, data, now: Date.now() });
  };

  async function open() {
    const abort = line = new AbortController();
    let alarm = 0;
    const watch = () => {
      clearTimeout(alarm);
      alarm = setTimeout(() => abort.abort(), quiet);
    };
    try {
      watch();
      const answer = await signed(url, { headers: { Accept: "text/event-stream" }, signal: abort.signal });
      if (line !== abort) return; // another one was opened meanwhile
      if (!answer.ok) return refused(answer);
      const push = parser(take);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      phase("live");
      for (;;) {
        const { value, done } = await reader.read();
        if (line !== abort) return;
        if (done) return later("the server closed the line");
        wait = firstWait;
        watch();
        push(value);
      }
    } catch {
      if (line === abort) later("the server does not answer");
    } finally {
      clearTimeout(alarm);
    }
  }

  function refused(answer) {
    if (answer.status === 401 || answer.status === 403) {
      phase("denied");
      wait = longestWait;
      return schedule();
    }
    later(answer.status === 503 ? "the server has too many clients" : `the server answered ${answer.status}`);
  }

  function later(why) {
    doubt();
    phase("lost", why);
    schedule();
  }

  function schedule() {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(open, wait * (0.7 + 0.6 * Math.random()));
    wait = Math.min(2 * wait, longestWait);
  }

  const again = () => {
    stopped = false;
    clearTimeout(timer);
    hang();
    wait = firstWait;
    open();
  };
  // hang lets go of the line without calling it lost.
  const hang = () => {
    const l = line;
    line = null;
    l?.abort();
    doubt();
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
    hang();
  };
  open();
  return { again, stop };
}

// A browser opens six connections to one server, for all its tabs, and each
// page holds one: with six open, nothing more would load. Pages in tabs that
// nobody looks at let go of theirs, but for the newest, which call for all.

const behind = 2; // hidden pages that keep their line

// share tells the other tabs of this one. rest is called when this one should
// let go, wake when it may come back. It returns a function that tells whether
// it rests.
export function share({ rest, wake }) {
  const me = Math.random().toString(36).slice(2);
  const channel = new BroadcastChannel("beckon.tabs");
  const newer = new Set(); // tabs that were looked at, or opened, since this one was
  let resting = false;

  const settle = () => {
    const should = document.hidden && newer.size >= behind;
    if (should === resting) return;
    resting = should;
    if (should) rest();
    else wake();
  };
  const come = () => {
    channel.postMessage({ come: me });
    settle();
  };
  channel.onmessage = ({ data }) => {
    if (data.come) newer.add(data.come);
    else newer.delete(data.go);
    settle();
  };
  document.addEventListener("visibilitychange", () => {
    newer.clear(); // until now this one was looked at
    if (!document.hidden) come();
  });
  window.addEventListener("pagehide", () => channel.postMessage({ go: me }));
  window.addEventListener("pageshow", (e) => { if (e.persisted) newer.clear(), come(); });
  come();
  return () => resting;
}

// What is asked of the server beside the line of events.

// Refusal is an answer that is no success, in the words of the server.
export class Refusal extends Error {
  constructor(status, { code = "", message = "", hint = "" } = {}, answered = null) {
    super(message || `the server answered ${status}`);
    Object.assign(this, { status, code, hint, answered });
  }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await signed(path, options);
  } catch {
    throw new Refusal(0, { message: "the server does not answer" });
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, body.error, body.answered);
  return body;
}

// recordOf names the session of a row or turn to the server. Of two processes
// that run one session at once, one has a part.
export const recordOf = (row) => (row.part ? `${row.session_id}~${row.part}` : row.session_id);

const sessionAt = (id, rest = "") => `/api/sessions/${encodeURIComponent(id)}${rest}`;

export const list = () => ask("/api/sessions");
export const one = (id) => ask(sessionAt(id));
export const turns = (id, limit) => ask(sessionAt(id, `/turns?limit=${limit}`));
export const journal = (id, after) => ask(sessionAt(id, `/journal?after=${after}&limit=1000`));
export const journalEnd = (id, limit) => ask(sessionAt(id, `/journal?last=true&limit=${limit}`));
export const stats = () => ask("/api/stats?days=7");
export const timeline = (date) => ask(`/api/timeline${date && `?date=${date}`}`);
export const config = () => ask("/api/config");
export const digest = () => ask("/api/digest");
export const offer = (id) => ask(`/api/offers/${encodeURIComponent(id)}`);
export const push = () => ask("/api/push");
export const subscribe = (body) => ask("/api/push", posted(body));
export const hooks = () => ask("/hook/status");

export function act(row, action, body) {
  return ask(sessionAt(recordOf(row), `/${action}`), posted(body));
}

// answer answers an offer; away says that nobody sits at the sessions, or, with
// off, that somebody does.
export const answer = (id, body) => ask(`/api/offers/${encodeURIComponent(id)}`, posted(body));
export const away = (off) => ask("/api/away", posted({ off }));

export const undo = () => ask("/api/undo", posted());

const posted = (body = null) => ({ method: "POST", ...(body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }) });

// queue runs tasks, a few at a time, and each key once until it is done.
export function queue(width) {
  const waiting = new Map(), running = new Set();
  const next = () => {
    for (const [key, task] of waiting) {
      if (running.size >= width) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      running.add(key);
      task().catch(() => {}).finally(() => {
        running.delete(key);
        next();
      });
    }
  };
  return (key, task) => {
    if (running.has(key)) return;
    waiting.set(key, task);
    next();
  };
}
