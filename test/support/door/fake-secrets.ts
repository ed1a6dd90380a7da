import type {
  LinkFacts,
  ResealedValue,
  RunSecretsPut,
  SecretControl,
  SecretFacts,
  SecretsFound,
  SecretsWanted,
  StaleValue,
  VariableFacts,
} from "../../../durable-objects/registry/secrets/secret-control.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";

const none = <T>(): Result<T> => fail("not_found", "There is no such thing.");

/** Secrets that a test says a team has; how they are kept is tested in the runtime. */
export class FakeSecrets implements SecretControl {
  found: SecretsFound = { secrets: [], variables: {} };
  readonly asked: SecretsWanted[] = [];
  readonly put: RunSecretsPut[] = [];
  readonly dropped: string[] = [];

  async secretsFor(wanted: SecretsWanted): Promise<SecretsFound> {
    this.asked.push(wanted);
    return { ...this.found, secrets: this.found.secrets.filter(({ from, name }) => from !== "global" || wanted.names.includes(name)) };
  }
  async putRunSecrets(put: RunSecretsPut): Promise<Result<null>> {
    this.put.push(put);
    return ok(null);
  }
  async dropRunSecrets(run: string, generation: number): Promise<void> {
    this.dropped.push(`${run} ${generation}`);
  }
  async sealingKey(): Promise<string | null> {
    return null;
  }
  async listSecrets(): Promise<readonly SecretFacts[]> {
    return [];
  }
  async getSecret(): Promise<SecretFacts | null> {
    return null;
  }
  async createSecret(): Promise<Result<SecretFacts>> {
    return none();
  }
  async changeSecret(): Promise<Result<SecretFacts>> {
    return none();
  }
  async deleteSecret(): Promise<Result<SecretFacts>> {
    return none();
  }
  async linkSecret(): Promise<Result<LinkFacts>> {
    return none();
  }
  async unlinkSecret(): Promise<Result<SecretFacts>> {
    return none();
  }
  async listLinks(): Promise<readonly LinkFacts[]> {
    return [];
  }
  async listVariables(): Promise<readonly VariableFacts[]> {
    return [];
  }
  async createVariable(): Promise<Result<VariableFacts>> {
    return none();
  }
  async changeVariable(): Promise<Result<VariableFacts>> {
    return none();
  }
  async deleteVariable(): Promise<Result<VariableFacts>> {
    return none();
  }
  async staleValues(): Promise<readonly StaleValue[]> {
    return [];
  }
  async reseal(_to: string, values: readonly ResealedValue[]): Promise<number> {
    return values.length;
  }
}
