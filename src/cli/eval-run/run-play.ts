/** One run of a command: started, watched to its end, and what is left of it in the folder. */
import { setTimeout as sleep } from "node:timers/promises";
import { OPTIONS } from "../../config/options/options.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { singleLine } from "../../report/text/printable.ts";
import { wrongAveragesText } from "../../report/statistics/wrong-averages.ts";
import type { CommonPart } from "../../endpoint-limits/common-limit.ts";
import type { Evaluation, RunState } from "../connection/api-types.ts";
import { checkDataset, describeDataset, type LocalDataset } from "../datasets/dataset-upload.ts";
import type { EarlyRows } from "./early-rows.ts";
import type { EvalWish } from "./wish/eval-wish.ts";
import { wishedDataset } from "./wish/wished-dataset.ts";
import { type FinalReport, reportOfFolder, reportOfRun } from "./final-report.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { Interrupted, type Interrupts } from "../terminal/interrupts.ts";
import { batchLines, type RunNames } from "./last-words.ts";
import { patiently } from "../connection/patience.ts";
import { namedFolder, rolloutsOfWhole } from "../results/resume-folder.ts";
import { outputBase, ResultsFolder, resultsFolderOf } from "../results/results-folder.ts";
import type { RunProgress } from "../display/runs-display.ts";
import type { Service } from "../service/service.ts";
import type { SharedService } from "../service/shared-service.ts";
import type { StartedRun } from "./wish/run-wish.ts";
import type { Preflight } from "./start/preflight.ts";
import { startRun } from "./start/start-run.ts";
import { damagedState } from "../state/state-damage.ts";
import { rememberedFolder, rememberFolder } from "../state/state-folder.ts";
import { RunWatch, unwrittenText } from "./watch-run.ts";

/** Time for finished rollouts to reach the store after Ctrl-C. */
const FLUSH_MS = 3000;

export interface PlayContext {
  readonly cwd: string;
  /** `KEY_VARS` of this command's environment. */
  readonly keyVars: string | undefined;
  /** The folder whose addresses the user has agreed to; null = none. */
  readonly agreed: string | null;
  /** Rows of folders that were read while the service started; absent = none were. */
  readonly early?: EarlyRows;
  /** Version of the environment in this installation; null when it has none of that name. */
  readonly envVersion: string | null;
  readonly service: SharedService;
  readonly interrupts: Interrupts;
  readonly signal: AbortSignal;
  readonly progress: RunProgress;
  /** Columns of the report. */
  readonly columns: number;
  /** Null: on a service elsewhere. */
  readonly preflight: Preflight | null;
}

/** Another command interrupted the run: it does not go on, wherever it is. */
export class Suspended extends Interrupted {}

/** A run that has ended, in order. */
export interface PlayedRun {
  readonly evaluation: Evaluation;
  /** Null where no rollout has finished. */
  readonly report: FinalReport | null;
  readonly completed: boolean;
}

/** Refuses what can be known to fail before a service is started for it. */
export function checkWish(wish: EvalWish, cwd: string, state: string | null): void {
  const { given } = wish;
  if (typeof given.resume === "string") namedFolder(given.resume, cwd, state);
  const file = wishedDataset(wish, cwd);
  if (file !== null) checkDataset(file);
}

/** The data sets in files of this machine that evaluations name, each file read once; null where one names none. */
export async function datasetsOf(wishes: readonly EvalWish[], cwd: string): Promise<readonly (LocalDataset | null)[]> {
  const files = wishes.map((wish) => wishedDataset(wish, cwd));
  const read = await Promise.all([...new Set(files)].map(async (file) => [file, file === null ? null : await describeDataset(file)] as const));
  const known = new Map(read);
  return files.map((file) => known.get(file) ?? null);
}

interface Work {
  readonly started: StartedRun;
  readonly watch: RunWatch;
  readonly folder: ResultsFolder | null;
}

export class RunPlay {
  readonly wish: EvalWish;
  readonly #context: PlayContext;
  #work: Work | null = null;
  #leaving: Promise<void> | null = null;

  constructor(wish: EvalWish, context: PlayContext) {
    this.wish = wish;
    this.#context = context;
  }

  /** Whether there is a run. */
  get begun(): boolean {
    return this.#work !== null;
  }

  /** Plays the run to its end. `part`: of the requests that all runs of the command have together; null = its own limit holds. */
  async play(dataset: LocalDataset | null, part: CommonPart | null): Promise<PlayedRun> {
    const { service, cwd, envVersion, interrupts, signal, progress, preflight, keyVars, agreed, early } = this.#context;
    const { envId, reference, replicas, rescore } = this.wish;
    const given = pushedByWhom(withPart(withDataset(this.wish.given, dataset), part));
    const { current } = service;
    const base = outputBase(cwd, envId, given);
    const wish = {
      ...{ envId, reference, given, replicas, rescore, dataset, base, cwd, keyVars, agreed, ...(early === undefined ? {} : { early }) },
      ...(part?.common_limit === undefined ? {} : { commonLimit: part.common_limit }),
      stateFolder: current.stateFolder,
      envVersion: current.role === "remote" ? null : envVersion,
      ...(preflight === null || given.no_preflight === true || rescore !== undefined
        ? {}
        : { preflight: (config: JsonObject, model: string) => preflight.check(config, model) }),
    };
    const started = await interrupts.during(startRun(current.client, wish, signal));
    const { evaluation_id } = started.evaluation;
    for (const line of announcement(started, given, this.wish.benchmark)) progress.note(line);
    const path = this.#folderOf(current, started, base);
    // What is owed is not known of a run that takes over a folder.
    const mayRest = started.how === "nothing owed" || (started.how === "resumed" && started.owed === null);
    const whole = mayRest ? await rolloutsOfWhole(path, given, started.how === "resumed", started.rows) : null;
    const folder = given.no_save ? null : this.#folderAt(current, started, path, whole !== null);
    const folderFailure = folder === null ? null : await this.#begin(folder);
    progress.started(started.evaluation, folder?.path ?? null);
    const watch = new RunWatch(current, {
      runId: evaluation_id,
      folder,
      folderFailure,
      point: { seq: started.after },
      importing: started.evaluation.edgewise.importing === true,
      whole,
      told: new Set(started.warnings),
      progress,
      verbose: given.verbose === true,
      signal,
      pollMs: given.hosted === true ? 1000 * (given.poll_interval ?? OPTIONS.poll_interval.default) : null,
      reopen: (lost) => service.instead(lost),
    });
    this.#work = { started, watch, folder };
    if (started.evaluation.eval_config.batch === true && started.how !== "nothing owed")
      for (const line of batchLines(this.names(), current)) progress.note(line);
    const end = await watch.untilEnd();
    if (end.suspended) throw new Suspended(`run ${evaluation_id} was interrupted by another command`);
    return await this.#finish(this.#work, end);
  }

  /** Of a run that there is. */
  names(): RunNames {
    if (this.#work === null) throw new Error("the run has not begun");
    const { started, watch, folder } = this.#work;
    return {
      environment: this.wish.named,
      given: this.wish.given,
      cwd: this.#context.cwd,
      runId: started.evaluation.evaluation_id,
      folder: folder?.path ?? null,
      saved: folder !== null && watch.folderFailure === null,
    };
  }

  /** Suspends a run of this machine, and brings the folder up to date. A run elsewhere is not this command's to end. Failures change nothing. */
  leave(): Promise<void> {
    this.#leaving ??= this.#work === null ? Promise.resolve() : this.#leave(this.#work);
    return this.#leaving;
  }

  async #leave({ started, watch, folder }: Work): Promise<void> {
    const { client, role } = watch.service;
    if (role !== "remote") await suspend(client, started.evaluation.evaluation_id);
    await watch.catchUp(role === "remote" ? AbortSignal.timeout(FLUSH_MS) : undefined);
    await folder?.close().catch(() => undefined);
  }

  #folderOf(service: Service, { evaluation, folder, how }: StartedRun, base: string): string {
    const { evaluation_id, metadata } = evaluation;
    const known = service.stateFolder === null ? null : rememberedFolder(service.stateFolder, evaluation_id);
    return folder ?? (how === "created" ? null : known) ?? resultsFolderOf(base, metadata.env_id, metadata.model, evaluation_id);
  }

  #folderAt(service: Service, { evaluation, how }: StartedRun, path: string, whole: boolean): ResultsFolder {
    const { evaluation_id } = evaluation;
    const remember = (): void => {
      if (service.stateFolder !== null) rememberFolder(service.stateFolder, evaluation_id, path);
    };
    return new ResultsFolder(path, evaluation_id, whole ? "leave" : how === "joined" ? "continue" : "rebuild", remember);
  }

  /** Takes the folder over. Gives why it cannot be written, which does not stop the run; it is tried again. */
  async #begin(folder: ResultsFolder): Promise<unknown> {
    try {
      await folder.begin();
      return null;
    } catch (error) {
      this.#context.progress.note(unwrittenText(folder.path, error));
      return error;
    }
  }

  /** Files and report of the settled run. */
  async #finish({ started, watch, folder }: Work, { failure }: RunState): Promise<PlayedRun> {
    const { client, stateFolder } = watch.service;
    const { columns } = this.#context;
    const runId = started.evaluation.evaluation_id;
    // There are no final files, and what can still be read of the rows is in the folder.
    if (failure?.code === "storage_damaged" && stateFolder !== null) throw damagedState(stateFolder, `run ${runId}: ${singleLine(failure.message)}`);
    await watch.finalise();
    return await patiently(async () => {
      const evaluation = await client.run(runId);
      const { edgewise, status } = evaluation;
      // What ended badly, and of which a resume can do nothing, has not become better by that.
      const completed = status === "COMPLETED" || (started.how === "nothing owed" && status !== "FAILED");
      if (edgewise.done_rollouts === 0) return { evaluation, completed, report: null };
      const kept = folder !== null && watch.folderFailure === null;
      const { abbreviated_summary: abbreviated = false, verbose = false, by } = this.wish.given;
      const rested = started.how === "nothing owed" || watch.rested;
      const rescoredFolder = this.wish.rescore?.folder ?? null;
      const style = { columns, abbreviated, verbose, by, wrongAverages: started.wrongAverages ?? [], rescoredFolder, rested };
      const report = kept ? reportOfFolder(evaluation, folder.path, style) : reportOfRun(evaluation, client, style);
      return { evaluation, completed, report: await report };
    }, watch.patience());
  }
}

/** The file is named by its digest, as the service knows it. */
export function withDataset(given: GivenOptions, dataset: LocalDataset | null): GivenOptions {
  return dataset === null ? given : { ...given, env_args: { ...given.env_args, dataset: `sha256:${dataset.digest}` } };
}

/** Rows that this command has in a folder it pushes itself; those of a run that is left to the service the service pushes. */
function pushedByWhom(given: GivenOptions): GivenOptions {
  if (given.hosted === true) return given;
  const { save_to_hf_hub: _, hf_hub_dataset_name: __, hf_hub_public: ___, ...rest } = given;
  return rest;
}

const withPart = (given: GivenOptions, part: CommonPart | null): GivenOptions => (part === null ? given : { ...given, max_concurrent: part.max_concurrent });

function announcement(
  { evaluation, how, owed, scores = 0, warnings, passedOver = null, wrongAverages = [], said = null }: StartedRun,
  { resume }: GivenOptions,
  benchmark?: string,
): readonly string[] {
  const { evaluation_id, metadata } = evaluation;
  const { env_id, model, base_url, rollouts_per_example, sampling_args } = metadata;
  const from = evaluation.edgewise.rescored_from;
  const what =
    from === undefined
      ? `${benchmark === undefined ? singleLine(env_id) : `benchmark ${singleLine(benchmark)}`} with ${singleLine(model)} at ${singleLine(base_url)}`
      : `${singleLine(env_id)} scores the rollouts of ${from.run_id === null ? "a folder" : `run ${singleLine(from.run_id)}`} again, made with ${singleLine(model)}`;
  const lines: string[] = said === null ? [] : [singleLine(said)];
  if (how === "created" && resume === true) {
    lines.push(`No unfinished run of these settings was found; this is a new one${passedOver ? ` (${singleLine(passedOver)})` : ""}.`);
  }
  if (how === "created") lines.push(`Run ${evaluation_id}: ${what}`);
  else if (how === "joined") lines.push(`Run ${evaluation_id} is working already; following it: ${what}`);
  else if (how === "nothing owed" && evaluation.status === "FAILED")
    lines.push(`Run ${evaluation_id} ended FAILED, and a resume can do nothing about that: ${what}`);
  else if (how === "nothing owed") lines.push(`Run ${evaluation_id} has nothing left to do: ${what}`);
  else lines.push(`Run ${evaluation_id} goes on${owed === null ? "" : ` (${owedText(owed - scores, scores)})`}: ${what}`);
  const wrong = wrongAveragesText(wrongAverages);
  if (wrong !== null) lines.push(`warning: ${wrong}`);
  for (const warning of warnings) lines.push(`warning: ${singleLine(warning)}`);
  const fixed = sampling_args.temperature === 0 ? "at temperature 0" : typeof sampling_args.seed === "number" ? "with a fixed seed" : null;
  if (how === "created" && from === undefined && rollouts_per_example > 1 && fixed !== null) {
    lines.push(`warning: ${fixed} the ${rollouts_per_example} rollouts of an example are likely to be the same answer; -r 1 costs less and says as much`);
  }
  return lines;
}

function owedText(rollouts: number, scores: number): string {
  if (scores === 0) return `${rollouts} rollouts to do`;
  return `${scores} rollouts to score again, ${rollouts === 0 ? "none" : rollouts} to generate`;
}

/** And waits a moment for what was finished to be stored. */
async function suspend(client: ServiceClient, runId: string): Promise<void> {
  try {
    const deadline = performance.now() + FLUSH_MS;
    await client.interruptRun(runId, FLUSH_MS);
    for (let state: RunState | null = null; performance.now() < deadline && state?.open_units !== 0; await sleep(100)) {
      state = (await client.run(runId, { timeoutMs: FLUSH_MS, retries: 0 })).edgewise;
    }
  } catch {
    // The run has ended meanwhile, or its service has: either way nothing more can be saved than what is there.
  }
}
