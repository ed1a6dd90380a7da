import temml from "temml";
import type { Formula } from "./mathematics-rule.ts";

/** Macros that a formula may expand, against bombs. */
const MOST_EXPANSIONS = 200;
/** In em and in points: how large a formula may make itself. */
const MOST_SIZE: [number, number] = [20, 200];
/** Characters of a formula's MathML. */
const MOST_CHARACTERS = 200_000;
/** The policy of the page refuses every `style`, with a report; nothing of what is shown hangs on it. */
const STYLE = /\sstyle="[^"]*"/g;

/** A formula as MathML that has yet to be cleaned (clean.ts); null where it is none, or too large. */
export function mathematicsHtml({ tex, display }: Formula): string | null {
  try {
    const html = temml.renderToString(tex, { displayMode: display, trust: false, throwOnError: true, maxExpand: MOST_EXPANSIONS, maxSize: MOST_SIZE });
    return html.length > MOST_CHARACTERS ? null : html.replace(STYLE, "");
  } catch {
    // What a model wrote may be no TeX: its source is shown.
    return null;
  }
}
