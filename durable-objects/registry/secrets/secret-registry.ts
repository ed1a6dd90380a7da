import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../src/env.ts";
import { fail, type Result } from "../../../src/errors/result.ts";
import { steadyNow } from "../../../src/steady-clock.ts";
import { RunSecretStore } from "./run-secret-store.ts";
import { reseal, sealingKey, staleValues } from "./sealing.ts";
import type * as S from "./secret-control.ts";
import { SecretStore } from "./secret-store.ts";
import { SecretTables } from "./secret-tables.ts";
import { VariableStore } from "./variable-store.ts";

/** The part of a team's Registry that keeps its secrets, all of them encrypted by others: no key and no value is ever here. */
export abstract class SecretRegistry extends DurableObject<Env> implements S.SecretControl {
  protected readonly secretTables: SecretTables;
  protected readonly secrets: SecretStore;
  readonly #variables: VariableStore;
  protected readonly runSecrets: RunSecretStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.secretTables = new SecretTables(ctx.storage);
    this.secrets = new SecretStore(this.secretTables);
    this.#variables = new VariableStore(this.secretTables);
    this.runSecrets = new RunSecretStore(this.secretTables);
  }

  abstract has(runId: string): Promise<boolean>;

  async sealingKey(): Promise<string | null> {
    return sealingKey(this.secretTables);
  }
  async listSecrets(environment: string | null): Promise<readonly S.SecretFacts[]> {
    return this.secrets.list(environment);
  }
  async getSecret(id: string, environment: string | null): Promise<S.SecretFacts | null> {
    return this.secrets.get(id, environment);
  }
  async createSecret(secret: S.NewSecret): Promise<Result<S.SecretFacts>> {
    return this.secrets.create(secret, steadyNow());
  }
  async changeSecret(id: string, environment: string | null, change: S.SecretChange): Promise<Result<S.SecretFacts>> {
    return this.secrets.change(id, environment, change, steadyNow());
  }
  async deleteSecret(id: string, environment: string | null): Promise<Result<S.SecretFacts>> {
    return this.secrets.delete(id, environment);
  }
  async linkSecret(id: string, environment: string, link: string): Promise<Result<S.LinkFacts>> {
    return this.secrets.link(id, environment, link, steadyNow());
  }
  async unlinkSecret(id: string, environment: string): Promise<Result<S.SecretFacts>> {
    return this.secrets.unlink(id, environment);
  }
  async listLinks(environment: string): Promise<readonly S.LinkFacts[]> {
    return this.secrets.links(environment);
  }
  async listVariables(environment: string): Promise<readonly S.VariableFacts[]> {
    return this.#variables.list(environment);
  }
  async createVariable(variable: S.NewVariable): Promise<Result<S.VariableFacts>> {
    return this.#variables.create(variable, steadyNow());
  }
  async changeVariable(id: string, environment: string, change: S.VariableChange): Promise<Result<S.VariableFacts>> {
    return this.#variables.change(id, environment, change, steadyNow());
  }
  async deleteVariable(id: string, environment: string): Promise<Result<S.VariableFacts>> {
    return this.#variables.delete(id, environment);
  }
  async secretsFor(wanted: S.SecretsWanted): Promise<S.SecretsFound> {
    return this.runSecrets.find(wanted);
  }
  async putRunSecrets(secrets: S.RunSecretsPut): Promise<Result<null>> {
    if (!(await this.has(secrets.run))) return fail("not_found", "There is no such run.");
    return this.runSecrets.put(secrets, steadyNow());
  }
  async dropRunSecrets(run: string, generation: number): Promise<void> {
    this.runSecrets.drop(run, generation);
  }
  async staleValues(wanted: S.ResealWanted): Promise<readonly S.StaleValue[]> {
    return staleValues(this.secretTables, wanted);
  }
  async reseal(to: string, values: readonly S.ResealedValue[]): Promise<number> {
    return reseal(this.secretTables, to, values);
  }
}
