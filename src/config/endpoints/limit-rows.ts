import { z } from "zod";
import { LIMIT_KINDS } from "../../endpoint-limits/limit-kinds.ts";
import { MAX_GIVEN_AMOUNT, MAX_GIVEN_LIMITS } from "../../limits.ts";
import { endpointUrl, keyVariable, shortText } from "../options/option-values.ts";
import { type GivenLimit, LIMIT_FIELDS, namedAmounts } from "./given-limit.ts";

/** Limits of endpoints as files and requests have them: a `[[limit]]` each. */

const amount = z.int().min(1).max(MAX_GIVEN_AMOUNT).optional();

const fields = {
  endpoint_id: shortText(256).optional().describe("An endpoint of the registry, or one that the service keeps: each of its places has the limit by itself."),
  url: endpointUrl.optional(),
  api_base_url: endpointUrl.optional().describe("In place of endpoint_id."),
  key: keyVariable.optional(),
  api_key_var: keyVariable.optional().describe("The name of the key; left out, the limit is of any key that the address is called with."),
  model: shortText(256).optional().describe("`*` stands for any characters; left out, each model has the limit by itself."),
  [LIMIT_FIELDS.concurrent]: amount.describe("Requests in flight."),
  [LIMIT_FIELDS.requests]: amount,
  [LIMIT_FIELDS.tokens]: amount.describe("Of input and output together."),
  [LIMIT_FIELDS.input_tokens]: amount,
  [LIMIT_FIELDS.output_tokens]: amount,
};

/** Two names of the same. */
const NAMES = [
  ["url", "api_base_url"],
  ["key", "api_key_var"],
] as const;

export const limitRow = z.strictObject(fields).superRefine((row, { addIssue }) => {
  const refuse = (path: string, message: string): void => addIssue({ code: "custom", path: [path], message, input: row });
  for (const [short, long] of NAMES)
    if (row[short] !== undefined && row[long] !== undefined && row[short] !== row[long]) refuse(long, `says something else than ${short}`);
  if (row.endpoint_id === undefined && row.url === undefined && row.api_base_url === undefined)
    refuse("endpoint_id", "is missing: say which endpoint has the limit, by endpoint_id or by url");
  const placed = [...NAMES.flat(), "model" as const].find((name) => row[name] !== undefined);
  if (row.endpoint_id !== undefined && placed !== undefined)
    refuse(placed, "is given beside endpoint_id, which names a place already: leave out one of the two");
  const kinds = Object.values(LIMIT_FIELDS);
  if (kinds.every((name) => row[name] === undefined)) refuse("concurrent", `is missing: give at least one of ${kinds.join(", ")}`);
});
export const limitRows = z.array(limitRow).max(MAX_GIVEN_LIMITS);
export type LimitRow = z.infer<typeof limitRow>;

/** A place that an `endpoint_id` stands for. */
interface NamedPlace {
  readonly base_url: string;
  readonly api_key_var: string;
  readonly model: string;
}

/** What a row says; `places` are those of its `endpoint_id`, where it has one. */
export function limitsOfRow(row: LimitRow, places: readonly NamedPlace[]): readonly GivenLimit[] {
  const limits = Object.fromEntries(LIMIT_KINDS.flatMap((kind) => (row[LIMIT_FIELDS[kind]] === undefined ? [] : [[kind, row[LIMIT_FIELDS[kind]]]])));
  const base_url = row.url ?? row.api_base_url;
  const api_key_var = row.key ?? row.api_key_var;
  if (base_url === undefined) return places.map(({ base_url, api_key_var, model }) => ({ base_url, api_key_var, model, limits }));
  return [{ base_url, ...(api_key_var === undefined ? {} : { api_key_var }), ...(row.model === undefined ? {} : { model: row.model }), limits }];
}

/** The row that says it. */
export const rowOfLimit = ({ base_url, api_key_var, model, limits }: GivenLimit): LimitRow => ({
  api_base_url: base_url,
  ...(api_key_var === undefined ? {} : { api_key_var }),
  ...(model === undefined ? {} : { model }),
  ...namedAmounts(limits),
});
