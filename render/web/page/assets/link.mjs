// The line to the server: GET /events, read by hand, because an EventSource
// neither tells of heartbeats nor lets one come back after an error page. It
// reconnects for ever and says where it stands.

import { ask, doubt } from "./login.mjs";

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
      const answer = await ask(url, { headers: { Accept: "text/event-stream" }, signal: abort.signal });
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
