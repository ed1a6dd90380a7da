import type { RunConfig } from "../../config/plan/run-config.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { runSecretId } from "../../secrets/envelope.ts";
import type { AppPorts } from "../app-ports.ts";
import type { Failure } from "../../errors/result.ts";
import { expectedFailure, logUnexpected } from "../errors.ts";
import type { CreateBody } from "../schemas.ts";
import { sealerOf } from "./sealing.ts";

/** Secrets of one run: they are kept, encrypted, until it has settled. */
export type CustomSecrets = Readonly<Record<string, string>>;

/** Fields of a config: nothing where there are none. */
export const secretFields = (names: readonly string[], variables: Readonly<Record<string, string>>): Pick<RunConfig, "secrets" | "env_variables"> => ({
  ...(names.length === 0 ? {} : { secrets: names }),
  ...(Object.keys(variables).length === 0 ? {} : { env_variables: variables }),
});

/**
 * What keeps the secrets of runs, in a generation of theirs (the first one when it is not said); null = they are kept. That there is no master key is
 * thrown now, where nothing is reserved yet (`missing_key`).
 */
export async function keeperOf(
  ports: AppPorts,
  all: readonly CustomSecrets[],
): Promise<(run: string, custom: CustomSecrets, generation?: number) => Promise<Failure | null>> {
  if (all.every((custom) => Object.keys(custom).length === 0)) return async () => null;
  const seal = await sealerOf(ports);
  return async (run, custom, generation = 1) => {
    if (Object.keys(custom).length === 0) return null;
    const secrets = await Promise.all(Object.entries(custom).map(async ([name, value]) => ({ name, ...(await seal(runSecretId(run, name), value)) })));
    try {
      const put = await ports.registry.putRunSecrets({ run, generation, secrets });
      return put.ok ? null : put.error;
    } catch (thrown) {
      logUnexpected("secrets of a run", thrown);
      return (
        expectedFailure(thrown) ?? { code: "storage_unavailable", message: "The run's secrets could not be stored; nothing was started.", hint: "Try again." }
      );
    }
  };
}

/** Digest of a creation by which its repeats are known. It says nothing of values that somebody could try guesses against. */
export function digestOfCreation(text: string, body: CreateBody): Promise<string> {
  const { custom_secrets: custom = {} } = body.eval_config;
  if (Object.keys(custom).length === 0) return sha256Hex(text);
  return sha256Hex(canonicalJson({ ...body, eval_config: { ...body.eval_config, custom_secrets: Object.keys(custom) } }));
}
