/** The rows of folders that a command will take over as far as anybody can tell before its service is up, which starts meanwhile. */
import { join } from "node:path";
import { namedFolder } from "../results/resume-folder.ts";
import { indexRows, type RowIndex } from "../results/row-index.ts";
import { rememberedFolder, stateFolder } from "../state/state-folder.ts";
import type { EvalWish } from "./wish/eval-wish.ts";

/** By the path of the folder. What cannot be read is said when it is asked for. */
export type EarlyRows = ReadonlyMap<string, Promise<RowIndex>>;

/** Begins to read each folder that `-R` names and whose run the state of this machine does not know, or is to be without. */
export function readEarly(wishes: readonly EvalWish[], cwd: string, env: NodeJS.ProcessEnv): EarlyRows {
  const reading = new Map<string, Promise<RowIndex>>();
  // What a service elsewhere knows, only that can say.
  if (env.EDGEWISE_URL) return reading;
  const state = stateFolder(env, cwd);
  for (const { given } of wishes) {
    const found = typeof given.resume === "string" ? namedFolder(given.resume, cwd) : null;
    if (found === null || !("path" in found) || found.metadata === null || reading.has(found.path)) continue;
    if (given.fresh_state !== true && found.runId !== null && rememberedFolder(state, found.runId) !== null) continue;
    const rows = rowsOfFolder(found.path, found.metadata);
    rows.catch(() => undefined);
    reading.set(found.path, rows);
  }
  return reading;
}

/** Averages are looked at in folders of the Python library: one of ours that a crash left behind is a second or two behind its rows, which is no mistake. */
export const rowsOfFolder = (
  path: string,
  { rollouts_per_example, edgewise }: { readonly rollouts_per_example: number; readonly edgewise: object | null },
): Promise<RowIndex> => indexRows(join(path, "results.jsonl"), rollouts_per_example, edgewise === null);
