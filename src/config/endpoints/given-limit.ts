import { type Amounts, LIMIT_KINDS, type LimitKind } from "../../endpoint-limits/limit-kinds.ts";

/** What a person says that an endpoint bears: a `[[limit]]` of an endpoint registry, one of a run's creation, or one that the service keeps (`/limits`). */
export interface GivenLimit {
  readonly base_url: string;
  /** The name of the key; absent = whichever it is called with. */
  readonly api_key_var?: string;
  /** `*` stands for any characters; absent = every model, each by itself. */
  readonly model?: string;
  /** At least one. */
  readonly limits: Amounts;
}

/** What each kind is called by people, in files and requests. */
export const LIMIT_FIELDS = {
  concurrent: "concurrent",
  requests: "requests_per_minute",
  tokens: "tokens_per_minute",
  input_tokens: "input_tokens_per_minute",
  output_tokens: "output_tokens_per_minute",
} as const satisfies Record<LimitKind, string>;

/** The same limits under the names that people read. */
export const namedAmounts = (limits: Amounts): Readonly<Record<string, number>> =>
  Object.fromEntries(LIMIT_KINDS.flatMap((kind) => (limits[kind] === undefined ? [] : [[LIMIT_FIELDS[kind], limits[kind]]])));
