// What is asked of the server beside the line of events.

import { ask as send } from "./login.mjs";
import { recordOf } from "./state.mjs";

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
    answer = await send(path, options);
  } catch {
    throw new Refusal(0, { message: "the server does not answer" });
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(answer.status, body.error, body.answered);
  return body;
}

const session = (id, rest = "") => `/api/sessions/${encodeURIComponent(id)}${rest}`;

export const list = () => ask("/api/sessions");
export const one = (id) => ask(session(id));
export const turns = (id, limit) => ask(session(id, `/turns?limit=${limit}`));
export const journal = (id, after) => ask(session(id, `/journal?after=${after}&limit=1000`));
export const journalEnd = (id, limit) => ask(session(id, `/journal?last=true&limit=${limit}`));
export const stats = () => ask("/api/stats?days=7");
export const timeline = (date) => ask(`/api/timeline${date && `?date=${date}`}`);
export const config = () => ask("/api/config");
export const digest = () => ask("/api/digest");
export const offer = (id) => ask(`/api/offers/${encodeURIComponent(id)}`);
export const push = () => ask("/api/push");
export const subscribe = (body) => ask("/api/push", posted(body));
export const hooks = () => ask("/hook/status");

export function act(row, action, body) {
  return ask(session(recordOf(row), `/${action}`), posted(body));
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
