import type { MarkdownIt } from "markdown-it";

/** A formula of a text, in TeX. */
export interface Formula {
  readonly tex: string;
  /** A line of its own. */
  readonly display: boolean;
}

/** Of one text; what stands behind them stays as it is written. */
const MOST_FORMULAS = 400;
const MOST_CHARACTERS = 4_000;
const PAIRS: readonly (readonly [open: string, close: string, display: boolean])[] = [
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
  ["$$", "$$", true],
  ["$", "$", false],
];
const BOXED = "\\boxed{";

/** Whether a text may have formulas: nothing is loaded for others. */
export const hasMathematics = (text: string): boolean => /\$|\\[([]|\\boxed\{/.test(text);

interface Found extends Formula {
  /** Behind its end. */
  readonly end: number;
}

/** The formula that begins at a place of a text; null where none does. */
export function formulaAt(text: string, at: number): Found | null {
  if (text.startsWith(BOXED, at)) return boxedAt(text, at);
  for (const [open, close, display] of PAIRS) {
    if (!text.startsWith(open, at)) continue;
    const start = at + open.length;
    const end = text.slice(start, start + MOST_CHARACTERS + close.length).indexOf(close);
    if (end <= 0) return null;
    const tex = text.slice(start, start + end);
    // `$5 and $6`: prices. A formula in single dollars has no space inside of them, and no digit behind.
    if (open === "$" && (/^\s|\s$|\n\n/.test(tex) || /\d/.test(text[start + end + 1] ?? ""))) return null;
    return { tex, display, end: start + end + close.length };
  }
  return null;
}

function boxedAt(text: string, at: number): Found | null {
  let depth = 0;
  for (let end = at; end < Math.min(text.length, at + MOST_CHARACTERS); end++) {
    const character = text[end];
    if (character === "{") depth += 1;
    else if (character === "}" && --depth === 0) return { tex: text.slice(at, end + 1), display: false, end: end + 1 };
    else if (character === "\n") return null;
  }
  return null;
}

/** Formulas become `<code data-math="n">` with their source; those of a text are collected in `env.formulas`. */
export function mathematics(markdown: MarkdownIt): void {
  markdown.inline.ruler.before("escape", "mathematics", (state, silent) => {
    const first = state.src[state.pos];
    if (first !== "$" && first !== "\\") return false;
    const formulas = (state.env as { formulas: Formula[] }).formulas;
    const found = formulas.length < MOST_FORMULAS ? formulaAt(state.src, state.pos) : null;
    if (found === null) return false;
    if (!silent) {
      const token = state.push("mathematics", "code", 0);
      token.content = found.tex;
      token.meta = { number: formulas.push({ tex: found.tex, display: found.display }) - 1 };
    }
    state.pos = found.end;
    return true;
  });
  markdown.renderer.rules.mathematics = (tokens, index) => {
    const token = tokens[index];
    return `<code data-math="${Number(token?.meta?.number)}">${markdown.utils.escapeHtml(token?.content ?? "")}</code>`;
  };
}
