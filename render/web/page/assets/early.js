// Before anything is drawn: the theme that was chosen.
try {
  const theme = localStorage.getItem("beckon.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme it is.
}
