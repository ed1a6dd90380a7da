/** `edgewise eval run ENV`: one run from the command line to its report. */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../config/run-config.ts";
import { singleLine } from "../report/printable.ts";
import type { RunState } from "./api-types.ts";
import { EXIT, type ExitCode, reasonOf, usageError } from "./cli-error.ts";
import { CrashLoop } from "./crash-loop.ts";
import { checkDataset, datasetPath, describeDataset, type LocalDataset } from "./datasets.ts";
import { watchDisk } from "./disk-watch.ts";
import type { WantedEnvironment } from "./environments/local-environments.ts";
import { environmentHints, explain } from "./explain.ts";
import { reportOfFolder, reportOfRun } from "./final-report.ts";
import type { GivenOptions } from "./flags.ts";
import { type ServiceClient, ServiceUnreachable } from "./http-client.ts";
import { Interrupted, Interrupts } from "./interrupts.ts";
import { detachedLines, failureLines, type RunNames, resultLines, withResume } from "./last-words.ts";
import { patiently } from "./patience.ts";
import { Progress } from "./progress.ts";
import { namedFolder } from "./resume-folder.ts";
import { outputBase, ResultsFolder, resultsFolderOf } from "./results-folder.ts";
import { openService, type Service, type Surroundings } from "./service.ts";
import { type StartedRun, startRun } from "./start-run.ts";
import { rememberFolder, rememberedFolder } from "./state/state-folder.ts";
import type { Terminal } from "./terminal.ts";
import { RunWatch } from "./watch-run.ts";

/** Time for finished rollouts to reach the store after Ctrl-C. */
const FLUSH_MS = 3000;

interface Command extends Surroundings, WantedEnvironment {
  readonly given: GivenOptions;
  readonly terminal: Terminal;
}

/** A run in work, as far as an interruption has to know it. */
interface Work {
  readonly started: StartedRun;
  readonly watch: RunWatch;
  readonly folder: ResultsFolder | null;
}

/** Another command interrupted the run: it does not go on, wherever it is. */
class Suspended extends Interrupted {}

export async function evalRun(command: Command): Promise<ExitCode> {
  const interrupts = new Interrupts();
  const crashes = new CrashLoop();
  let service: Service | null = null;
  let work: Work | null = null;
  let progress: Progress | null = null;
  let unwatchDisk = (): void => undefined;
  try {
    const { envId, environments, given, cwd, env, terminal } = command;
    checkEnvironment(command);
    if (typeof given.resume === "string") namedFolder(given.resume, cwd);
    const file = datasetPath((given.env_args ?? {}) as JsonObject, cwd);
    if (file !== null) checkDataset(file);
    const onCrash = (): void => {
      const line = crashes.note();
      if (progress === null) terminal.tell(line);
      else progress.note(line);
    };
    const open = (): Promise<Service> => {
      const keyNames = [given.api_key_var ?? "PRIME_API_KEY"];
      return openService({ ...command, command: `edgewise eval run ${command.named}`, port: 0, keyNames, attended: true, worker: command.worker, onCrash });
    };
    const [opened, dataset] = await both(open(), file === null ? null : describeDataset(file));
    service = opened;
    interrupts.signal.throwIfAborted();
    const signal = AbortSignal.any([interrupts.signal, crashes.signal]);
    const wish = {
      envId,
      reference: command.reference,
      given: withDataset(given, dataset),
      dataset,
      base: outputBase(cwd, envId, given),
      cwd,
      envVersion: service.role === "remote" ? null : (environments.find(({ id }) => id === envId)?.version ?? null),
    };
    const started = await interrupts.during(startRun(service.client, wish, signal));
    announce(started, command);
    const { evaluation } = started;
    const folder = given.no_save ? null : await openFolder(service, started, wish.base, terminal);
    progress = new Progress({
      screen: terminal.errors,
      bar: terminal.errors.isTTY === true && given.disable_tui !== true && env.TERM !== "dumb",
      plainText: Boolean(env.NO_COLOR),
      now: () => performance.now(),
      clock: Date.now,
    });
    progress.start();
    const shown = progress;
    if (service.stateFolder !== null) unwatchDisk = watchDisk(service.stateFolder, (line) => shown.note(line));
    const watch = new RunWatch(service, { runId: evaluation.evaluation_id, folder, point: { seq: started.after }, progress, signal, reopen: open });
    work = { started, watch, folder };
    const end = await watch.untilEnd();
    service = watch.service;
    progress.end();
    if (end.suspended) throw new Suspended(`run ${evaluation.evaluation_id} was interrupted by another command`);
    return await finish(command, work);
  } catch (error) {
    service = work?.watch.service ?? service;
    progress?.end();
    if (error instanceof Interrupted) return await interrupted(command, service, work, error);
    if (work !== null) await leaveRun(work);
    if (service === null) throw error;
    const explained = explainIn(service, command, error);
    throw work === null ? explained : withResume(explained, namesOf(command, work), service);
  } finally {
    unwatchDisk();
    service = work?.watch.service ?? service;
    if (service !== null) await leave(service, command.terminal, interrupts);
    interrupts.dispose();
  }
}

/** Waits for both, and closes the service when the other fails. */
async function both(opening: Promise<Service>, describing: Promise<LocalDataset> | null): Promise<readonly [Service, LocalDataset | null]> {
  const [service, dataset] = await Promise.allSettled([opening, describing]);
  if (dataset.status === "rejected") {
    if (service.status === "fulfilled") await service.value.close();
    throw dataset.reason;
  }
  if (service.status === "rejected") throw service.reason;
  return [service.value, dataset.value];
}

/** On this machine the environments are those of this installation, so a misspelt one need not wait for the service to start. */
function checkEnvironment({ envId, environments, env }: Command): void {
  const ids = environments.map(({ id }) => id);
  if (env.EDGEWISE_URL || ids.includes(envId)) return;
  throw usageError(`there is no environment ${JSON.stringify(envId)}`, ...environmentHints({ envId, environments: ids }));
}

function withDataset(given: GivenOptions, dataset: LocalDataset | null): GivenOptions {
  return dataset === null ? given : { ...given, env_args: { ...given.env_args, dataset: `sha256:${dataset.digest}` } };
}

function announce({ evaluation, how, owed, warnings }: StartedRun, { given, terminal }: Command): void {
  const { evaluation_id, metadata } = evaluation;
  const { env_id, model, base_url, rollouts_per_example, sampling_args } = metadata;
  const what = `${singleLine(env_id)} with ${singleLine(model)} at ${singleLine(base_url)}`;
  if (how === "created" && given.resume === true) terminal.tell("No unfinished run of these settings was found; this is a new one.");
  if (how === "created") terminal.tell(`Run ${evaluation_id}: ${what}`);
  else if (how === "joined") terminal.tell(`Run ${evaluation_id} is working already; following it: ${what}`);
  else if (how === "nothing owed") terminal.tell(`Run ${evaluation_id} has nothing left to do: ${what}`);
  else terminal.tell(`Run ${evaluation_id} goes on${owed === null ? "" : ` (${owed} rollouts to do)`}: ${what}`);
  for (const warning of warnings) terminal.tell(`warning: ${singleLine(warning)}`);
  const fixed = sampling_args.temperature === 0 ? "at temperature 0" : typeof sampling_args.seed === "number" ? "with a fixed seed" : null;
  if (how === "created" && rollouts_per_example > 1 && fixed !== null) {
    terminal.tell(`warning: ${fixed} the ${rollouts_per_example} rollouts of an example are likely to be the same answer; -r 1 costs less and says as much`);
  }
}

/** The folder as it is to be written; null when it cannot be, which does not stop the run. */
async function openFolder(service: Service, started: StartedRun, base: string, terminal: Terminal): Promise<ResultsFolder | null> {
  const { evaluation_id, metadata } = started.evaluation;
  const known = service.stateFolder === null ? null : rememberedFolder(service.stateFolder, evaluation_id);
  const path = started.folder ?? (started.how === "created" ? null : known) ?? resultsFolderOf(base, metadata.env_id, metadata.model, evaluation_id);
  try {
    const folder = await ResultsFolder.open(path, evaluation_id, started.how === "joined" ? "continue" : "rebuild");
    if (service.stateFolder !== null) rememberFolder(service.stateFolder, evaluation_id, path);
    return folder;
  } catch (error) {
    terminal.tell(`warning: ${path} cannot be written: ${reasonOf(error)}. The run goes on; its results stay in the service.`);
    return null;
  }
}

/** Files, report and last lines of a settled run. */
async function finish(command: Command, work: Work): Promise<ExitCode> {
  const { terminal, given } = command;
  const { started, watch, folder } = work;
  const { client } = watch.service;
  const runId = started.evaluation.evaluation_id;
  await watch.finalise();
  const { evaluation, report } = await patiently(async () => {
    const evaluation = await client.run(runId);
    const { metadata, edgewise } = evaluation;
    if (edgewise.done_rollouts === 0) return { evaluation, report: [] };
    const kept = folder !== null && watch.folderFailure === null;
    const report = kept ? reportOfFolder(metadata, folder.path, terminal.columns) : reportOfRun(metadata, client, runId, terminal.columns);
    return { evaluation, report: await report };
  }, watch.patience());
  for (const line of report) terminal.print(line);
  const completed = evaluation.status === "COMPLETED" || started.how === "nothing owed";
  if (!completed) for (const line of failureLines(evaluation)) terminal.tell(line);
  const names = namesOf(command, work);
  for (const line of resultLines(names)) terminal.print(line);
  return completed && (given.no_save === true || names.saved) ? EXIT.completed : EXIT.failed;
}

const namesOf = ({ named, given, cwd }: Command, { started, watch, folder }: Work): RunNames => ({
  environment: named,
  given,
  cwd,
  runId: started.evaluation.evaluation_id,
  folder: folder?.path ?? null,
  saved: folder !== null && watch.folderFailure === null,
});

/** Ctrl-C: everything that is finished is kept. On this machine the run waits for a resume; elsewhere it goes on. */
async function interrupted(command: Command, service: Service | null, work: Work | null, error: Interrupted): Promise<ExitCode> {
  const { terminal } = command;
  if (work === null) {
    terminal.tell("Interrupted before the run began.");
    if (service?.role === "remote") terminal.tell("Should the service have had the request already, `npx edgewise eval list` shows the run.");
    return EXIT.interrupted;
  }
  const { service: last } = work.watch;
  const why = error.message;
  terminal.tell(`${why.charAt(0).toUpperCase()}${why.slice(1)}; saving what is finished. Press Ctrl-C again to end at once.`);
  await leaveRun(work);
  const names = namesOf(command, work);
  const lines = last.role === "remote" && !(error instanceof Suspended) ? detachedLines(names, last) : resultLines(names);
  for (const line of lines) terminal.print(line);
  return EXIT.interrupted;
}

/** Suspends a run of this machine, and brings the folder up to date. A run elsewhere is not this command's to end. Failures change nothing. */
async function leaveRun({ started, watch, folder }: Work): Promise<void> {
  const { client, role } = watch.service;
  const runId = started.evaluation.evaluation_id;
  if (role !== "remote") await suspend(client, runId);
  await watch.catchUp(role === "remote" ? AbortSignal.timeout(FLUSH_MS) : undefined);
  await folder?.close().catch(() => undefined);
}

/** And waits a moment for what was finished to be stored. */
async function suspend(client: ServiceClient, runId: string): Promise<void> {
  try {
    const deadline = Date.now() + FLUSH_MS;
    await client.interruptRun(runId, FLUSH_MS);
    for (let state: RunState | null = null; Date.now() < deadline && state?.open_units !== 0; await sleep(100)) {
      state = (await client.run(runId, { timeoutMs: FLUSH_MS, retries: 0 })).edgewise;
    }
  } catch {
    // The run has ended meanwhile, or its service has: either way nothing more can be saved than what is there.
  }
}

function explainIn(service: Service, { envId, environments, given, env }: Command, error: unknown): unknown {
  return explain(error, { service, env, wish: { envId, given, environments: environments.map(({ id }) => id) } });
}

/** Other terminals may work through this one's service: it stays until they are done, or Ctrl-C hands over to one of them. */
async function leave(service: Service, terminal: Terminal, interrupts: Interrupts): Promise<void> {
  try {
    if (service.clients().length > 0 && !interrupts.signal.aborted) {
      terminal.tell(`Done. Runs of other terminals (process ${service.clients().join(", ")}) use this one's service; waiting for them (Ctrl-C hands over).`);
      while (service.clients().length > 0 && !interrupts.signal.aborted) await sleep(250, undefined, { signal: interrupts.signal }).catch(() => undefined);
    }
    await service.close();
  } catch (error) {
    if (!(error instanceof ServiceUnreachable)) terminal.tell(`warning: the local service did not end in order: ${reasonOf(error)}`);
  }
}
