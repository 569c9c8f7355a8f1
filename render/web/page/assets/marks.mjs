// What the user has chosen for projects in the configuration (render.Marks): which
// come first, and what colours their names have. Pure.

const none = { pin: () => 0, color: () => null };

// marksOf reads the values of GET /api/config.
export function marksOf(config) {
  const list = (key) => (config[key]?.value ?? "").split(",").filter(Boolean);
  const pins = list("pins").map(pattern), colors = list("project_colors").map((c) => [pattern(c.slice(0, c.lastIndexOf("="))), c.slice(c.lastIndexOf("=") + 1)]);
  if (!pins.length && !colors.length) return none;
  const of = (row) => (is) => is.test(row.project ?? "") || is.test(row.git?.repo ?? "");
  return {
    pin: (row) => { const at = pins.findIndex(of(row)); return at < 0 ? pins.length : at; },
    color: (row) => colors.find(([is]) => of(row)(is))?.[1] ?? null,
  };
}

// pattern is a name in which * stands for any letters, ? for one, and [a-z] for one of those.
const pattern = (words) => new RegExp(`^${words.replace(/[.+^$(){}|\\]/g, "\\$&").replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}$`);

export { none as noMarks };
