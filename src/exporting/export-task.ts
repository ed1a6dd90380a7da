import type { Env } from "../env.ts";
import { count } from "../operations.ts";

/** Name of the queue, in wrangler.toml and locally. */
export const EXPORTS_QUEUE = "exports";

/** What a message of the queue says: go on with the export of a run. Safe to repeat; one that is lost is sent again by whoever asks for the export. */
export interface ExportTask {
  readonly protocol: 1;
  /** Name of the run's object. */
  readonly export_of: string;
}

/** A deployment whose wrangler.toml is of before has none. */
export const exportsQueue = (env: Partial<Env>): Queue | undefined => env.EXPORTS;

export async function sendExportTask(env: Env, run: string): Promise<void> {
  count("queue_operations");
  await exportsQueue(env)?.send({ protocol: 1, export_of: run } satisfies ExportTask);
}
