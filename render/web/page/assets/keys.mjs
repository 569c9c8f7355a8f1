// Single keys, for those who want them. They do nothing while something is
// typed, and can be switched off.

export function listen(on, actions) {
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const typing = e.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
    if (document.querySelector("dialog[open]")) return;
    const action = e.key === "Escape" || (!typing && on()) ? actions[e.key] : null;
    if (action && action(e) !== false) e.preventDefault();
  });
}
