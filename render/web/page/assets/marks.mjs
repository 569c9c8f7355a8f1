// What the user has chosen in the configuration for the order of rows (render.Queue) and for
// projects (render.Marks): which come first, and what colours their names have. Pure.

/** @type {{ pin: (row: any) => number, color: (row: any) => string | null, mode: string, asksFirst: boolean }} */
const none = { pin: () => 0, color: () => null, mode: "fair", asksFirst: true };

// marksOf reads the values of GET /api/config.
export function marksOf(config) {
  const list = (key) => (config[key]?.value ?? "").split(",").filter(Boolean);
  const pins = list("pins").map(pattern), colors = list("project_colors").map((c) => [pattern(c.slice(0, c.lastIndexOf("="))), c.slice(c.lastIndexOf("=") + 1)]);
  const mode = config.queue?.value || none.mode, asksFirst = config.permission_first?.value !== "false";
  if (!pins.length && !colors.length && mode === none.mode && asksFirst) return none;
  const of = (row) => (is) => is.test(row.project ?? "") || is.test(row.git?.repo ?? "");
  return {
    mode, asksFirst,
    pin: (row) => { const at = pins.findIndex(of(row)); return at < 0 ? pins.length : at; },
    color: (row) => colors.find(([is]) => of(row)(is))?.[1] ?? null,
  };
}

// pattern is a name in which * stands for any letters, ? for one, and [a-z] for one of those.
const pattern = (words) => new RegExp(`^${words.replace(/[.+^$(){}|\\]/g, "\\$&").replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}$`);

export { none as noMarks };
