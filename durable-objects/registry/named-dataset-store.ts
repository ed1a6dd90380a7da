import { EdgewiseError, fail, ok, type Result } from "../../src/errors/result.ts";
import { MAX_DATASET_REVISIONS, MAX_NAMED_DATASETS } from "../../src/limits.ts";
import { LateTables } from "../late-tables.ts";
import type { NamedDataset, NamedRevision } from "./named-dataset-control.ts";

/** Version of `revisions`: a row of another one is refused by name. */
export const NAMED_DATASET_VERSION = 1;

/**
 * `revisions`: JSON, the newest first; `named_upload`: what they name, for the sweep of uploads. No change of the Registry's version: code that does not
 * know them finds no such data set, and sweeps their uploads.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS named_dataset (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    revisions TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS named_upload (digest TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (digest, name)) WITHOUT ROWID;
`;

interface DatasetRow extends Record<string, SqlStorageValue> {
  readonly name: string;
  readonly version: number;
  readonly revisions: string;
  readonly created_at: number;
}

/** The data sets that a team has by name. */
export class NamedDatasetStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, TABLES);
  }

  find(name: string): NamedDataset | null {
    const [row] = this.#tables.rows<DatasetRow>("SELECT * FROM named_dataset WHERE name = ?", name);
    return row === undefined ? null : storedOf(row);
  }

  all(): NamedDataset[] {
    return this.#tables.rows<DatasetRow>("SELECT * FROM named_dataset ORDER BY name").map((row) => {
      const { revisions, ...stored } = storedOf(row);
      return { ...stored, revisions: revisions.slice(0, 1) };
    });
  }

  put(name: string, revision: NamedRevision): Result<NamedDataset> {
    return this.#tables.transaction(() => {
      const before = this.find(name);
      if (before?.revisions[0]?.sha === revision.sha) return ok(before);
      const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM named_dataset");
      if (before === null && there >= MAX_NAMED_DATASETS)
        return fail("invalid_request", `a team has at most ${MAX_NAMED_DATASETS} data sets by name`, "Delete those that nobody reads any more.");
      // Files of before that come again are the newest, once.
      const revisions = [revision, ...(before?.revisions ?? []).filter(({ sha }) => sha !== revision.sha)].slice(0, MAX_DATASET_REVISIONS);
      this.#tables.rows(
        "INSERT INTO named_dataset VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET version = ?2, revisions = ?3",
        name,
        NAMED_DATASET_VERSION,
        JSON.stringify(revisions),
        revision.created_at,
      );
      this.#tables.rows("DELETE FROM named_upload WHERE name = ?", name);
      for (const digest of new Set(revisions.flatMap(({ files }) => files.map((file) => file.digest))))
        this.#tables.rows("INSERT INTO named_upload VALUES (?, ?)", digest, name);
      return ok({ name, created_at: before?.created_at ?? revision.created_at, revisions });
    });
  }

  /** Whether there was one, whichever version stored it. */
  remove(name: string): boolean {
    return this.#tables.transaction(() => {
      this.#tables.rows("DELETE FROM named_upload WHERE name = ?", name);
      return this.#tables.rows("DELETE FROM named_dataset WHERE name = ? RETURNING name", name).length > 0;
    });
  }

  /** Whether a revision names this upload. */
  holds(digest: string): boolean {
    return this.#tables.rows("SELECT 1 FROM named_upload WHERE digest = ? LIMIT 1", digest).length > 0;
  }
}

function storedOf({ name, version, revisions, created_at }: DatasetRow): NamedDataset {
  if (version !== NAMED_DATASET_VERSION) {
    throw new EdgewiseError("stored_version_unknown", `The data set ${name} was stored by another version of edgewise (${version}).`, {
      hint: "Deploy that version again, or a newer one; or delete the data set and put it again.",
    });
  }
  return { name, created_at, revisions: JSON.parse(revisions) as NamedRevision[] };
}
