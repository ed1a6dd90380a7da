/** Runs that are opened, on their way to a data set of the Hub: written to files beside, then sent. */
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import type { HubTarget } from "../../config/hub-name.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { configStatement } from "../../exports/card-statement.ts";
import { type HubPlace, HubClient } from "../../hub/hub-client.ts";
import { configPath, type Pushed, type PushRun, pushRuns, shardOf } from "../../hub/push.ts";
import type { PushFile } from "../../hub/push-file.ts";
import { freshCard, runSection } from "../../hub/pushed-card.ts";
import { whoAmI } from "../../hub/repository.ts";
import { configName, defaultName } from "../../hub/target.ts";
import { thousands } from "../../report/text/format.ts";
import { ExportFolder } from "../exports/export-folder.ts";
import type { OpenedRun } from "../exports/opened-run.ts";
import { type WrittenRows, writeRows } from "../exports/write-rows.ts";
import { CliError, reasonOf, systemCode, usageError } from "../terminal/cli-error.ts";

export interface HubPush {
  readonly target: HubTarget;
  readonly visibility: "private" | "public";
  /** Of the one run; null = named after it. */
  readonly config: string | null;
  readonly tell: (line: string) => void;
}

/** Throws a `CliError` that says what to do next. */
export async function pushOpened(place: HubPlace, runs: readonly OpenedRun[], push: HubPush): Promise<Pushed> {
  const [first] = runs;
  if (first === undefined) throw usageError("there is no run to push");
  const configs = configsOf(runs, push.config);
  const room = roomFor();
  // An end by a signal runs no `finally`.
  const clear = (): void => rmSync(room, { recursive: true, force: true });
  process.once("exit", clear);
  try {
    const client = new HubClient(place);
    const id = `${push.target.owner ?? (await whoAmI(client))}/${push.target.name ?? defaultName(first.facts)}`;
    const pushed: PushRun[] = [];
    for (const [at, run] of runs.entries()) {
      const config = configs[at] ?? "";
      const path = join(room, String(at));
      const folder = new ExportFolder(path, "set TMPDIR to a folder with more room");
      let written: WrittenRows | null = null;
      await folder.whole(async () => {
        written = await writeRows(folder, [run], "parquet");
      });
      pushed.push(pushRunOf(id, config, run, path, written));
    }
    const summary = `${runs.length === 1 ? `Rows of ${configs[0]}` : `Rows of ${thousands(runs.length)} runs`}, by Edgewise`;
    const card = freshCard(runs.map(({ facts }) => facts.env_id));
    const outcome = await pushRuns(client, { id, visibility: push.visibility, runs: pushed, card, summary, tell: push.tell });
    if (outcome === null) throw new Error("a push without an end in time was broken off");
    return outcome;
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error;
    throw new CliError(error.message, { hints: error.hint === undefined ? [] : [error.hint], cause: error });
  } finally {
    process.removeListener("exit", clear);
    clear();
  }
}

function pushRunOf(id: string, config: string, run: OpenedRun, path: string, written: WrittenRows | null): PushRun {
  const [told] = written?.runs ?? [];
  if (written === null || told === undefined) throw new Error("nothing was written");
  const files = written.files.map(
    ({ path: shard, bytes, sha256 }): PushFile => ({
      ...{ path: shardOf(config, shard), size: bytes, sha256 },
      read: async (offset, length) =>
        length === 0
          ? new Uint8Array(0)
          : (Readable.toWeb(createReadStream(join(path, shard), { start: offset, end: offset + length - 1 })) as ReadableStream<Uint8Array>),
    }),
  );
  const stated = written.files.map((file) => ({ ...file, path: shardOf(config, file.path) }));
  const statement = configStatement(config, { runs: [told], metrics: written.metrics, files: stated });
  return { config, run: run.facts.run_id, path: configPath(config), section: runSection(id, config, told, run.notes), statement, files };
}

/** A folder that was not written by us has its own name for what it is. */
function configsOf(runs: readonly OpenedRun[], wanted: string | null): readonly string[] {
  if (wanted !== null && runs.length > 1) throw usageError(`--config names one run, and there are ${runs.length}`, "Leave it out, or push them one by one.");
  const configs = runs.map((run) => wanted ?? configName(run.facts, run.facts.run_id ?? basename(run.name)));
  const twice = configs.find((config, at) => configs.indexOf(config) !== at);
  if (twice !== undefined) throw usageError(`two of the runs would be config ${twice}`, "Push them one by one, each with a --config NAME of its own.");
  return configs;
}

function roomFor(): string {
  try {
    return mkdtempSync(join(tmpdir(), "edgewise-push-"));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    throw new CliError(`the rows cannot be written to ${tmpdir()} on their way: ${reasonOf(error)}`, {
      hints: ["Set TMPDIR to a folder with room."],
      cause: error,
    });
  }
}
