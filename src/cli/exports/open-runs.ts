/** What `export` and `verify` are given: run ids, results folders, and folders with some in them. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isRunId } from "../../../r2-layout/keys.ts";
import { isBaselineName } from "../../config/baseline-name.ts";
import { askService, hasState } from "../runs/ask-service.ts";
import { runOfBaseline } from "../runs/baselines.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { Service } from "../service/service.ts";
import { usageError } from "../terminal/cli-error.ts";
import { findRuns } from "../view/find-runs.ts";
import { findExports } from "./find-exports.ts";
import { openExport } from "./open-export.ts";
import { openFolder } from "./open-folder.ts";
import { openServiceRun } from "./open-run.ts";
import type { OpenedRun } from "./opened-run.ts";

/**
 * Does `work` with the runs that were named, in their order; the service is open meanwhile where one of them is its. `command`: of whom, for others who wait.
 * `baselines`: names that the service keeps for runs are good too; `exports`: exports are.
 */
export async function withRuns<T>(
  context: CommandContext,
  command: string,
  {
    named,
    partial,
    baselines = false,
    exports = false,
  }: { readonly named: readonly string[]; readonly partial: boolean; readonly baselines?: boolean; readonly exports?: boolean },
  work: (runs: readonly OpenedRun[]) => Promise<T>,
): Promise<T> {
  const { cwd } = context;
  // A folder may be called as its run is.
  const places = named.map((name) => ({ name, path: existsSync(resolve(cwd, name)) ? resolve(cwd, name) : null }));
  for (const { name, path } of places)
    if (path === null && !isRunId(name) && !(baselines && isBaselineName(name) && hasState(context)))
      throw usageError(
        `${JSON.stringify(name)} is neither a run id nor a folder that is there`,
        "A run id has eight hex characters: npx edgewise eval list. Results folders: npx edgewise eval view",
      );
  const open = async (service: Service | null): Promise<T> => {
    const runs: OpenedRun[] = [];
    for (const { name, path } of places) {
      if (path !== null) runs.push(...(await openPlace(cwd, name, partial, exports)));
      else if (service === null) continue;
      else if (isRunId(name)) runs.push(await openServiceRun(service, name));
      else {
        const run = await openServiceRun(service, await runOfBaseline(service.client, name));
        runs.push({ ...run, name: `${name} (${run.name})` });
      }
    }
    return await work(runs);
  };
  return places.some(({ path }) => path === null) ? await askService(context, command, open) : await open(null);
}

async function openPlace(cwd: string, name: string, partial: boolean, exports: boolean): Promise<readonly OpenedRun[]> {
  const found = findRuns(cwd, { path: name, envDir: "", outputsDir: "" });
  const exported = found.length === 0 ? findExports(cwd, name) : [];
  if (exported.length > 0 && exports) return exported.flatMap(openExport);
  if (exported.length > 0)
    throw usageError(
      `${name} is an export, and this command takes the run itself: an export has its rows in columns, and not all settings`,
      "Name the run's id or results folder. `verify`, `compare`, `gate` and `eval report` read exports.",
    );
  if (found.length === 0)
    throw usageError(`there is no results folder in ${name}`, "A results folder has a metadata.json: npx edgewise eval view lists those that there are.");
  const runs: OpenedRun[] = [];
  for (const { path, shownPath } of found) runs.push(await openFolder(path, shownPath, partial));
  return runs;
}
