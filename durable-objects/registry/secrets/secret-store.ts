import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_GLOBAL, MAX_OF_ENVIRONMENT } from "../../../src/secrets/secret-rules.ts";
import type { LinkFacts, NewSecret, SecretChange, SecretFacts } from "./secret-control.ts";
import { isSealing, notSealing } from "./sealing.ts";
import type { SecretTables } from "./secret-tables.ts";

interface SecretRow extends Record<string, SqlStorageValue> {
  readonly id: string;
  readonly environment: string;
  readonly name: string;
  readonly description: string | null;
  readonly hosts: string;
  readonly created_at: number;
  readonly created_by: string;
  readonly updated_at: number;
}

const FACTS = "id, environment, name, description, hosts, created_at, created_by, updated_at";
const noSecret = <T>(): Result<T> => fail("not_found", "There is no such secret.", "`npx edgewise secret list` shows those there are.");

/** Secrets of a team and of its environments, and which environment is linked to which. */
export class SecretStore {
  readonly #tables: SecretTables;
  constructor(tables: SecretTables) {
    this.#tables = tables;
  }

  list(environment: string | null): SecretFacts[] {
    if (!this.#tables.exist()) return [];
    return this.#tables.rows<SecretRow>(`SELECT ${FACTS} FROM secret WHERE environment = ? ORDER BY created_at, name`, environment ?? "").map(factsOf);
  }

  get(id: string, environment: string | null): SecretFacts | null {
    if (!this.#tables.exist()) return null;
    const [row] = this.#tables.rows<SecretRow>(`SELECT ${FACTS} FROM secret WHERE id = ? AND environment = ?`, id, environment ?? "");
    return row === undefined ? null : factsOf(row);
  }

  /** Whether the team, or an environment of it, has one of this name. Secrets of alerts are no keys. */
  hasKey(name: string): boolean {
    return this.#tables.exist() && this.#tables.rows("SELECT 1 FROM secret WHERE name = ? AND environment NOT LIKE 'alert:%'", name).length > 0;
  }

  create({ id, environment, name, description, hosts, sealed, key, created_by }: NewSecret, now: number): Result<SecretFacts> {
    return this.#tables.change(() => {
      if (!isSealing(this.#tables, key)) return notSealing();
      const taken = this.#taken(environment, name, id);
      if (taken !== null) return taken;
      const most = environment === null ? MAX_GLOBAL : MAX_OF_ENVIRONMENT;
      if (this.list(environment).length >= most)
        return fail("invalid_request", `There are ${most} secrets, and no more are kept.`, "Delete one that is used no more.");
      this.#tables.rows(
        "INSERT INTO secret VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...[id, environment ?? "", name, description, JSON.stringify(hosts), sealed, key, now, created_by, now],
      );
      return this.#facts(id, environment);
    });
  }

  change(id: string, environment: string | null, { name, description, hosts, value }: SecretChange, now: number): Result<SecretFacts> {
    return this.#tables.change(() => {
      const before = this.get(id, environment);
      if (before === null) return noSecret();
      if (value !== undefined && !isSealing(this.#tables, value.key)) return notSealing();
      const taken = name === undefined ? null : this.#taken(environment, name, id);
      if (taken !== null) return taken;
      if (hosts !== undefined && hosts.length > 0 && this.#tables.rows("SELECT 1 FROM secret_link WHERE secret = ?", id).length > 0)
        return fail("invalid_request", `${before.name} is linked to environments, and a secret with hosts goes to none.`, "Unlink it first.");
      this.#tables.rows(
        "UPDATE secret SET name = ?, description = ?, hosts = ?, updated_at = ? WHERE id = ?",
        ...[name ?? before.name, description === undefined ? before.description : description, JSON.stringify(hosts ?? before.hosts), now, id],
      );
      if (value !== undefined) this.#tables.rows("UPDATE secret SET sealed = ?, key = ? WHERE id = ?", value.sealed, value.key, id);
      return this.#facts(id, environment);
    });
  }

  delete(id: string, environment: string | null): Result<SecretFacts> {
    return this.#tables.change(() => {
      const facts = this.get(id, environment);
      if (facts === null) return noSecret();
      this.#tables.rows("DELETE FROM secret_link WHERE secret = ?", id);
      this.#tables.rows("DELETE FROM secret WHERE id = ?", id);
      return ok(facts);
    });
  }

  link(id: string, environment: string, link: string, now: number): Result<LinkFacts> {
    return this.#tables.change(() => {
      const secret = this.get(id, null);
      if (secret === null) return noSecret();
      if (secret.hosts.length > 0)
        return fail(
          "invalid_request",
          `${secret.name} is a secret for ${secret.hosts.join(", ")} alone, and goes to no environment.`,
          "Give the environment one of its own.",
        );
      if (this.links(environment).length >= MAX_OF_ENVIRONMENT)
        return fail("invalid_request", `There are ${MAX_OF_ENVIRONMENT} secrets linked to this environment, and no more are kept.`);
      this.#tables.rows("INSERT OR IGNORE INTO secret_link VALUES (?, ?, ?, ?)", environment, id, link, now);
      const found = this.links(environment).find((each) => each.secret.id === id);
      return found === undefined ? noSecret() : ok(found);
    });
  }

  unlink(id: string, environment: string): Result<SecretFacts> {
    return this.#tables.change(() => {
      const found = this.links(environment).find(({ secret }) => secret.id === id);
      if (found === undefined) return fail("not_found", "There is no such secret linked to this environment.");
      this.#tables.rows("DELETE FROM secret_link WHERE environment = ? AND secret = ?", environment, id);
      return ok(found.secret);
    });
  }

  links(environment: string): LinkFacts[] {
    if (!this.#tables.exist()) return [];
    const rows = this.#tables.rows<SecretRow & { readonly link: string; readonly linked_at: number }>(
      `SELECT secret_link.id AS link, secret_link.created_at AS linked_at, ${FACTS.split(", ")
        .map((column) => `secret.${column}`)
        .join(", ")} FROM secret_link JOIN secret ON secret.id = secret_link.secret WHERE secret_link.environment = ? ORDER BY linked_at, secret.name`,
      environment,
    );
    return rows.map(({ link, linked_at, ...row }) => ({ id: link, environment, secret: factsOf(row as SecretRow), created_at: linked_at }));
  }

  #taken(environment: string | null, name: string, id: string): Result<never> | null {
    if (this.#tables.rows("SELECT 1 FROM secret WHERE environment = ? AND name = ? AND id <> ?", environment ?? "", name, id).length === 0) return null;
    return fail("illegal_transition", `There is a secret ${name} already.`, "Change its value (PATCH, or `npx edgewise secret update`), or delete it first.");
  }

  #facts(id: string, environment: string | null): Result<SecretFacts> {
    const facts = this.get(id, environment);
    return facts === null ? noSecret() : ok(facts);
  }
}

const factsOf = ({ id, environment, name, description, hosts, created_at, created_by, updated_at }: SecretRow): SecretFacts => ({
  ...{ id, environment: environment === "" ? null : environment, name, description },
  ...{ hosts: JSON.parse(hosts) as string[], created_at, created_by, updated_at },
});
