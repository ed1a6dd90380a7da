import type { JsonObject } from "../../config/plan/run-config.ts";
import type { ExecutorStore } from "../ports.ts";
import type { JobPurse } from "../spending/job-purse.ts";
import { requestLines } from "./asked-in.ts";

/** The most that these requests of a job can have cost together, in nano-dollars: their answers do not say what they took. Reads the job's requests once. */
export async function silentBounds(
  { store, runId, object }: { readonly store: Pick<ExecutorStore, "stream">; readonly runId: string; readonly object: string },
  silent: ReadonlySet<string>,
  model: string,
  purse: Pick<JobPurse, "boundOf">,
): Promise<number> {
  if (silent.size === 0) return 0;
  let sum = 0;
  for await (const line of requestLines(store, runId, object)) {
    // OpenAI's lines have a `body`, Anthropic's `params`.
    const { custom_id, body, params } = JSON.parse(line) as { custom_id: string; body?: JsonObject; params?: JsonObject };
    if (silent.has(custom_id)) sum += purse.boundOf({ model, body: body ?? params ?? {} }) ?? 0;
  }
  return sum;
}
