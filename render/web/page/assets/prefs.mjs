// What the user chose, kept by the browser if it keeps anything.

export function get(name, fallback) {
  try {
    return localStorage.getItem(`beckon.${name}`) ?? fallback;
  } catch {
    return fallback;
  }
}

export function put(name, value) {
  try {
    localStorage.setItem(`beckon.${name}`, value);
  } catch {
    // It lasts as long as the page, then.
  }
}
