import type { Budget } from "./budget.ts";
import { asLatex } from "./unicode.ts";

/** `name`: a command without its backslash, one letter, one sign, the digits of a number; of `text`, the words in `\text{…}` or a bare word. */
export interface Token {
  readonly kind: "number" | "command" | "letter" | "sign" | "text";
  readonly name: string;
}

/** Commands whose argument is written upright: a single letter in one is that letter, anything longer is words. */
const TEXT = new Set("text textbf textit textrm textnormal texttt textsf mbox hbox mathrm mathbf mathit mathsf operatorname bold boldsymbol".split(" "));
/** Commands that only say how something looks, or what its letters are: `\angle ABC` is `\angle CBA`. */
const STYLE = new Set(
  "left right big Big bigg Bigg bigl bigr Bigl Bigr displaystyle textstyle limits quad qquad , ! ; : > space thinspace enspace rm bf it $ scriptstyle tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge angle triangle"
    .split(" ")
    .concat(" "),
);
/** Other names of the same. */
const SAME: Readonly<Record<string, string>> = {
  dfrac: "frac",
  tfrac: "frac",
  cfrac: "frac",
  dbinom: "binom",
  tbinom: "binom",
  le: "leq",
  leqslant: "leq",
  ge: "geq",
  geqslant: "geq",
  ne: "neq",
  lt: "<",
  gt: ">",
  lvert: "|",
  rvert: "|",
  vert: "|",
  mid: "|",
  lbrace: "{",
  rbrace: "}",
  lbrack: "[",
  rbrack: "]",
  lparen: "(",
  rparen: ")",
  ast: "times",
  varnothing: "emptyset",
  arctg: "arctan",
  tg: "tan",
  ctg: "cot",
  thickapprox: "approx",
  simeq: "approx",
  land: ",",
  lor: ",",
};
/** Words that are commands without their backslash. */
const COMMAND_WORDS = new Set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp sqrt pi infty and or frac".split(" "));
const PERCENT_WORDS = new Set(["percent", "percentage", "pct"]);
/** Units that stand behind a number without `\text`. Single letters would be variables. */
const UNITS = new Set(
  (
    "mm cm km dm ml kg mg ft yd mi lb lbs oz hr hrs min mins sec secs mph kph cents cent dollars dollar inch inches foot feet yard yards mile miles meter meters metre metres " +
    "degrees degree deg rad radians radian units unit hours hour minutes minute seconds second days day weeks week years year gallons gallon pounds pound ounces ounce sq cubic square th st nd rd"
  ).split(" "),
);
/** The same of one letter, where they stand in `\text`: behind a number no choice is meant. `\text{i}` and `\text{e}` are constants. */
export const UNIT_LETTERS = new Set("m s g h l L N J W V A K C F T".split(" "));
/** What a unit may stand behind, or the sign between two units. */
const isMeasured = (before: Token | undefined): boolean =>
  before !== undefined && (before.kind === "number" || before.kind === "text" || ["}", "%", "cdot"].includes(before.name));

const NUMBER = /\d+(?:\.\d+)?|\.\d+/y;
/** As programs print them: `3.2e5`, `1E-7`. */
const SCIENTIFIC = /\d+(?:\.\d+)?[eE][+-]?\d{1,3}(?![\d.])/y;
/** `10,080`, `10,\!080`, `10\,080`, `10{,}080`. */
const THOUSANDS = /[1-9]\d{0,2}(?:(?:,\\!\s*|\\,|\{,\}|,)\d{3}){1,40}(?!\d)(?!,\s*(?:\\!\s*)?\d)(?:\.\d+)?/y;
const THIN_THOUSANDS = /[1-9]\d{0,2}(?:(?:,\\!\s*|\\,|\{,\})\d{3}){1,40}(?!\d)(?:\.\d+)?/y;
/** `10 080`, but neither `1 100/201` nor `\log_10 100`. */
const SPACED_THOUSANDS = /(?<![_^])[1-9]\d{0,2}(?: \d{3}){1,40}(?![\d/]| \d| ?\/)(?:\.\d+)?/y;
const REPEATING = /(\d*)\.(\d*)\\overline\s*\{\s*(\d+)\s*\}/y;
const COMMAND = /\\(?:[A-Za-z]+\*?|.)/sy;
const WORD = /[A-Za-z]+/y;
const SPACE = /[\s~]+/y;

const PROSE = /^[A-Za-z][A-Za-z'-]*(?:,? [A-Za-z'-]+)*[.!]?$/;

/** A sentence or a word rather than a product of letters. */
export const isProse = (text: string): boolean => PROSE.test(text) && text.split(/[^A-Za-z]+/).some((word) => isWord(word) && !COMMAND_WORDS.has(word));

/** Nobody multiplies that many letters. */
const isWord = (letters: string): boolean => letters.length >= 4;

/** Takes a text apart; null where it is no LaTeX that could be an answer. */
export function tokensOf(text: string, budget: Budget): Token[] | null {
  const tokens: Token[] = [];
  return taken(withoutLook(asLatex(text)), tokens, budget) ? tokens : null;
}

/** Without the full stop, comma or line break at the end of a sentence, and the dots behind the digits that were written out. */
export function withoutEnd(tokens: readonly Token[]): Token[] {
  let end = tokens.length;
  while (end > 0 && [".", ",", ";", "\\", "ldots", "dots", "cdots"].includes(tokens[end - 1]?.name ?? "") && tokens[end - 1]?.kind !== "text") end--;
  return tokens.slice(0, end);
}

/** Without colours, and with degrees as they are mostly written. */
const withoutLook = (text: string): string => text.replace(/\\(?:text)?color\s*\{[^{}]*\}/g, "").replace(/\\degree(?![a-zA-Z])/g, "^\\circ ");

/** Appends the tokens of `source`; false where it is no LaTeX that could be an answer. */
function taken(source: string, tokens: Token[], budget: Budget): boolean {
  /** Open brackets other than LaTeX's own braces: in them a comma separates. */
  let open = 0;
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const push = (kind: Token["kind"], name: string): void => {
    tokens.push({ kind, name });
  };
  while (at < source.length) {
    budget.spend();
    const space = match(SPACE);
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    const repeating = match(REPEATING);
    if (repeating !== null) {
      at += repeating[0].length;
      push("number", `${repeating[1]}.${repeating[2]}(${repeating[3]})`);
      continue;
    }
    const scientific = match(SCIENTIFIC);
    if (scientific !== null) {
      at += scientific[0].length;
      push("number", scientific[0]);
      continue;
    }
    const number = match(open === 0 ? THOUSANDS : THIN_THOUSANDS) ?? match(SPACED_THOUSANDS) ?? match(NUMBER);
    if (number !== null) {
      at += number[0].length;
      push("number", number[0].replace(/[^\d.]/g, ""));
      continue;
    }
    const command = match(COMMAND);
    if (command !== null) {
      at += command[0].length;
      const name = command[0].slice(1);
      if (TEXT.has(name)) {
        const group = groupAt(source, at);
        if (group === null) return false;
        at = group.end;
        if (isSetUpright(group.content)) {
          if (!budget.nested(() => taken(group.content, tokens, budget))) return false;
        } else pushText(group.content, tokens.at(-1), push);
      } else if (STYLE.has(name)) {
        // `\left.` is a bracket that is not there.
        if ((name === "left" || name === "right") && source[at] === ".") at++;
      } else {
        const known = SAME[name] ?? name;
        if (known === "{" || known === "(") open++;
        if (known === "}" || known === ")") open--;
        push(/^[a-zA-Z]/.test(known) || known === "\\" ? "command" : "sign", known === "{" || known === "}" ? `\\${known}` : known);
      }
      continue;
    }
    const word = match(WORD);
    if (word !== null) {
      at += word[0].length;
      pushWord(word[0], tokens.at(-1), push);
      continue;
    }
    const char = source[at] ?? "";
    at++;
    if ("([".includes(char)) open++;
    if (")]".includes(char)) open--;
    if (char !== "$") push("sign", char);
  }
  return true;
}

/** Mathematics in upright letters rather than words: `\text{\frac{1}{2}}`, `\mathbf{x = 5}`, `\text{20\%}`. */
const isSetUpright = (content: string): boolean => /\\(?!text)[a-zA-Z%]|=/.test(content) || (/\d/.test(content) && !/[a-zA-Z]/.test(content));

/** The braces at `at`, or the one character that stands for them. */
function groupAt(source: string, at: number): { readonly content: string; readonly end: number } | null {
  let start = at;
  while (source[start] === " ") start++;
  if (source[start] !== "{") return start < source.length ? { content: source.charAt(start), end: start + 1 } : null;
  let depth = 0;
  for (let i = start; i < source.length; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === "{") depth++;
    else if (source[i] === "}" && --depth === 0) return { content: source.slice(start + 1, i), end: i + 1 };
  }
  return null;
}

function pushText(content: string, before: Token | undefined, push: (kind: Token["kind"], name: string) => void): void {
  const trimmed = content.trim().replace(/\s+/g, " ");
  const lower = trimmed.toLowerCase();
  if (trimmed === "") return;
  if (UNIT_LETTERS.has(trimmed) && isMeasured(before)) push("text", trimmed);
  else if (/^[A-Za-z]$/.test(trimmed)) push("letter", trimmed);
  else if (/^,?\s*(and|or),?$/.test(lower)) push("sign", ",");
  else if (PERCENT_WORDS.has(lower) || trimmed === "%" || trimmed === "\\%") push("sign", "%");
  else if (/^[-+]?[\d.]+$/.test(trimmed)) for (const part of trimmed.match(/[-+]|[\d.]+/g) ?? []) push(/[-+]/.test(part) ? "sign" : "number", part);
  else if (COMMAND_WORDS.has(trimmed)) push("command", trimmed);
  else push("text", trimmed);
}

function pushWord(word: string, before: Token | undefined, push: (kind: Token["kind"], name: string) => void): void {
  const lower = word.toLowerCase();
  if (lower === "and" || lower === "or") return push("sign", ",");
  if (PERCENT_WORDS.has(lower)) return push("sign", "%");
  if (COMMAND_WORDS.has(word)) return push("command", word);
  if (isMeasured(before) && UNITS.has(lower)) return push("text", word);
  if (isWord(word)) return push("text", word);
  for (const letter of word) push("letter", letter);
}
