/** `edgewise import PATH…`: logs of other programs as results folders. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, statSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { runFolder } from "../../../r2-layout/keys.ts";
import { ImportError } from "../../imports/logs/import-error.ts";
import type { SourceDigest } from "../../imports/logs/imported-metadata.ts";
import type { ImportedRun, ImportFormat } from "../../imports/logs/imported-run.ts";
import { thousands } from "../../report/text/format.ts";
import { singleLine } from "../../report/text/printable.ts";
import { sparingMemory } from "../exports/sparing-memory.ts";
import { pushToService } from "../push/to-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { findLogs } from "./find-logs.ts";
import type { FoundLog } from "./open-log.ts";
import { writeRun } from "./write-run.ts";

export interface ImportWish {
  readonly named: readonly string[];
  /** Null: by what is in the files. */
  readonly format: ImportFormat | null;
  /** Base of the results, as of `eval run`; null: `./outputs`. */
  readonly folder: string | null;
  /** Whether the folders are handed in to the service. */
  readonly push: boolean;
}

export async function importRuns(context: CommandContext, { named, format, folder, push }: ImportWish): Promise<ExitCode> {
  const { cwd, terminal } = context;
  sparingMemory();
  const logs: FoundLog[] = [];
  let failed = 0;
  const fail = (error: unknown): void => {
    if (!(error instanceof ImportError)) throw error;
    failed += 1;
    terminal.tell(`error: ${singleLine(error.message)}`);
  };
  for (const each of named) {
    try {
      const found = await findLogs(cwd, each, format);
      logs.push(...found.logs);
      for (const reason of found.skipped) terminal.tell(`skipped: ${singleLine(reason)}`);
    } catch (error) {
      fail(error);
    }
  }
  const base = resolve(cwd, folder ?? "outputs");
  const folders: string[] = [];
  for (const log of logs) {
    try {
      const sources = await digestsOf(log.files);
      await log.withRuns(async (runs) => {
        for (const run of runs) folders.push(await importRun(context, { run, log, sources, base }));
      });
    } catch (error) {
      fail(error);
    }
  }
  if (failed > 0 && logs.length + failed > 1) terminal.tell(`${failed} of ${Math.max(logs.length, failed)} could not be imported`);
  const pushed = push && folders.length > 0 ? await pushToService(context, [...new Set(folders)], { isPublic: false, config: null }) : EXIT.completed;
  return failed === 0 ? pushed : EXIT.failed;
}

interface Import {
  readonly run: ImportedRun;
  readonly log: FoundLog;
  readonly sources: readonly SourceDigest[];
  readonly base: string;
}

/** Its folder, as it is shown. */
async function importRun({ cwd, terminal }: CommandContext, { run, log, sources, base }: Import): Promise<string> {
  const runId = idOf(run, sources);
  const path = join(base, "evals", folderOf(run, runId));
  const shown = relative(cwd, path).startsWith("..") ? path : relative(cwd, path);
  if (existsSync(join(path, "metadata.json"))) {
    terminal.tell(`${log.name}: imported before; remove the folder to import it again`);
  } else {
    const { aggregates, examples, notes } = await writeRun(path, run, { runId, sources });
    const reward = aggregates.rollouts === 0 ? "" : `, reward ${aggregates.avg_reward.toFixed(3)}`;
    const errors = aggregates.errored_rollouts === 0 ? "" : `, ${thousands(aggregates.errored_rollouts)} with an error`;
    terminal.tell(
      singleLine(
        `${log.name}: ${run.tool.name} ${run.envId} (${run.model}), ${thousands(aggregates.rollouts)} rollouts of ${thousands(examples)} examples${reward}${errors}`,
      ),
    );
    for (const note of notes) terminal.tell(`  note: ${singleLine(note)}`);
  }
  terminal.print(`Imported: ${shown}`);
  return shown;
}

/** The same log has the same id, wherever it lies: importing it twice makes one folder. */
function idOf(run: ImportedRun, sources: readonly SourceDigest[]): string {
  const hash = createHash("sha256");
  for (const part of [run.format, run.key, run.envId, run.model, ...sources.map(({ sha256 }) => sha256).sort()]) hash.update(`${part}\n`);
  return hash.digest("hex").slice(0, 8);
}

/** Of a name that a file system takes beside another one. */
const NAME_CHARS = 100;

/** Names of another program need not be pathName for a path. */
function folderOf(run: ImportedRun, runId: string): string {
  const pathName = (name: string): string => name.replaceAll(/[^\w.@:+/-]+/g, "-").slice(0, NAME_CHARS);
  try {
    return runFolder(pathName(run.envId), pathName(run.model), runId);
  } catch (error) {
    // Parts that lead out of the folder.
    if (!(error instanceof RangeError)) throw error;
    const flat = (name: string): string =>
      pathName(name)
        .replaceAll("/", "-")
        .replaceAll(/^[.-]+/g, "") || "run";
    return runFolder(flat(run.envId), flat(run.model), runId);
  }
}

async function digestsOf(files: readonly string[]): Promise<readonly SourceDigest[]> {
  const digests: SourceDigest[] = [];
  for (const file of files) {
    const hash = createHash("sha256");
    try {
      for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
    } catch (error) {
      throw new CliError(`${file} cannot be read`, { cause: error });
    }
    digests.push({ name: basename(file), bytes: statSync(file).size, sha256: hash.digest("hex") });
  }
  return digests;
}
