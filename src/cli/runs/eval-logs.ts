/** `edgewise eval logs ID [-f]`: what happened in a run, and with `-f` what happens. */
import { LOGGER } from "../../report/logs/eval-log.ts";
import { formatLogLine } from "../../report/logs/log-line.ts";
import { printableJson } from "../../report/text/printable.ts";
import type { LogEvent, RunState } from "../connection/api-types.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";
import { EXIT, type ExitCode, reasonOf } from "../terminal/cli-error.ts";
import { resumeCommand } from "../command-line/typed-commands.ts";
import type { CommandContext } from "../service/command-context.ts";
import { followRun, isAtRest } from "../connection/follow-run.ts";
import { Interrupted, Interrupts } from "../terminal/interrupts.ts";
import { nextStepOf, stepText } from "./next-step.ts";
import type { Service } from "../service/service.ts";

export interface LogsOptions {
  readonly runId: string;
  /** Lines of the past that are shown, from the end. */
  readonly tail: number;
  readonly follow: boolean;
  readonly output: Output;
}

/** A service that was restarted is back within this time; a run on it goes on meanwhile, or waits. */
const PATIENCE_MS = { owner: 5000, client: 1500, remote: 600_000 } as const;
const MAX_WAIT_MS = 10_000;

/** With `-f` the code says how the run ended. */
export async function evalLogs(context: CommandContext, options: LogsOptions): Promise<ExitCode> {
  mustBeRunId(options.runId);
  const interrupts = new Interrupts();
  try {
    return await askService(context, "edgewise eval logs", (service) => showLogs(context, service, options, interrupts.signal));
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    context.terminal.tell(`Stopped following run ${options.runId}.`);
    return EXIT.interrupted;
  } finally {
    interrupts.dispose();
  }
}

async function showLogs({ terminal }: CommandContext, service: Service, { runId, tail, follow, output }: LogsOptions, stop: AbortSignal): Promise<ExitCode> {
  const { client, role, orphaned, url } = service;
  const { metadata } = await aboutRun(runId, service, client.run(runId));
  const past = new Tail(tail);
  let caughtUp = false;
  const print = (event: LogEvent): void => terminal.print(output === "json" ? printableJson(jsonOf(event)) : formatLogLine(LOGGER, event));
  const watcher = {
    onLog: (event: LogEvent) => (caughtUp ? print(event) : past.add(event)),
    onCommit: () => undefined,
    // The first state comes when everything before it has been told.
    onState: () => {
      if (!caughtUp) for (const event of past.events()) print(event);
      caughtUp = true;
    },
  };
  // A service that was started for this question runs nothing, so that there would be nothing to follow.
  const follows = follow && role !== "owner";
  const until = (state: RunState): boolean => !follows || isAtRest(state);
  const end = await followRun(client, runId, { seq: 0 }, watcher, {
    patienceMs: PATIENCE_MS[role],
    maxWaitMs: MAX_WAIT_MS,
    signal: orphaned === null ? stop : AbortSignal.any([stop, orphaned]),
    onOutage: (error) => terminal.tell(`${url} does not answer (${reasonOf(error)}); trying again.`),
    onReturn: () => terminal.tell(`${url} answers again.`),
    until,
  });
  if (!follow) return EXIT.completed;
  const run = await client.run(runId);
  const { status } = run;
  if (isAtRest(end)) terminal.tell(`Run ${runId}: ${end.suspended ? "suspended" : status}.`);
  else terminal.tell(`Run ${runId} is ${status}, and no service of this folder runs that could go on with it: type npx edgewise serve`);
  const next = isAtRest(end) ? nextStepOf(run) : null;
  if (next !== null) terminal.tell(`It goes on${stepText(next)} with: ${resumeCommand(metadata.env_id, runId, undefined)}`);
  return status === "COMPLETED" ? EXIT.completed : EXIT.failed;
}

/** The last `most` events of any number. */
class Tail {
  private readonly most: number;
  private kept: LogEvent[] = [];

  constructor(most: number) {
    this.most = most;
  }

  add(event: LogEvent): void {
    this.kept.push(event);
    if (this.kept.length > 2 * this.most) this.kept = this.kept.slice(-this.most);
  }

  events(): readonly LogEvent[] {
    return this.kept.slice(-this.most);
  }
}

const jsonOf = ({ time, level, message }: LogEvent): object => ({ time: new Date(time).toISOString(), level, message });
