import type { z } from "zod";
import { EdgewiseError } from "../../errors/result.ts";
import { issueText } from "../issue-text.ts";
import { didYouMean } from "../nearest.ts";
import { CLIENT_TYPES, type ClientType } from "../plan/run-config.ts";
import { isTable, type TomlTable } from "../plan/toml-keys.ts";
import type { GivenLimit } from "./given-limit.ts";
import { limitRow, limitsOfRow } from "./limit-rows.ts";
import type { GivenPrice } from "../../prices/price.ts";
import { priceRow, pricesOfRow } from "./price-rows.ts";
import { rowPlace } from "./row-place.ts";

/** One `[[endpoint]]` of a registry: a place where a model is called. */
export interface EndpointEntry {
  readonly model: string;
  readonly base_url: string;
  readonly api_key_var: string;
  /** Null: the default. */
  readonly api_client_type: ClientType | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Entries by id; several of one id are replicas, in the order of the file. */
export interface EndpointRegistry {
  /** What it was read from. */
  readonly file: string;
  readonly entries: ReadonlyMap<string, readonly EndpointEntry[]>;
  /** What its `[[limit]]` say. */
  readonly limits: readonly GivenLimit[];
  /** What its `[[price]]` say, in the order of the file. */
  readonly prices: readonly GivenPrice[];
  /** Keys that it has and nothing reads. */
  readonly warnings: readonly string[];
}

const KEYS = ["endpoint_id", "model", "url", "api_base_url", "key", "api_key_var", "type", "api_client_type", "headers", "extra_headers"];

export const emptyRegistry = (file: string): EndpointRegistry => ({ file, entries: new Map(), limits: [], prices: [], warnings: [] });

/** One that holds these entries of an id. */
export const registryOf = (file: string, id: string, entries: readonly EndpointEntry[]): EndpointRegistry => ({
  ...emptyRegistry(file),
  entries: new Map([[id, entries]]),
});

/** What keeps entries of one id from being replicas; null when nothing does. */
export function replicaProblem(entries: readonly EndpointEntry[]): string | null {
  const models = [...new Set(entries.map(({ model }) => model))];
  if (models.length > 1) return `the entries name different models (${models.join(", ")}); replicas serve the same`;
  const types = [...new Set(entries.map(({ api_client_type }) => api_client_type ?? "the default"))];
  return types.length > 1 ? `the entries name different client types (${types.join(", ")}); replicas are called alike` : null;
}

/**
 * Reads a registry. Throws `invalid_request` with file, entry and field; keys of an endpoint that it does not know are ignored, those of a limit, which
 * would not be kept to, and of a price, which would not be counted, are not.
 */
export function readRegistry(document: TomlTable, file: string): EndpointRegistry {
  const rows = tablesOf(document, "endpoint", file);
  const entries = new Map<string, EndpointEntry[]>();
  const warnings: string[] = [];
  for (const [index, row] of rows.entries()) {
    const id = row.endpoint_id;
    const place = `${file}: [[endpoint]] #${index + 1}`;
    if (typeof id !== "string" || id.trim() === "") throw new EdgewiseError("invalid_request", `${place}: endpoint_id must be a text that is not empty`);
    entries.set(id, [...(entries.get(id) ?? []), readEntry(row, `${place} (${id})`)]);
    for (const key of unknownKeys(row)) warnings.push(`${place} (${id}): ${key} has no effect: there is no such key${didYouMean(key, KEYS)}`);
  }
  const limits = tablesOf(document, "limit", file).flatMap((row, index) =>
    placed(row, limitRow, limitsOfRow, `${file}: ${rowPlace("limit", index, row)}`, entries),
  );
  const prices = tablesOf(document, "price", file).flatMap((row, index) =>
    placed(row, priceRow, pricesOfRow, `${file}: ${rowPlace("price", index, row)}`, entries),
  );
  return { file, entries, limits, prices, warnings };
}

function tablesOf(document: TomlTable, name: "endpoint" | "limit" | "price", file: string): readonly TomlTable[] {
  const rows = document[name] ?? [];
  if (!Array.isArray(rows) || !rows.every(isTable)) throw new EdgewiseError("invalid_request", `${file}: ${name} must be an array of tables: [[${name}]]`);
  return rows as readonly TomlTable[];
}

/** What one table of the same file comes to, where it names an endpoint at each of its places. */
function placed<Row extends { readonly endpoint_id?: string | undefined }, Given>(
  row: TomlTable,
  schema: z.ZodType<Row>,
  given: (row: Row, places: readonly EndpointEntry[]) => readonly Given[],
  place: string,
  entries: EndpointRegistry["entries"],
): readonly Given[] {
  const parsed = schema.safeParse(row);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const told = issue === undefined ? "cannot be read" : [...issue.path, issueText(issue)].join(" ");
    throw new EdgewiseError("invalid_request", `${place}: ${told}`);
  }
  const { endpoint_id: id } = parsed.data;
  const places = id === undefined ? [] : entries.get(id);
  if (places === undefined) throw new EdgewiseError("invalid_request", `${place}: endpoint_id ${JSON.stringify(id)} is in no [[endpoint]] of the file`);
  return given(parsed.data, places);
}

const unknownKeys = (row: TomlTable): readonly string[] => Object.keys(row).filter((key) => !KEYS.includes(key) && key !== "client_type");

/** What a key that is missing may have been written as. */
function misspelt(row: TomlTable): string {
  const meant = unknownKeys(row).flatMap((key) => {
    const close = didYouMean(key, KEYS);
    return close === "" ? [] : [`${key}${close}`];
  });
  return meant.length === 0 ? "" : `; it has ${meant.join(", ")}`;
}

function readEntry(row: TomlTable, place: string): EndpointEntry {
  const refuse = (problem: string): never => {
    throw new EdgewiseError("invalid_request", `${place}: ${problem}`);
  };
  if ("client_type" in row) refuse("client_type is an old name: write api_client_type");
  const text = (...names: readonly string[]): string | null => {
    const given = names.flatMap((name) => (row[name] === undefined ? [] : [{ name, value: row[name] }]));
    for (const { name, value } of given) if (typeof value !== "string" || value === "") refuse(`${name} must be a text that is not empty`);
    const values = new Set(given.map(({ value }) => value as string));
    if (values.size > 1) refuse(`${given.map(({ name }) => name).join(" and ")} say different things`);
    return [...values][0] ?? null;
  };
  const model = text("model");
  const baseUrl = text("url", "api_base_url");
  const keyVar = text("key", "api_key_var");
  const type = text("type", "api_client_type");
  const missing = Object.entries({ model, url: baseUrl, key: keyVar }).flatMap(([name, value]) => (value === null ? [name] : []));
  if (model === null || baseUrl === null || keyVar === null)
    return refuse(`${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing${misspelt(row)}`);
  const clientType = CLIENT_TYPES.find((known) => known === type) ?? null;
  if (type !== null && clientType === null) refuse(`api_client_type must be one of ${CLIENT_TYPES.join(", ")}, not ${JSON.stringify(type)}`);
  return { model, base_url: baseUrl, api_key_var: keyVar, api_client_type: clientType, headers: headersOf(row, refuse) };
}

function headersOf({ headers, extra_headers }: TomlTable, refuse: (problem: string) => never): Readonly<Record<string, string>> {
  if (headers !== undefined && extra_headers !== undefined) refuse("headers and extra_headers mean the same: give one of the two");
  const table = headers ?? extra_headers ?? {};
  if (!isTable(table)) return refuse("headers must be a table of texts");
  for (const [name, value] of Object.entries(table)) {
    if (name.trim() === "") refuse("headers has an empty name");
    if (typeof value !== "string") refuse(`headers.${name} must be a text`);
  }
  return table as Readonly<Record<string, string>>;
}
