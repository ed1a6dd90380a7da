import type { RunView } from "../../../durable-objects/run/control.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppPorts } from "../app-ports.ts";

/** Where the rows of a settled run are, and how many bytes. Throws `storage_unavailable` where they are missing. */
export async function resultsObject({ store }: Pick<AppPorts, "store">, view: RunView): Promise<{ readonly key: string; readonly size: number }> {
  const { env_id, model, run_id } = view.config;
  const key = outputKey(env_id, model, run_id, "results.jsonl");
  const size = await store.size(key);
  // A run that ended before its first row has no rows, which is what an empty file says.
  if (size === null && view.totals.rollouts > 0) throw new EdgewiseError("storage_unavailable", `The results of run ${run_id} are missing in storage.`);
  return { key, size: size ?? 0 };
}
