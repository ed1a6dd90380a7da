import { registryStub } from "../../../durable-objects/stubs.ts";
import { placesOf, type RunConfig } from "../../config/plan/run-config.ts";
import { type Env, masterKeysIn } from "../../env.ts";
import { lookUpSecret } from "../../config/endpoints/secrets.ts";
import { holdKey } from "../../errors/masking.ts";
import { orLater } from "../../errors/or-later.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { openSecrets, RunSecrets } from "../../secrets/run-secrets.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";

/**
 * The secrets that a run was created with, as they are now: one call of its team's Registry for a grant, and none for a run without. Throws
 * `missing_key` for those that are there no more, and passing while this executor does not have the master key that others do.
 */
export async function secretsOfGrant(env: Env, config: RunConfig, declared: readonly string[]): Promise<RunSecrets> {
  const names = config.secrets ?? [];
  const { secrets: sealed } = await registryStub(env, config.team).secretsFor({ environment: config.env_id, run: config.run_id, names });
  const wanted = sealed.filter(({ name }) => names.includes(name));
  const keys = orLater(await masterKeysIn(env));
  const secrets = new RunSecrets(orLater(await openSecrets(keys, config.team ?? DEFAULT_TEAM, wanted)), {
    declared,
    modelKeys: placesOf(config).map(({ api_key_var }) => api_key_var),
  });
  const missing = names.filter((name) => !secrets.has(name));
  if (missing.length === 0) return secrets;
  throw new EdgewiseError("missing_key", `The run was created with secrets that are there no more: ${missing.join(", ")}.`, {
    hint: "Create them again (`npx edgewise secret create`, `env secret create`), then resume the run.",
  });
}

/** The key that a provider of sandboxes on `host` is called with: a secret of the run's team, else a variable of the service; null = neither is set. */
export async function sandboxKey(env: Env, config: RunConfig, name: string, host: string): Promise<string | null> {
  const { secrets: sealed } = await registryStub(env, config.team).secretsFor({ environment: config.env_id, run: config.run_id, names: [name] });
  const wanted = sealed.filter((secret) => secret.name === name);
  if (wanted.length === 0) return lookUpSecret(env, name);
  const opened = orLater(await openSecrets(orLater(await masterKeysIn(env)), config.team ?? DEFAULT_TEAM, wanted));
  const key = new RunSecrets(opened, { declared: [], modelKeys: [] }).sandboxKey(name, host);
  if (key !== null) holdKey(key);
  return key ?? lookUpSecret(env, name);
}
