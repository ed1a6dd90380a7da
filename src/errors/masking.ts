/**
 * Keys that this process has read, and the one place that takes them out of what it writes: rows, events, failures, logs, answers,
 * the terminal. Who reads a key holds it here (`src/config/endpoints/secrets.ts`); who writes a text for others passes it through.
 */

/** Shorter values are words and numbers like any other: blotting them out would garble what is written. */
const MIN_KEY = 8;
/** In the texts of one provider, or what one environment prints, which are short and need not stay as they are. */
const MIN_SECRET = 4;

/** What people name where a server wants some key and checks none (`not-needed`, `anything`, `lm-studio`): no secret, and likely in an answer. */
const MAX_PLACEHOLDER = 20;
const PLACEHOLDER = /^(?:[A-Z]?[a-z]*(?:[-_.][A-Z]?[a-z]*)*|[A-Z]+(?:[-_.][A-Z]+)*)$/;

const MASK = "[secret]";

/** What contains another secret goes as a whole. */
const longestFirst = (a: string, b: string): number => b.length - a.length;

/** Values held, and all that they look like in a text. */
const held = new Set<string>();
let looks: readonly string[] = [];

/** Has `value` taken out of everything that is masked from now on. */
export function holdKey(value: string): void {
  if (held.has(value) || value.length < MIN_KEY || (value.length < MAX_PLACEHOLDER && PLACEHOLDER.test(value))) return;
  held.add(value);
  looks = [...new Set([...looks, ...looksOf(value)])].sort(longestFirst);
}

/**
 * Values that are hidden within one piece of work and nowhere else: secrets of one team, which others must not find out by what is masked in their
 * rows. Of every value of at least `MIN_KEY` characters, and of the lines of one that has several.
 */
export class HiddenValues {
  readonly #own: readonly string[];
  #with: { readonly held: readonly string[]; readonly all: readonly string[] } | null = null;

  constructor(values: readonly string[]) {
    const parts = values.flatMap((value) => [value.trim(), ...value.split(/\s*[\r\n]+\s*/)]).filter((part) => part.length >= MIN_KEY);
    this.#own = [...new Set(parts)].flatMap(looksOf);
  }

  /** Together with those of the process. */
  beside(process: readonly string[]): readonly string[] {
    if (this.#with?.held !== process) this.#with = { held: process, all: [...new Set([...this.#own, ...process])].sort(longestFirst) };
    return this.#with.all;
  }
}

/** Whatever work is going on: the platform alone can tell, where several pieces of it share a process. */
let hiddenHere: () => HiddenValues | null = () => null;
export function hiddenBy(find: () => HiddenValues | null): void {
  hiddenHere = find;
}

const looksHere = (): readonly string[] => hiddenHere()?.beside(looks) ?? looks;

/** As it is, inside JSON, in a URL, and in Base64: of that, the characters that do not depend on what comes after it. */
function looksOf(value: string): readonly string[] {
  const found = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())];
  const whole = value.slice(0, value.length - (value.length % 3));
  // Keys are ASCII; what is not has no Base64 of one form.
  if (/^[\x21-\x7e]+$/.test(whole)) found.push(btoa(whole), btoa(whole).replaceAll("+", "-").replaceAll("/", "_"));
  return found;
}

/** `text` without the keys that this process holds, and what is hidden in this piece of work. */
export const mask = (text: string): string => without(looksHere())(text);

/** What takes `secrets` out of a text that the process itself does not hold, or not yet: those of one endpoint, those of one host. */
export function blotter(secrets: readonly string[]): (text: string) => string {
  const hidden = [...new Set(secrets.map((secret) => secret.trim()))].filter((secret) => secret.length >= MIN_SECRET);
  return without(hidden.sort(longestFirst));
}

const without =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);

// A string of a JSON text.
const LITERAL = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
// Bare in JSON, and line ends to some readers of lines.
const SEPARATORS = /[\u0085\u2028\u2029]/g;
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A JSON text without the keys: only its strings change, so that it stays one, whatever a key looks like. */
export function maskJson(json: string): string {
  if (!looksHere().some((look) => json.includes(look))) return json;
  return json.replace(LITERAL, (literal) => {
    const text = JSON.parse(literal) as string;
    const clean = mask(text);
    return clean === text ? literal : JSON.stringify(clean).replace(SEPARATORS, escaped);
  });
}

/** A value of JSON, or of an RPC call, without the keys in any of its texts. */
export function masked<T>(value: T): T {
  if (looksHere().length === 0) return value;
  return maskedValue(value) as T;
}

function maskedValue(value: unknown): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map(maskedValue);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Anything else is no text: bytes, a stream, a stub.
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [mask(name), maskedValue(each)]));
}
