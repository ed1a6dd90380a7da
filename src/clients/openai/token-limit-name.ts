import { parseUrl } from "../../config/endpoints/addresses.ts";

/** Names of the limit of tokens in the chat route: today's, and the one that older servers know. */
const NAMES = ["max_completion_tokens", "max_tokens"] as const;
export type LimitName = (typeof NAMES)[number];

/** A server counts its own way: an answer is longer than asked when it is so by more than this share, and by more than a few tokens. */
const SLACK = 0.05;
const SLACK_TOKENS = 2;

export const isOver = (tokens: number, asked: number): boolean => tokens > asked + Math.max(SLACK_TOKENS, asked * SLACK);

/** How servers say that they do not take a field, beside its name. */
const NOT_TAKEN = /unsupported|unrecogni[sz]ed|unknown|unexpected|extra|not (supported|permitted|allowed)/i;

/** Hosts that are known to pass over today's name, so that not even the first answers are longer than asked (https://api-docs.deepseek.com/api/create-chat-completion has the old one alone). */
const OLD_NAME_ALONE: readonly (string | undefined)[] = ["api.deepseek.com"];

/**
 * Under which of its names a place is told the limit: today's, until its server passes over it or refuses it. One for all clients of a
 * place, so that each executor finds out once.
 */
export class TokenLimitName {
  readonly #ignored = new Set<LimitName>();
  readonly #refused = new Set<LimitName>();

  /** `base_url`: of the place. */
  constructor(base_url = "") {
    if (OLD_NAME_ALONE.includes(parseUrl(base_url)?.hostname)) this.#ignored.add("max_completion_tokens");
  }

  /** Whether the place passes over each of the names that a body has; false where it has none. `passedOn`: it is sent as it is, and not under `current`. */
  passesOver(body: Readonly<Record<string, unknown>>, passedOn: boolean): boolean {
    const own = passedOn || limitNameIn(body) === null ? NAMES.filter((name) => typeof body[name] === "number") : [this.current];
    return own.length > 0 && own.every((name) => this.#ignored.has(name));
  }

  /** The name to send next. */
  get current(): LimitName {
    const taken = NAMES.filter((name) => !this.#refused.has(name));
    return taken.find((name) => !this.#ignored.has(name)) ?? taken[0] ?? NAMES[0];
  }

  /** An answer was longer than `name` said. Gives the name to send from now on, null when none is left; undefined when that was known. */
  ignores(name: LimitName): LimitName | null | undefined {
    if (this.#ignored.has(name)) return undefined;
    this.#ignored.add(name);
    const { current } = this;
    return this.#ignored.has(current) ? null : current;
  }

  /** A refusal with `text` to a request that had `name`: the name to send instead, null when it is about something else. */
  refuses(name: LimitName, text: string): LimitName | null {
    // The new name contains none of the old one, but a refusal of the old one recommends the new.
    const own = new RegExp(`(?<![a-z_])${name}(?![a-z_])`).test(text);
    if (!own || !NOT_TAKEN.test(text)) return null;
    const other = NAMES.find((each) => each !== name);
    if (other === undefined || this.#refused.has(other)) return null;
    this.#refused.add(name);
    return other;
  }
}

/** The name under which a body has the limit; null when under none, or under both. */
export function limitNameIn(body: Readonly<Record<string, unknown>>): LimitName | null {
  const [name, second] = NAMES.filter((each) => body[each] !== undefined);
  return name === undefined || second !== undefined ? null : name;
}
