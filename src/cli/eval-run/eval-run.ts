/** `edgewise eval run ENV`: one run, or several side by side, from the command line to their reports. */
import { mayBePublished } from "../environments/local-environments.ts";
import { placesOfWish } from "./wish/eval-wishes.ts";
import { printable } from "../../report/text/printable.ts";
import { CliError, EXIT, type ExitCode, reasonOf, usageError } from "../terminal/cli-error.ts";
import { checkDisplayFlags, chooseDisplay } from "../display/choose-display.ts";
import { CrashLoop } from "../service/crash-loop.ts";
import { watchDisk } from "../disk/disk-watch.ts";
import { environmentHints, explain } from "../service/explain.ts";
import { ServiceUnreachable } from "../connection/http-client.ts";
import { Interrupted, Interrupts } from "../terminal/interrupts.ts";
import { detachedLines, failureLines, owedOf, resultLines, withResume } from "./last-words.ts";
import { pause } from "../connection/pause.ts";
import { estimateFirst } from "./estimate/estimate-first.ts";
import { estimateWish } from "./estimate/estimate-wish.ts";
import type { EvalCommand, EvalWish } from "./wish/eval-wish.ts";
import { PythonSession } from "../python/python-session.ts";
import { checkHubToken, type EndedRun, pushEnded } from "../push/push-ended.ts";
import { Preflight } from "./start/preflight.ts";
import { readEarly } from "./early-rows.ts";
import { withKeptEndpoints } from "./start/kept-endpoints.ts";
import { placesOf } from "./wish/played-benchmark.ts";
import { agreedFolder } from "./wish/unnamed-places.ts";
import { benchmarkHints } from "../datasets/benchmarks-by-id.ts";
import type { LocalDataset } from "../datasets/dataset-upload.ts";
import type { RunsDisplay } from "../display/runs-display.ts";
import { type Outcome, playAll } from "./play-all.ts";
import { checkWish, datasetsOf, type PlayedRun, RunPlay, Suspended } from "./run-play.ts";
import { type SummaryRow, summaryLines } from "./runs-summary.ts";
import { collectSecrets } from "../service/local-secrets.ts";
import { dashboardLines } from "../service/dashboard-address.ts";
import { openService } from "../service/open-service.ts";
import type { Service } from "../service/service.ts";
import { stateFolder } from "../state/state-folder.ts";
import { watchState } from "../state/state-damage.ts";
import { SharedService } from "../service/shared-service.ts";
import { asker } from "../terminal/ask.ts";
import type { Terminal } from "../terminal/terminal.ts";

export async function evalRun(command: EvalCommand): Promise<ExitCode> {
  const { evals, cwd, env, terminal } = command;
  checkDisplayFlags(evals.map(({ given }) => given));
  const interrupts = new Interrupts();
  const crashes = new CrashLoop();
  let service: SharedService | null = null;
  const estimate = estimateWish(evals);
  const displayOf = (shown: readonly EvalWish[], fullscreen = evals.some(({ given }) => given.fullscreen === true)): Promise<RunsDisplay> =>
    chooseDisplay({
      labels: shown.map(({ label }) => label),
      env,
      terminal,
      disabled: evals.some(({ given }) => given.disable_tui === true),
      fullscreen,
      client: () => service?.current.client ?? null,
    });
  let display = await displayOf(evals);
  const python = new PythonSession(command.pythons, command.openEnvs, { cwd, env, tell: (line) => display.note(line) });
  let plays: readonly RunPlay[] = [];
  let unwatch = (): void => undefined;
  try {
    checkEnvironments(command);
    checkHubToken(command, evals);
    for (const wish of evals) checkWish(wish, cwd, env.EDGEWISE_URL ? null : stateFolder(env, cwd));
    const keyNames = [...new Set(evals.flatMap((wish) => placesOfWish(wish).map(({ api_key_var }) => api_key_var)))];
    let fresh = evals.some(({ given }) => given.fresh_state === true);
    const onFreshState = (movedTo: string | null): void => {
      // A service that is opened later in this command goes on with what this one began.
      fresh = false;
      display.note(movedTo === null ? "There was no state to move away." : `The state was moved to ${movedTo}; this command begins without it.`);
    };
    const open = (): Promise<Service> =>
      openService({
        ...(fresh ? { onFreshState } : {}),
        ...command,
        command: `edgewise eval run ${command.named}`,
        port: 0,
        keyNames,
        attended: true,
        executors: Math.max(...evals.map(({ given }) => (typeof given.num_workers === "number" ? given.num_workers : 1))),
        onCrash: (environments) => display.note(crashes.note(environments)),
        onHang: (environments) => display.note(crashes.hung(environments)),
      });
    const opening = open();
    const starting = python.start();
    // Waited for when there is a service to tell.
    starting.catch(() => undefined);
    const early = readEarly(evals, cwd, env);
    const [opened, datasets] = await both(opening, datasetsOf(evals, cwd));
    const shared = new SharedService(opened, open);
    service = shared;
    interrupts.signal.throwIfAborted();
    const lost = new AbortController();
    if (opened.stateFolder !== null) {
      const ends = [watchDisk(opened.stateFolder, (line) => display.note(line)), watchState(opened.stateFolder, (error) => lost.abort(error))];
      unwatch = () => {
        for (const end of ends) end();
      };
    }
    await interrupts.during(starting);
    await interrupts.during(python.attach(() => shared.current.client)).catch((error: unknown) => {
      throw explain(error, { service: opened, env, wish: null });
    });
    const signal = AbortSignal.any([interrupts.signal, crashes.signal, lost.signal, python.signal]);
    const { role } = opened;
    const wishes = await withKeptEndpoints(opened.client, evals).catch((error: unknown) => {
      throw explain(error, { service: opened, env, wish: null });
    });
    const keyVars = env.KEY_VARS || undefined;
    const ask = asker(interrupts.signal);
    const agreed: (string | null)[] = [];
    // One question at a time, and before the display takes the terminal.
    for (const wish of wishes) agreed.push(await agreedFolder(opened.client, wish, { cwd, keyVars, ask }));
    const preflight = role === "remote" ? null : new Preflight(collectSecrets({ env, cwd, home: command.home, named: keyNames }));
    const play = (some: readonly EvalWish[], read: readonly (LocalDataset | null)[]): Promise<readonly Outcome[]> => {
      plays = some.map((wish, index) => {
        const envVersion = command.environments.find(({ id }) => id === wish.envId)?.version ?? null;
        return new RunPlay(wish, {
          cwd,
          keyVars,
          agreed: agreed[wishes.findIndex(({ label }) => label === wish.label)] ?? null,
          early,
          envVersion,
          service: shared,
          interrupts,
          signal,
          progress: display.run(index),
          columns: terminal.columns,
          preflight,
        });
      });
      display.start();
      return playAll(command.maxConcurrentTotal, plays, read, display);
    };
    let outcomes: readonly Outcome[];
    if (estimate === null) outcomes = await play(wishes, datasets);
    else {
      const estimated = await estimateFirst({
        ...{ estimate, wishes, datasets, terminal, ask },
        maxConcurrentTotal: command.maxConcurrentTotal,
        client: opened.client,
        play: async (some, read) => {
          display = await displayOf(some, false);
          const ended = await play(some, read);
          display.end();
          return ended;
        },
      }).catch((error: unknown) => {
        throw explain(error, { service: shared.current, env, wish: null });
      });
      if (estimated.kind === "stopped") return estimated.code;
      if (estimated.kind === "go") display = await displayOf(evals);
      outcomes = estimated.kind === "ended" ? estimated.outcomes : await play(estimated.wishes, datasets);
    }
    await display.seen(interrupts.signal);
    display.end();
    return evals.length === 1 ? await endOfOne(command, shared, outcomes[0]) : await endOfMany(command, shared, outcomes);
  } catch (error) {
    display.end();
    if (error instanceof Interrupted) return await interrupted(command, service, plays, error);
    await Promise.all(plays.map((play) => play.leave()));
    throw error;
  } finally {
    unwatch();
    await python.end();
    if (service !== null) await leave(service.current, terminal, interrupts);
    interrupts.dispose();
  }
}

/** Waits for both, and closes the service when the other fails. */
async function both<T>(opening: Promise<Service>, reading: Promise<T>): Promise<readonly [Service, T]> {
  const [service, read] = await Promise.allSettled([opening, reading]);
  if (read.status === "rejected") {
    if (service.status === "fulfilled") await service.value.close();
    throw read.reason;
  }
  if (service.status === "rejected") throw service.reason;
  return [service.value, read.value];
}

/** On this machine the environments are those of this installation, so a misspelt one need not wait for the service to start. */
function checkEnvironments({ evals, environments, env, cwd }: EvalCommand): void {
  const ids = environments.map(({ id }) => id);
  const missing = env.EDGEWISE_URL
    ? []
    : evals.filter(({ envId, isPython = false, isLinked = false }) => !isPython && !isLinked && !ids.includes(envId) && !mayBePublished(envId));
  const [first] = missing;
  if (first === undefined) return;
  const names = new Set(missing.map(({ reference }) => JSON.stringify(reference)));
  throw usageError(
    `there is no environment ${[...names].join(", ")}`,
    ...environmentHints({ ...first, environments: ids }),
    ...benchmarkHints(first.envId, placesOf(first.given, cwd)),
  );
}

async function endOfOne(command: EvalCommand, service: SharedService, outcome: Outcome | undefined): Promise<ExitCode> {
  if (outcome === undefined) throw new RangeError("there is no evaluation");
  const { terminal } = command;
  const { play, played, error } = outcome;
  if (played === null) {
    if (error instanceof Suspended) return await interrupted(command, service, [play], error);
    throw explained(command, service, outcome);
  }
  for (const line of played.report?.lines ?? []) terminal.print(line);
  if (!played.completed) for (const line of failureLines(played.evaluation)) terminal.tell(line);
  for (const line of played.report?.problems ?? []) terminal.tell(line);
  const names = play.names();
  await pushEnded(command, endedRun(play, played));
  for (const line of [...dashboardLines(service.current, names.runId), ...resultLines(names, played.evaluation)]) terminal.print(line);
  return exitOf([outcome]);
}

/** Reports in the order of the evaluations, then what went wrong, then all of them in one table. */
async function endOfMany(command: EvalCommand, service: SharedService, outcomes: readonly Outcome[]): Promise<ExitCode> {
  const { terminal, cwd } = command;
  for (const { play, played } of outcomes) {
    if (played === null || played.report === null) continue;
    terminal.print(`=== ${printable(play.wish.label)} ===`);
    for (const line of [...played.report.lines, ""]) terminal.print(line);
  }
  for (const outcome of outcomes) for (const line of problemLines(command, service, outcome)) terminal.tell(`${outcome.play.wish.label}: ${line}`);
  const rows = outcomes.map(({ play, played, error }): SummaryRow => {
    const names = play.begun ? play.names() : null;
    return {
      label: play.wish.label,
      status: error instanceof Suspended ? "SUSPENDED" : (played?.evaluation.status ?? "failed"),
      evaluation: played?.evaluation ?? null,
      interval: played?.report?.interval ?? null,
      seconds: played?.report?.seconds ?? null,
      folder: names?.saved ? names.folder : null,
    };
  });
  for (const line of summaryLines(rows, cwd, terminal.columns)) terminal.print(line);
  for (const { play, played } of outcomes) if (played !== null) await pushEnded(command, endedRun(play, played));
  for (const line of dashboardLines(service.current)) terminal.print(line);
  for (const outcome of outcomes) if (owes(outcome)) terminal.print(`${printable(outcome.play.wish.label)}: ${lastWord(outcome)}`);
  return exitOf(outcomes);
}

const endedRun = (play: RunPlay, { completed }: PlayedRun): EndedRun => {
  const { given, folder, saved } = play.names();
  return { given, folder: saved ? folder : null, completed };
};

/** Completed, and kept where it should be. */
const isWhole = ({ play, played }: Outcome): boolean => played?.completed === true && (play.wish.given.no_save === true || play.names().saved);

/** Whether a run that completed has rows that infrastructure ended, which nobody asked to keep: they stand for no outcome of the model. */
const owes = ({ play, played }: Outcome): boolean => played?.completed === true && play.wish.given.keep_errors !== true && owedOf(played.evaluation) !== null;

const lastWord = ({ play, played }: Outcome): string => resultLines(play.names(), played?.evaluation ?? null).at(-1) ?? "";

function exitOf(outcomes: readonly Outcome[]): ExitCode {
  if (!outcomes.every(isWhole)) return EXIT.failed;
  if (outcomes.some(owes)) return EXIT.owed;
  return outcomes.some(({ played }) => (played?.report?.problems ?? []).length > 0) ? EXIT.usage : EXIT.completed;
}

function problemLines(command: EvalCommand, service: SharedService, outcome: Outcome): readonly string[] {
  const { played, error, play } = outcome;
  if (played !== null) return [...(played.completed ? [] : failureLines(played.evaluation)), ...(played.report?.problems ?? [])];
  if (error instanceof Suspended) return [`interrupted by another command; ${resultLines(play.names()).at(-1) ?? ""}`];
  const reason = explained(command, service, outcome);
  return reason instanceof CliError
    ? [`error: ${printable(reason.message)}`, ...reason.hints.map((hint) => `  ${printable(hint)}`)]
    : [`error: ${reasonOf(reason)}`];
}

function explained({ environments, env }: EvalCommand, service: SharedService, { play, error }: Outcome): unknown {
  const { envId, given, place, linkHints = [] } = play.wish;
  const told = explain(error, { service: service.current, env, wish: { envId, given, linkHints, environments: environments.map(({ id }) => id) } });
  const inFile = place !== null && !play.begun && told instanceof CliError;
  const reason = inFile ? new CliError(`${place}: ${told.message}`, { exitCode: told.exitCode, hints: told.hints, cause: told.cause }) : told;
  return play.begun ? withResume(reason, play.names(), service.current) : reason;
}

/** Ctrl-C: everything that is finished is kept. On this machine a run waits for a resume; elsewhere it goes on. */
async function interrupted({ terminal, named }: EvalCommand, service: SharedService | null, plays: readonly RunPlay[], error: Interrupted): Promise<ExitCode> {
  const begun = plays.filter((play) => play.begun);
  if (begun.length === 0) {
    terminal.tell(`Interrupted before ${plays.length > 1 ? "any run" : "the run"} began.`);
    if (service?.current.role === "remote") terminal.tell("Should the service have had the request already, `npx edgewise eval list` shows the run.");
    return EXIT.interrupted;
  }
  const why = error.message;
  terminal.tell(`${why.charAt(0).toUpperCase()}${why.slice(1)}; saving what is finished. Press Ctrl-C again to end at once.`);
  await Promise.all(begun.map((play) => play.leave()));
  for (const play of begun) {
    const detached = service?.current.role === "remote" && !(error instanceof Suspended);
    const lines = detached && service !== null ? detachedLines(play.names(), service.current) : resultLines(play.names());
    if (plays.length > 1) terminal.print(`${printable(play.wish.label)}:`);
    for (const line of lines) terminal.print(line);
  }
  if (plays.length > 1)
    terminal.print(`All of them: ${named.endsWith(".toml") ? `set resume = true at the top of ${named}, and run it again` : "the same command with -R"}`);
  return EXIT.interrupted;
}

/** Other terminals may work through this one's service: it stays until they are done, or Ctrl-C hands over to one of them. */
async function leave(service: Service, terminal: Terminal, interrupts: Interrupts): Promise<void> {
  const { signal } = interrupts;
  try {
    if (service.clients().length > 0 && !signal.aborted) {
      terminal.tell(`Done. Runs of other terminals (process ${service.clients().join(", ")}) use this one's service; waiting for them (Ctrl-C hands over).`);
      while (service.clients().length > 0 && !signal.aborted) await pause(250, signal).catch(() => undefined);
    }
    await service.close();
  } catch (error) {
    if (!(error instanceof ServiceUnreachable)) terminal.tell(`warning: the local service did not end in order: ${reasonOf(error)}`);
  }
}
