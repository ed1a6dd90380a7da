/** `edgewise prune`: state of runs that are finished and saved elsewhere. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ListedEvaluation } from "../connection/api-types.ts";
import { CliError, EXIT, type ExitCode, systemCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";
import { explain } from "../service/explain.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { readPosition } from "../results/results-folder.ts";
import { openService } from "../service/open-service.ts";
import { statusOf } from "./eval-list.ts";
import { forgetFolder, rememberedFolder } from "../state/state-folder.ts";

const PAGE = 200;
/** Rows and files of a removed run go in the background; what is freed is measured when nothing has changed for a moment. */
const SHRINK_MS = 10_000;

export async function prune(command: CommandContext): Promise<ExitCode> {
  const { terminal, env } = command;
  if (env.EDGEWISE_URL) throw new CliError("prune works on the state of this machine; unset EDGEWISE_URL", { exitCode: EXIT.usage });
  const service = await openService({ ...command, command: "edgewise prune", port: 0, keyNames: [], attended: false, idle: true, onCrash: () => undefined });
  const folder = service.stateFolder ?? "";
  try {
    const before = bytesIn(folder);
    const removed: string[] = [];
    for (const run of await allRuns(service.client)) {
      const reason = reasonToKeep(run, rememberedFolder(folder, run.evaluation_id));
      const name = `${run.evaluation_id} (${run.metadata.env_id}, ${run.metadata.model}, ${statusOf(run)})`;
      if (reason !== null) {
        terminal.print(`kept    ${name}: ${reason}`);
        continue;
      }
      await service.client.deleteRun(run.evaluation_id);
      forgetFolder(folder, run.evaluation_id);
      removed.push(run.evaluation_id);
      terminal.print(`removed ${name}`);
    }
    const after = removed.length === 0 ? before : await shrunk(folder);
    terminal.print(`${removed.length} ${removed.length === 1 ? "run" : "runs"} removed, ${megabytes(Math.max(0, before - after))} freed.`);
    return EXIT.completed;
  } catch (error) {
    throw explain(error, { service, env, wish: null });
  } finally {
    await service.close();
  }
}

/** The whole list first: it is ordered, and shrinks while runs are removed. */
async function allRuns(client: ServiceClient): Promise<readonly ListedEvaluation[]> {
  const runs: ListedEvaluation[] = [];
  for (;;) {
    const page = await client.runs(runs.length, PAGE);
    runs.push(...page.evaluations);
    if (page.evaluations.length < PAGE) return runs;
  }
}

/** Null when nothing would be lost. */
export function reasonToKeep(
  { evaluation_id, edgewise }: Pick<ListedEvaluation, "evaluation_id"> & { readonly edgewise: Pick<ListedEvaluation["edgewise"], "settled"> },
  results: string | null,
): string | null {
  if (!edgewise.settled) return "it is not finished";
  if (results === null) return "it has no results folder on this machine";
  const position = readPosition(results);
  if (position?.run_id !== evaluation_id || !position.final) return `its results folder ${results} is not complete`;
  const sizes = ["results.jsonl", "metadata.json"].map((name) => statSync(join(results, name), { throwIfNoEntry: false })?.size);
  return sizes[0] === position.bytes && sizes[1] !== undefined ? null : `its results folder ${results} was changed`;
}

async function shrunk(folder: string): Promise<number> {
  let bytes = bytesIn(folder);
  for (let same = 0, deadline = performance.now() + SHRINK_MS; same < 4 && performance.now() < deadline; ) {
    await sleep(250);
    const now = bytesIn(folder);
    same = now === bytes ? same + 1 : 0;
    bytes = now;
  }
  return bytes;
}

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true })) {
    try {
      bytes += statSync(join(folder, String(name))).size;
    } catch (error) {
      // Removed while it was being counted.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
  return bytes;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
