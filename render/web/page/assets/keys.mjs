// Single keys, for those who want them. They do nothing while something is
// typed, and can be switched off. One that is held down goes on only through
// the cards.

const repeats = new Set(["j", "k"]);

export function listen(on, actions) {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.repeat && !repeats.has(e.key)) return;
    const typing = /** @type {Element} */ (e.target).closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
    if (document.querySelector("dialog[open]")) return;
    const action = e.key === "Escape" || (!typing && on()) ? actions[e.key] : null;
    if (action && action(e) !== false) e.preventDefault();
  });
}
