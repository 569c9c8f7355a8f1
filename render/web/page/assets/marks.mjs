// What the user has chosen in the configuration for the order of rows (render.Queue). Pure.

/** @type {{ pin: (row: any) => number, mode: string, asksFirst: boolean }} */
const none = { pin: () => 0, mode: "fair", asksFirst: true };

// marksOf reads the values of GET /api/config.
export function marksOf(config) {
  const list = (key) => (config[key]?.value ?? "").split(",").filter(Boolean);
  const pins = list("pins").map(pattern);
  const mode = config.queue?.value || none.mode, asksFirst = config.permission_first?.value !== "false";
  if (!pins.length && mode === none.mode && asksFirst) return none;
  const of = (row) => (is) => is.test(row.project ?? "") || is.test(row.git?.repo ?? "");
  return {
    mode, asksFirst,
    pin: (row) => { const at = pins.findIndex(of(row)); return at < 0 ? pins.length : at; },
  };
}

// pattern is a name in which * stands for any letters, ? for one, and [a-z] for one of those.
const pattern = (words) => new RegExp(`^${words.replace(/[.+^$(){}|\\]/g, "\\$&").replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}$`);

export { none as noMarks };
