import type { Result } from "../../../src/errors/result.ts";
import type { SealedSecret } from "../../../src/secrets/sealed-secret.ts";

/** What crosses between a team's Registry and whoever has to do with its secrets. Values are encrypted on both sides. Times are Unix milliseconds. */

/** A secret as lists show it. */
export interface SecretFacts {
  readonly id: string;
  /** Null: of the team, for whichever environment declares it or is linked to it. */
  readonly environment: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly hosts: readonly string[];
  readonly created_at: number;
  readonly created_by: string;
  readonly updated_at: number;
}

/** `key`: id of the master key that `sealed` is encrypted with. */
export interface SealedValue {
  readonly sealed: string;
  readonly key: string;
}

export interface NewSecret extends Pick<SecretFacts, "id" | "environment" | "name" | "description" | "hosts" | "created_by">, SealedValue {}

/** Absent: stays as it is. */
export interface SecretChange {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly value?: SealedValue | undefined;
}

export interface VariableFacts extends Pick<SecretFacts, "id" | "name" | "description" | "created_at" | "updated_at"> {
  readonly environment: string;
  readonly value: string;
}
export type NewVariable = Pick<VariableFacts, "id" | "environment" | "name" | "value" | "description">;
export type VariableChange = Partial<Pick<VariableFacts, "name" | "value" | "description">>;

export interface LinkFacts {
  readonly id: string;
  readonly environment: string;
  readonly secret: SecretFacts;
  readonly created_at: number;
}

/** `run`: of a run that is there already, its own too. `names`: of those that are the team's and not linked, these. */
export interface SecretsWanted {
  readonly environment: string;
  readonly run: string | null;
  readonly names: readonly string[];
}
export interface SecretsFound {
  readonly secrets: readonly SealedSecret[];
  readonly variables: Readonly<Record<string, string>>;
}

/** A run's own, by name; those of the newest generation count. They go when the run has settled in it or a later one, or is no more. */
export interface RunSecretsPut {
  readonly run: string;
  readonly generation: number;
  readonly secrets: readonly (SealedValue & { readonly name: string })[];
}

/** One slice of a change of the master key: values that are not yet encrypted with `to`, by id, of those behind `after`. */
export interface ResealWanted {
  readonly to: string;
  readonly after: string;
  readonly limit: number;
}
export interface StaleValue {
  readonly id: string;
  readonly sealed: string;
}
export interface ResealedValue {
  readonly id: string;
  /** What stood there, and what stands there now. */
  readonly from: string;
  readonly sealed: string;
}

export interface SecretControl {
  /** Id of the master key that values are to be encrypted with; null where nothing is stored yet. */
  sealingKey(): Promise<string | null>;
  /** Newest last. `null`: the team's own. */
  listSecrets(environment: string | null): Promise<readonly SecretFacts[]>;
  getSecret(id: string, environment: string | null): Promise<SecretFacts | null>;
  createSecret(secret: NewSecret): Promise<Result<SecretFacts>>;
  changeSecret(id: string, environment: string | null, change: SecretChange): Promise<Result<SecretFacts>>;
  /** With its links. */
  deleteSecret(id: string, environment: string | null): Promise<Result<SecretFacts>>;
  /** Nothing changes where it is linked. `link`: id of a new one. */
  linkSecret(id: string, environment: string, link: string): Promise<Result<LinkFacts>>;
  unlinkSecret(id: string, environment: string): Promise<Result<SecretFacts>>;
  listLinks(environment: string): Promise<readonly LinkFacts[]>;
  listVariables(environment: string): Promise<readonly VariableFacts[]>;
  createVariable(variable: NewVariable): Promise<Result<VariableFacts>>;
  changeVariable(id: string, environment: string, change: VariableChange): Promise<Result<VariableFacts>>;
  deleteVariable(id: string, environment: string): Promise<Result<VariableFacts>>;
  secretsFor(wanted: SecretsWanted): Promise<SecretsFound>;
  /** Replaces what was put for this generation. Refused for an id that is reserved for no run. */
  putRunSecrets(secrets: RunSecretsPut): Promise<Result<null>>;
  /** Takes them back, where the run does not begin with them. */
  dropRunSecrets(run: string, generation: number): Promise<void>;
  /** From here on values are encrypted with `to` alone. */
  staleValues(wanted: ResealWanted): Promise<readonly StaleValue[]>;
  /** Puts new texts where the old ones still stand; how many did. */
  reseal(to: string, values: readonly ResealedValue[]): Promise<number>;
}
