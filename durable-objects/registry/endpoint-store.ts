import { canonicalJson } from "../../src/config/canonical-json.ts";
import { type EndpointEntry, replicaProblem } from "../../src/config/endpoints/endpoint-registry.ts";
import { EdgewiseError, fail, ok, type Result } from "../../src/errors/result.ts";
import { MAX_ENDPOINT_BYTES, MAX_ENDPOINTS } from "../../src/limits.ts";
import { LateTables } from "../late-tables.ts";
import type { EndpointWrite, StoredEndpoint } from "./endpoint-control.ts";

/** Version of `entries`: a row of another one is refused by name. */
export const ENDPOINT_VERSION = 1;

/** `entries`: JSON of the entries of one id. No change of the Registry's version: code that does not know them finds no endpoint. */
const ENDPOINTS = `
  CREATE TABLE IF NOT EXISTS endpoint (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    entries TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL
  ) WITHOUT ROWID;
`;

interface EndpointRow extends Record<string, SqlStorageValue> {
  readonly id: string;
  readonly version: number;
  readonly entries: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

/** The endpoints of a team. */
export class EndpointStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, ENDPOINTS);
  }

  find(id: string): StoredEndpoint | null {
    const [row] = this.#tables.rows<EndpointRow>("SELECT * FROM endpoint WHERE id = ?", id);
    return row === undefined ? null : storedOf(row);
  }

  all(): StoredEndpoint[] {
    return this.#tables.rows<EndpointRow>("SELECT * FROM endpoint ORDER BY id").map(storedOf);
  }

  write({ entries, how, user }: EndpointWrite, now: number): Result<readonly StoredEndpoint[]> {
    const ids = [...new Set(entries.map(({ endpoint_id }) => endpoint_id))];
    const wanted: { readonly id: string; readonly before: StoredEndpoint | null; readonly next: readonly EndpointEntry[]; readonly json: string }[] = [];
    for (const id of ids) {
      const before = this.find(id);
      const next = how === "add" ? [...(before?.entries ?? [])] : [];
      for (const { endpoint_id, entry } of entries) if (endpoint_id === id && !next.some((known) => isSame(known, entry))) next.push(entry);
      const problem = replicaProblem(next);
      if (problem !== null) {
        const hint = how === "add" && before !== null ? "Leave out what differs, or replace the endpoint (--replace; PUT over HTTP)." : undefined;
        return fail("invalid_request", `endpoint ${id}: ${problem}`, hint);
      }
      const json = JSON.stringify(next);
      if (new TextEncoder().encode(json).byteLength > MAX_ENDPOINT_BYTES)
        return fail("invalid_request", `endpoint ${id}: would be larger than ${MAX_ENDPOINT_BYTES} bytes with all its replicas and headers`);
      wanted.push({ id, before, next, json });
    }
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM endpoint");
    if (there + wanted.filter(({ before }) => before === null).length > MAX_ENDPOINTS)
      return fail("invalid_request", `a team keeps at most ${MAX_ENDPOINTS} endpoints`, "Delete those that nothing names any more.");
    this.#tables.transaction(() => {
      for (const { id, before, next, json } of wanted) {
        if (before !== null && isSame(before.entries, next)) continue;
        this.#tables.rows(
          `INSERT INTO endpoint VALUES (?1, ?2, ?3, ?4, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET version = ?2, entries = ?3, updated_at = ?4, updated_by = ?5`,
          id,
          ENDPOINT_VERSION,
          json,
          now,
          user,
        );
      }
    });
    return ok(wanted.flatMap(({ id }) => this.find(id) ?? []));
  }

  /** Whether there was one, whichever version stored it. */
  remove(id: string): boolean {
    return this.#tables.rows("DELETE FROM endpoint WHERE id = ? RETURNING id", id).length > 0;
  }
}

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

function storedOf({ id, version, entries, created_at, updated_at, updated_by }: EndpointRow): StoredEndpoint {
  if (version !== ENDPOINT_VERSION) {
    throw new EdgewiseError("stored_version_unknown", `The endpoint ${id} was stored by another version of edgewise (${version}).`, {
      hint: "Deploy that version again, or a newer one; or delete the endpoint and add it again.",
    });
  }
  return { endpoint_id: id, entries: JSON.parse(entries) as EndpointEntry[], created_at, updated_at, updated_by };
}
