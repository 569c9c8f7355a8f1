// Before anything is drawn: the theme that was chosen.
try {
  const theme = localStorage.getItem("beckon.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme it is.
}
// And before anything else is loaded, what signs in leaves the address (line.mjs).
if (/^#code=/.test(location.hash)) {
  globalThis.brought = location.hash;
  history.replaceState(history.state, "", location.pathname + location.search);
}
