import type { Budget } from "./budget.ts";
import { evenText } from "./build.ts";
import { type Token, tokensOf, UNIT_LETTERS, withoutEnd } from "./tokens.ts";

/** Wrappers around wrappers that are taken off an answer; nobody writes more. */
const MAX_WRAPPERS = 8;

/** Without what stands around an answer: dollar signs, `\[…\]`, braces, spaces. No patterns here: they could take the square of its length. */
export function plain(text: string): string {
  let inner = text
    .replace(/\s+/g, " ")
    .replace(/(?<!\\)\\ /g, " ")
    .trim();
  for (let round = 0; round < MAX_WRAPPERS; round++) {
    const [open, close] = [inner.slice(0, 2), inner.endsWith(".") ? inner.slice(-3, -1) : inner.slice(-2)];
    if (inner.length > 1 && inner.startsWith("$") && inner.endsWith("$")) inner = inner.slice(1, -1).trim();
    else if ((open === "\\[" && close === "\\]") || (open === "\\(" && close === "\\)")) inner = inner.slice(2, inner.lastIndexOf("\\")).trim();
    else if (isBraced(inner)) inner = inner.slice(1, -1).trim();
    else break;
  }
  return inner;
}

/** Whether the first brace closes at the end. */
function isBraced(text: string): boolean {
  if (!text.startsWith("{")) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i === text.length - 1;
  }
  return false;
}

/**
 * What cannot be read as mathematics, as it is compared: by its tokens, which have lost what only sets it. Words lose case and punctuation
 * too; what looks like a formula keeps them.
 */
export function asText(text: string, budget: Budget): string {
  const unset = text
    .replace(/\\(?:(?:text|textbf|textit|textrm|mathrm|mbox|left|right|displaystyle|limits|quad|qquad)(?![a-zA-Z])|[,;:! ])/g, " ")
    .replace(/[$~]/g, " ");
  if (!/[\\^_=<>+*/\d]/.test(unset)) return evenText(unset.replace(/[{}]/g, " "));
  const tokens = tokensOf(text, budget);
  return tokens === null ? unset.replace(/\s+/g, " ") : withoutSingleBraces(withoutEnd(tokens)).map(spelling).join(" ");
}

const spelling = ({ kind, name }: Token): string => (kind === "text" ? evenText(name) : kind === "command" ? `\\${name}` : name);

/** `{x}` as `x`. */
function withoutSingleBraces(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const [token, inner, end] = tokens.slice(at, at + 3);
    if (token === undefined) continue;
    if (token.name === "{" && inner !== undefined && inner.name !== "{" && end?.name === "}") {
      kept.push(inner);
      at += 2;
    } else kept.push(token);
  }
  return kept;
}

/** Letters outside of commands, each once. */
const lettersIn = (text: string): Set<string> => new Set(text.replace(/\\[a-zA-Z]+/g, " ").match(/[a-zA-Z]/g) ?? []);
/** The one letter of a choice, `\text{(A)}`; null for anything else. */
const choiceIn = (text: string): string | null => /^(?:\\(?:text[a-z]*|mbox|math(?:rm|bf|it|sf))\{)?\(?([a-zA-Z])\)?\}?$/.exec(text)?.[1] ?? null;

/**
 * Two answers that name a letter in different case (`+ C` and `+ c`, `X^2` and `x^2`), in small letters there; null for others. A letter that
 * either of them has in both cases stays, as do E and I, which are no other writing of the constants e and i.
 */
export function foldedTogether(gold: string, given: string): readonly [string, string] | null {
  const [choice, chosen] = [choiceIn(gold), choiceIn(given)];
  if (choice !== null && chosen !== null) return [choice.toLowerCase(), chosen.toLowerCase()];
  const [left, right] = [lettersIn(gold), lettersIn(given)];
  const turned = [...left, ...right].filter((letter) => {
    const [high, low] = [letter.toUpperCase(), letter.toLowerCase()];
    return (
      letter === high &&
      high !== "E" &&
      high !== "I" &&
      left.has(high) === right.has(low) &&
      left.has(low) === right.has(high) &&
      left.has(high) !== left.has(low)
    );
  });
  if (turned.length === 0) return null;
  const folds = (text: string): string =>
    text.replace(/\\[a-zA-Z]+|[A-Z]/g, (part) => (part.length === 1 && turned.includes(part) ? part.toLowerCase() : part));
  return [folds(gold), folds(given)];
}

/** `17` of `17 s`, where nothing else is a letter: behind a number and a space one letter is a unit. */
export function withoutUnitLetter(text: string): string {
  const number = text.slice(0, -2);
  const isUnit = UNIT_LETTERS.has(text.slice(-1)) && text.at(-2) === " " && /[\d}]$/.test(number);
  return isUnit && lettersIn(number).size === 0 ? number : text;
}
