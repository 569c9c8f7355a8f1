// The first module that runs: it signs in and opens the line to the server while the others are
// still on their way.

import { arrive, follow } from "./line.mjs";

let early = [];
let tell = (event) => void early.push(event);

// refused says why the address did not sign in, "" if it did or brought nothing.
export const refused = await arrive();
export const line = follow((event) => tell(event));

// hear passes on the events of the line, from its first one on.
export function hear(dispatch) {
  tell = dispatch;
  early.forEach(dispatch);
  early = [];
}
