import type { RunView } from "../../../durable-objects/run/control.ts";
import type { Replica } from "../../config/plan/run-config.ts";
import { EdgewiseError, type Result } from "../../errors/result.ts";
import type { RunSecrets } from "../../secrets/run-secrets.ts";
import type { AppPorts } from "../app-ports.ts";
import type { ResumeBody } from "../schemas.ts";
import type { CustomSecrets } from "./custom-secrets.ts";
import { declaredBy, type SecretsOfRun, secretsOfRun } from "./secrets-of-run.ts";

/** What the run may have when it goes on. */
export async function secretsOfResume(
  ports: AppPorts,
  { config }: RunView,
  { custom_secrets: custom = {}, expect }: ResumeBody,
  places: readonly Replica[],
): Promise<SecretsOfRun> {
  return secretsOfRun(ports, {
    environment: config.env_id,
    run: config.run_id,
    declared: declaredBy(ports, (await ports.offered(config)) ?? {}),
    modelKeys: places.map((place) => place.api_key_var),
    named: [config.env_args, config.extra_env_kwargs, expect.env_args, expect.extra_env_kwargs],
    custom,
  });
}

/** Those of the run itself are gone with its end: they are given again. */
export function mustHave(names: readonly string[], secrets: RunSecrets): void {
  const missing = names.filter((name) => !secrets.has(name));
  if (missing.length === 0) return;
  throw new EdgewiseError("missing_key", `The run has had secrets that are there no more: ${missing.join(", ")}.`, {
    hint: "Those of a run are removed when it has settled: give them again (`--custom-secrets`, custom_secrets); create others anew (`npx edgewise secret create`).",
  });
}

/** A resume that is refused leaves nothing behind. */
export async function orTakenBack<T>(
  { registry }: AppPorts,
  { config, generation }: RunView,
  custom: CustomSecrets,
  resumed: Promise<Result<T>>,
): Promise<Result<T>> {
  const result = await resumed;
  if (!result.ok && Object.keys(custom).length > 0) await registry.dropRunSecrets(config.run_id, generation + 1);
  return result;
}
