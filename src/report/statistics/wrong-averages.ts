import type { WrongAverage } from "../../metrics/stated-averages.ts";
import { fixed } from "../text/format.ts";
import { singleLine } from "../text/printable.ts";

/** Averages that are named; a folder with one wrong has most of them wrong. */
const SHOWN = 5;

/** Stated beside recomputed, in one line; null where nothing is wrong. `who`: stated it. */
export function wrongAveragesText(wrong: readonly WrongAverage[], who = "metadata.json"): string | null {
  if (wrong.length === 0) return null;
  const parts = wrong.slice(0, SHOWN).map(({ name, stated, recomputed }) => `${singleLine(name)} ${fixed(stated, 3)} (rows: ${fixed(recomputed, 3)})`);
  return `averages that ${who} stated wrongly: ${parts.join(", ")}${wrong.length > SHOWN ? ` and ${wrong.length - SHOWN} more` : ""}`;
}
