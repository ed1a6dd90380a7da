import { ok, type Result } from "../../../src/errors/result.ts";
import { runSecretId } from "../../../src/secrets/envelope.ts";
import type { SealedSecret } from "../../../src/secrets/sealed-secret.ts";
import type { RunSecretsPut, SecretsFound, SecretsWanted } from "./secret-control.ts";
import { isSealing, notSealing } from "./sealing.ts";
import type { SecretTables } from "./secret-tables.ts";

interface Found extends Record<string, SqlStorageValue> {
  readonly id: string;
  readonly name: string;
  readonly from: SealedSecret["from"];
  readonly hosts: string;
  readonly sealed: string;
}

/** Age at which secrets of a run that does not work are removed. */
const LEFT_MS = 24 * 3_600_000;

/** What concerns one run: its own secrets, while it works, and those of its environment and team that it may have. */
export class RunSecretStore {
  readonly #tables: SecretTables;
  constructor(tables: SecretTables) {
    this.#tables = tables;
  }

  find({ environment, run, names }: SecretsWanted): SecretsFound {
    if (!this.#tables.exist()) return { secrets: [], variables: {} };
    const rows = this.#tables.rows<Found>(
      `SELECT id, name, 'run' AS "from", '[]' AS hosts, sealed FROM run_secret WHERE run_id = ?1 AND generation = (SELECT max(generation) FROM run_secret WHERE run_id = ?1)
        UNION ALL SELECT id, name, 'environment', hosts, sealed FROM secret WHERE environment = ?2
        UNION ALL SELECT secret.id, name, 'link', hosts, sealed FROM secret_link JOIN secret ON secret.id = secret_link.secret WHERE secret_link.environment = ?2
        UNION ALL SELECT id, name, 'global', hosts, sealed FROM secret WHERE environment = '' AND name IN (SELECT value FROM json_each(?3))`,
      run,
      environment,
      JSON.stringify(names),
    );
    const variables = this.#tables.rows<{ name: string; value: string }>("SELECT name, value FROM variable WHERE environment = ? ORDER BY name", environment);
    return {
      secrets: rows.map(({ hosts, ...row }) => ({ ...row, hosts: JSON.parse(hosts) as string[] })),
      variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    };
  }

  put({ run, generation, secrets }: RunSecretsPut, now: number): Result<null> {
    return this.#tables.change(() => {
      for (const { key } of secrets) if (!isSealing(this.#tables, key)) return notSealing();
      this.#tables.rows("DELETE FROM run_secret WHERE run_id = ? AND generation = ?", run, generation);
      for (const { name, sealed, key } of secrets)
        this.#tables.rows("INSERT INTO run_secret VALUES (?, ?, ?, ?, ?, ?, ?)", runSecretId(run, name), run, name, generation, now, sealed, key);
      return ok(null);
    });
  }

  /** The run has settled in this generation; those of a later one stay. */
  settled(run: string, generation: number): void {
    if (this.#tables.exist()) this.#tables.rows("DELETE FROM run_secret WHERE run_id = ? AND generation <= ?", run, generation);
  }

  /** Of this generation alone: an earlier one's are gone with its end. */
  drop(run: string, generation: number): void {
    if (this.#tables.exist()) this.#tables.rows("DELETE FROM run_secret WHERE run_id = ? AND generation = ?", run, generation);
  }

  /** There is no such run any more, or never was. */
  forget(run: string): void {
    this.settled(run, Number.MAX_SAFE_INTEGER);
  }

  /** Those of creations and resumes that broke off in the middle: for a day they may still become runs that work. */
  sweep(now: number): void {
    if (!this.#tables.exist()) return;
    this.#tables.rows(
      `DELETE FROM run_secret WHERE put_at <= ? AND run_id NOT IN (SELECT run_id FROM runs WHERE version IS NOT NULL AND NOT json_extract(projection, '$.settled'))`,
      now - LEFT_MS,
    );
  }
}
