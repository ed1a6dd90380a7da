import { EdgewiseError } from "../../errors/result.ts";
import { type Amounts, LIMIT_KINDS, type LimitKind } from "../../endpoint-limits/limit-kinds.ts";
import { MAX_GIVEN_AMOUNT } from "../../limits.ts";
import { didYouMean } from "../nearest.ts";

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

const KEYS: readonly string[] = ["endpoint_id", "url", "api_base_url", "key", "api_key_var", "model", ...Object.values(LIMIT_FIELDS)];

type Row = Readonly<Record<string, unknown>>;

/** A place that an `endpoint_id` stands for. */
interface NamedPlace {
  readonly base_url: string;
  readonly api_key_var: string;
  readonly model: string;
}

/**
 * What one table says: a limit for each place of its `endpoint_id` (each of them by itself), or the one of its `url`. Throws `invalid_request` with
 * `place`, the field, and what is allowed. `placesOf`: of an endpoint id; empty where it is unknown.
 */
export function readGivenLimit(row: Row, place: string, placesOf: (id: string) => readonly NamedPlace[]): readonly GivenLimit[] {
  const refuse = (problem: string): never => {
    throw new EdgewiseError("invalid_request", `${place}: ${problem}`);
  };
  const unknown = Object.keys(row).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) refuse(`${unknown}: there is no such key${didYouMean(unknown, KEYS)}`);
  const text = (...names: readonly string[]): string | null => {
    const given = names.flatMap((name) => (row[name] === undefined ? [] : [{ name, value: row[name] }]));
    for (const { name, value } of given) if (typeof value !== "string" || value.trim() === "") refuse(`${name} must be a text that is not empty`);
    if (new Set(given.map(({ value }) => value)).size > 1) refuse(`${given.map(({ name }) => name).join(" and ")} say different things`);
    return (given[0]?.value as string | undefined) ?? null;
  };
  const id = text("endpoint_id");
  const url = text("url", "api_base_url");
  const key = text("key", "api_key_var");
  const model = text("model");
  const limits = amountsOf(row, refuse);
  if (id === null) {
    if (url === null) return refuse("endpoint_id or url is missing: say which endpoint has the limit");
    return [{ base_url: url, ...(key === null ? {} : { api_key_var: key }), ...(model === null ? {} : { model }), limits }];
  }
  const extra = Object.entries({ url, key, model }).flatMap(([name, value]) => (value === null ? [] : [name]));
  if (extra.length > 0) refuse(`endpoint_id names ${extra.join(" and ")} already: leave out one of the two`);
  const places = placesOf(id);
  if (places.length === 0) refuse(`endpoint_id ${JSON.stringify(id)} is no endpoint that is known here`);
  return places.map(({ base_url, api_key_var, model: served }) => ({ base_url, api_key_var, model: served, limits }));
}

/** At least one of them, in whole numbers. */
function amountsOf(row: Row, refuse: (problem: string) => never): Amounts {
  const given = LIMIT_KINDS.flatMap((kind) => {
    const value = row[LIMIT_FIELDS[kind]];
    if (value === undefined) return [];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > MAX_GIVEN_AMOUNT)
      return refuse(`${LIMIT_FIELDS[kind]} must be a whole number from 1 to ${MAX_GIVEN_AMOUNT}`);
    return [[kind, value] as const];
  });
  if (given.length === 0) refuse(`no limit is given: it has none of ${Object.values(LIMIT_FIELDS).join(", ")}`);
  return Object.fromEntries(given);
}
