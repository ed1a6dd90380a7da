/** What is shown while a run goes on where there is no live display: plain lines for logs and pipes. */
import { isEnvironmentLine } from "../../logging/environment-line.ts";
import { batchWaitText } from "../../report/text/batch-text.ts";
import { cachedText } from "../../report/text/cache-text.ts";
import { waitText } from "../../report/text/code-text.ts";
import { dollarsText } from "../../report/text/cost-text.ts";
import { formatSeconds, thousands } from "../../report/text/format.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { LogEvent, RunState, Vitals } from "../connection/api-types.ts";
import { finishedRollouts, openRollouts, Speed } from "../../report/progress/speed.ts";
import { costSoFar, endingText, inFlightText, isEnding, timeOfDay, waitingText } from "../../report/progress/standing-text.ts";

export interface ProgressOptions {
  /** Writes a line. */
  readonly tell: (line: string) => void;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** Unix milliseconds, for times of the day. */
  readonly clock: () => number;
}

const LOOK_MS = 1000;
const LINE_MS = 5000;
const LINE_SHARE = 0.1;
/** A line even if nothing changed, so that a slow model does not look like a hung command. */
const QUIET_MS = 30_000;
/** The same where batches are waited for, which takes hours. */
const QUIET_BATCH_MS = 10 * 60_000;

export class Progress {
  private readonly options: ProgressOptions;
  private readonly speed = new Speed();
  private state: RunState | null = null;
  private lastLine = "";
  private lastLineAt = Number.NEGATIVE_INFINITY;
  private lastLineShare = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(options: ProgressOptions) {
    this.options = options;
  }

  start(): void {
    this.timer ??= setInterval(() => this.show(), LOOK_MS);
    this.timer.unref();
  }

  update(state: RunState): void {
    this.speed.note(state, this.options.now());
    this.state = state;
    this.show();
  }

  log(event: Omit<LogEvent, "time">): void {
    const line = toldLine(event);
    if (line !== null) this.note(line);
  }

  note(line: string): void {
    this.options.tell(line);
  }

  /** The last state, where the last line was another. */
  end(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    const last = this.state === null ? this.lastLine : progressText(this.state, null, this.options.clock());
    if (last !== this.lastLine) this.writeLine(last);
    this.state = null;
  }

  private show(): void {
    const { state, options } = this;
    if (state === null) return;
    const now = options.now();
    const text = progressText(state, this.speed.remainingMs(state, now), options.clock());
    const share = shareOf(state);
    const due = now - this.lastLineAt >= LINE_MS || share - this.lastLineShare >= LINE_SHARE;
    const quiet = state.batch === undefined || batchWaitText(state.batch) === null ? QUIET_MS : QUIET_BATCH_MS;
    if (!due || (text === this.lastLine && now - this.lastLineAt < quiet)) return;
    this.lastLineAt = now;
    this.lastLineShare = share;
    this.writeLine(text);
  }

  private writeLine(text: string): void {
    this.lastLine = text;
    this.note(text);
  }
}

const shareOf = (state: RunState): number => (state.total_rollouts === 0 ? 0 : finishedRollouts(state) / state.total_rollouts);

/** A line of the run's log as the terminal has it: the first error of each kind, warnings, what the environment prints; null = only the log has it. */
export function toldLine({ level, message }: Omit<LogEvent, "time">): string | null {
  if (level === "WARNING" || level === "ERROR") return `${level.toLowerCase()}: ${singleLine(message)}`;
  return isEnvironmentLine(message) ? singleLine(message) : null;
}

const rolloutsOf = ({ total_rollouts, total_units }: RunState): number => (total_units === 0 ? 1 : total_rollouts / total_units);

/** One line that says where a run stands. `leftMs`: remaining time, null = unknown; `clock`: Unix milliseconds now. */
export function progressText(state: RunState, leftMs: number | null, clock: number): string {
  const waits = waitOf(state);
  if (state.phase === "preparing") return waits ?? "preparing the data set";
  const { total_rollouts, reward, errors, tokens, cost, judges, vitals, live } = state;
  const finished = finishedRollouts(state);
  const parts = [`${finished}/${total_rollouts} rollouts (${Math.floor(shareOf(state) * 100)} %)`];
  const counted = openRollouts(state) > 0 ? ` of ${state.done_rollouts}` : "";
  if (live?.order === "permuted" && live.mean !== null && live.examples * rolloutsOf(state) < state.done_rollouts)
    parts.push(`reward ${live.mean.toFixed(3)} of the first ${live.examples}`);
  else if (reward !== null) parts.push(`reward ${reward.toFixed(3)}${counted}`);
  const codes = Object.entries(errors).filter(([, count]) => count > 0);
  if (codes.length > 0) parts.push(`errors: ${codes.map(([code, count]) => `${singleLine(code)} ${count}`).join(", ")}`);
  if (isOld(vitals)) parts.push(inFlightText(vitals));
  if (vitals.retries > 0) parts.push(`${vitals.retries} ${vitals.retries === 1 ? "retry" : "retries"}`);
  const waiting = waitingText(vitals, clock);
  if (waiting !== null) parts.push(waiting);
  if (tokens.input + tokens.output > 0) parts.push(`${thousands(tokens.input)} + ${thousands(tokens.output)} tokens`);
  const own = costSoFar(cost, state.max_cost);
  if (own !== null) parts.push(own);
  if (judges?.cost !== undefined) parts.push(`judges ${dollarsText(judges.cost.total_usd)}`);
  if (state.cache !== undefined) parts.push(`${cachedText(state.cache)} cached`);
  if (waits !== null) parts.push(waits);
  else if (isEnding(state)) parts.push(endingText(state));
  else if (leftMs !== null && finished < total_rollouts) parts.push(`about ${formatSeconds(Math.ceil(leftMs / 1000))} left`);
  return parts.join(" · ");
}

/** What the run waits for; null when for nothing. */
export const waitOf = (state: RunState): string | null => waitText(state, timeOfDay);

/** A request that takes longer is worth a word in a line that is short of room. */
const OLD_MS = 10_000;
const isOld = ({ oldest_ms = 0 }: Vitals): boolean => oldest_ms >= OLD_MS;
