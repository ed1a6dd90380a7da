/**
 * Whether a results folder or the service is further, where both have rows of a run: a copy of the state may have been put back, or the folder gone
 * on with elsewhere. What is further is gone on with, and nothing that only one of them has is lost.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { isInfrastructureError } from "../../../errors/codes.ts";
import { errorCodeOf } from "../../../metrics/row-summary.ts";
import { readForeignRow } from "../../../rollouts/rows/foreign-row.ts";
import { resumeCommand } from "../../command-line/typed-commands.ts";
import type { Evaluation } from "../../connection/api-types.ts";
import { chunksOf, type ServiceClient } from "../../connection/http-client.ts";
import { readLines } from "../../disk/read-lines.ts";
import type { FoundFolder } from "../../results/resume-folder.ts";
import { type Position, readPosition } from "../../results/results-folder.ts";
import { CliError } from "../../terminal/cli-error.ts";

export interface Further {
  readonly which: "folder" | "service";
  /** What to say of it; null where the folder is what this run wrote there. */
  readonly said: string | null;
}

/** Rows that are read at once. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Throws a usage error where each has rollouts that the other lacks. Asks for all rows only where the folder does not prove to be of this history. */
export async function furtherOf(client: ServiceClient, { evaluation_id: runId, metadata }: Evaluation, folder: FoundFolder): Promise<Further> {
  const { path } = folder;
  const results = join(path, "results.jsonl");
  const size = statSync(results, { throwIfNoEntry: false })?.size ?? null;
  if (size === null) {
    return { which: "service", said: `${results} is missing: it is written again from what the service has of run ${runId}, as -R ${runId} would do.` };
  }
  if (await isOfThisHistory(client, runId, readPosition(path), size)) return { which: "service", said: null };
  const here = await rolloutsIn(readLines(results));
  if (here.size === 0) return { which: "service", said: null };
  const there = await rolloutsIn(readLines(rowsOf(client, runId)));
  const onlyHere = lackedBy(there, here);
  const onlyThere = lackedBy(here, there);
  if (onlyHere === 0) {
    const said = `${path} has ${here.size} rollouts of run ${runId}, and the service ${there.size}, those among them: the folder is written again from the service.`;
    return { which: "service", said: onlyThere === 0 ? null : said };
  }
  if (onlyThere === 0 && folder.metadata !== null) {
    const said = `${path} has ${here.size} rollouts, and the service ${there.size} of run ${runId}, those among them: the folder is gone on with, as a new run; run ${runId} stays as it is.`;
    return { which: "folder", said };
  }
  const lack = folder.metadata === null ? "; it has no metadata.json, so that it cannot be gone on with by itself" : "";
  throw new CliError(
    `-R/--resume: ${path} and the service disagree on run ${runId}: ${onlyHere} rollouts are in the folder alone, ${onlyThere} in the service alone${lack}`,
    {
      exitCode: 2,
      hints: [
        `Nothing was changed. To go on with the service's, move the folder elsewhere, and type ${resumeCommand(metadata.env_id, runId, undefined)}`,
        ...(lack === "" ? ["To go on with the folder's, add --fresh-state to this command: the state is moved away, and nothing of it deleted."] : []),
      ],
    },
  );
}

/** Whether the service has the very commit up to which the folder was written: then it has all that is in the folder. */
async function isOfThisHistory(client: ServiceClient, runId: string, written: Position | null, size: number): Promise<boolean> {
  if (written === null || written.run_id !== runId || written.mark === undefined) return false;
  if (written.final ? size !== written.bytes : size < written.bytes) return false;
  return (await client.markAt(runId, written.seq)) === written.mark;
}

/** How many rollouts of each example have a row that a resume would keep, by `example/rollout`; rows of some shapes do not number theirs. */
async function rolloutsIn(lines: AsyncIterable<string>): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  const seen = new Map<number, number>();
  for await (const line of lines) {
    let row: Readonly<Record<string, unknown>>;
    try {
      row = readForeignRow(line).value;
    } catch {
      // A crash cut it; what lies behind it is nobody's.
      break;
    }
    const example = Number(row.example_id);
    const place = seen.get(example) ?? 0;
    seen.set(example, place + 1);
    const code = errorCodeOf(row.error);
    if (code === null || !isInfrastructureError(code)) kept.add(`${example}/${typeof row.rollout_index === "number" ? row.rollout_index : place}`);
  }
  return kept;
}

const lackedBy = (some: ReadonlySet<string>, others: ReadonlySet<string>): number => {
  let lacking = 0;
  for (const each of others) if (!some.has(each)) lacking += 1;
  return lacking;
};

async function* rowsOf(client: ServiceClient, runId: string): AsyncGenerator<Uint8Array> {
  for (let [after, more] = [0, true]; more; ) {
    const response = await client.rows(runId, after, PAGE_BYTES);
    after = Number(response.headers.get("x-edgewise-next") ?? Number.NaN);
    if (!Number.isSafeInteger(after)) throw new Error("the service did not say where its rows end (X-Edgewise-Next)");
    more = response.headers.get("x-edgewise-more") === "1";
    yield* chunksOf(response);
  }
}
