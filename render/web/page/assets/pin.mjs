// The user's PIN, which signs their answers. It is asked for when the server wants one,
// and kept until the page is left or loaded again.

import { byId as $ } from "./dom.mjs";

let known = {};

// signed does what may take the PIN, with {pin} once that is known, and asks for it as
// often as the server does.
export async function signed(send) {
  for (;;) {
    try {
      return await send(known);
    } catch (e) {
      if (e.code !== "pin" && e.code !== "wrong_pin") throw e;
      known = {};
      const typed = await ask(e.code === "wrong_pin" ? e.message : "");
      if (!typed) throw e;
      known = { pin: typed };
    }
  }
}

function ask(why) {
  const box = $("pin"), field = $("pin-typed");
  field.value = "";
  $("pin-why").textContent = why;
  box.returnValue = "";
  box.showModal();
  return new Promise((done) => {
    box.addEventListener("close", () => {
      done(box.returnValue === "give" ? field.value : "");
      field.value = "";
    }, { once: true });
  });
}
