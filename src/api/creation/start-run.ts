import type { ImportSource } from "../../../durable-objects/run/control.ts";
import type { PushedFacts } from "../../pushed/pushed-facts.ts";
import { configKey } from "../../../r2-layout/keys.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { shownConfig } from "../../config/plan/shown-config.ts";
import type { Failure, Result } from "../../errors/result.ts";
import type { AppPorts } from "../app-ports.ts";
import { expectedFailure, logUnexpected } from "../errors.ts";

export interface Beginning {
  /** The folder that it goes on with. */
  readonly source: ImportSource | null;
  /** `max_concurrent` as it was asked for, where the config has less. */
  readonly loweredFrom?: number;
  /** Its rows come from elsewhere; absent = they are made here. */
  readonly pushed?: PushedFacts;
}

/**
 * Writes the config and creates the Run; null when it is there afterwards. On a failure nothing is left but the reservation. `mayExist`:
 * an earlier or simultaneous request with the same reservation may create it too.
 */
export async function startRun(ports: AppPorts, config: RunConfig, beginning: Beginning, mayExist: boolean): Promise<Failure | null> {
  const key = configKey(config.run_id);
  try {
    await ports.store.putText(key, `${JSON.stringify(shownConfig(config))}\n`);
  } catch (error) {
    logUnexpected("config.json", error);
    return { code: "storage_unavailable", message: "The run's config could not be stored; nothing was started.", hint: "Try again." };
  }
  const failure = await created(ports, config, beginning, mayExist);
  if (failure !== null) await ports.store.remove(key).catch((error: unknown) => logUnexpected("config.json", error));
  return failure;
}

/**
 * Null when the Run exists afterwards as ours. An answer may be lost though the Run was created, and of two requests with one
 * idempotency key only one creates it; so a refusal counts only when the Run says that it is not there, or is another's.
 */
async function created(ports: AppPorts, config: RunConfig, { source, loweredFrom, pushed }: Beginning, mayExist: boolean): Promise<Failure | null> {
  const lowered = { ...(loweredFrom === undefined ? {} : { lowered_from: loweredFrom }), ...(pushed === undefined ? {} : { pushed }) };
  const refusal = await attempt(() => ports.run(config.run_id).create({ config, boot: ports.facts.boot, import: source, ...lowered }));
  if (refusal === null) return null;
  const view = await ports.run(config.run_id).view();
  const ours = view !== null && (mayExist || canonicalJson(view.config) === canonicalJson(config));
  return ours ? null : refusal;
}

async function attempt(call: () => Promise<Result<unknown>>): Promise<Failure | null> {
  try {
    const result = await call();
    return result.ok ? null : result.error;
  } catch (error) {
    logUnexpected("create", error);
    return expectedFailure(error) ?? { code: "storage_unavailable", message: "The run could not be created.", hint: "Try again." };
  }
}
