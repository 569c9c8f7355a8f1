// What the user has chosen in the configuration for the order of rows (render.Queue). Pure.

/** @type {{ mode: string, asksFirst: boolean }} */
const none = { mode: "fair", asksFirst: true };

// marksOf reads the values of GET /api/config.
export function marksOf(config) {
  const mode = config.queue?.value || none.mode, asksFirst = config.permission_first?.value !== "false";
  return mode === none.mode && asksFirst ? none : { mode, asksFirst };
}

export { none as noMarks };
