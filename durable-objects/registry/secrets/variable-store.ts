import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_OF_ENVIRONMENT } from "../../../src/secrets/secret-rules.ts";
import type { NewVariable, VariableChange, VariableFacts } from "./secret-control.ts";
import type { SecretTables } from "./secret-tables.ts";

const noVariable = <T>(): Result<T> => fail("not_found", "There is no such variable.", "`npx edgewise env var list` shows those there are.");

/** Variables of environments: settings that are no secret, and stand as they are. */
export class VariableStore {
  readonly #tables: SecretTables;
  constructor(tables: SecretTables) {
    this.#tables = tables;
  }

  list(environment: string): VariableFacts[] {
    if (!this.#tables.exist()) return [];
    return this.#tables.rows<VariableFacts & Record<string, SqlStorageValue>>(
      "SELECT * FROM variable WHERE environment = ? ORDER BY created_at, name",
      environment,
    );
  }

  create({ id, environment, name, value, description }: NewVariable, now: number): Result<VariableFacts> {
    return this.#tables.change(() => {
      const all = this.list(environment);
      if (all.some((each) => each.name === name)) return taken(name);
      if (all.length >= MAX_OF_ENVIRONMENT)
        return fail("invalid_request", `There are ${MAX_OF_ENVIRONMENT} variables, and no more are kept.`, "Delete one first.");
      this.#tables.rows("INSERT INTO variable VALUES (?, ?, ?, ?, ?, ?, ?)", id, environment, name, value, description, now, now);
      return this.#find(id, environment);
    });
  }

  change(id: string, environment: string, change: VariableChange, now: number): Result<VariableFacts> {
    return this.#tables.change(() => {
      const all = this.list(environment);
      const before = all.find((each) => each.id === id);
      if (before === undefined) return noVariable();
      const { name, value, description } = { ...before, ...change };
      if (all.some((each) => each.name === name && each.id !== id)) return taken(name);
      this.#tables.rows("UPDATE variable SET name = ?, value = ?, description = ?, updated_at = ? WHERE id = ?", name, value, description, now, id);
      return this.#find(id, environment);
    });
  }

  delete(id: string, environment: string): Result<VariableFacts> {
    return this.#tables.change(() => {
      const found = this.#find(id, environment);
      if (found.ok) this.#tables.rows("DELETE FROM variable WHERE id = ?", id);
      return found;
    });
  }

  #find(id: string, environment: string): Result<VariableFacts> {
    const found = this.list(environment).find((each) => each.id === id);
    return found === undefined ? noVariable() : ok(found);
  }
}

const taken = <T>(name: string): Result<T> => fail("illegal_transition", `There is a variable ${name} already.`, "Change its value, or delete it first.");
