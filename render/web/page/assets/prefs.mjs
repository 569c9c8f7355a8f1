// What the user chose, kept by the browser if it keeps anything.

export const name = (pref) => `beckon.${pref}`;

export function get(pref, fallback) {
  try {
    return localStorage.getItem(name(pref)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function put(pref, value) {
  try {
    localStorage.setItem(name(pref), value);
  } catch {
    // It lasts as long as the page, then.
  }
}
