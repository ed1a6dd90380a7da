/** What a terminal shows while a run goes on: a bar that is redrawn, or plain lines for logs and pipes. Written to standard error. */
import { formatSeconds, thousands } from "../report/format.ts";
import { singleLine } from "../report/printable.ts";
import type { LogEvent, RunState } from "./api-types.ts";

/** The part of a terminal stream this needs. */
export interface Screen {
  write(text: string): unknown;
  readonly columns?: number | undefined;
}

export interface ProgressOptions {
  readonly screen: Screen;
  /** A bar that is redrawn in place, with colours unless `plainText`. */
  readonly bar: boolean;
  /** No escape sequence for colour (NO_COLOR). */
  readonly plainText: boolean;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** Unix milliseconds, for times of the day. */
  readonly clock: () => number;
}

const REDRAW_MS = 1000;
const LINE_MS = 5000;
const LINE_SHARE = 0.1;
/** A line even if nothing changed, so that a slow model does not look like a hung command. */
const QUIET_MS = 30_000;
const BAR_WIDTH = 24;
/** Time over which the speed is measured. */
const SPEED_MS = 30_000;

export class Progress {
  private readonly options: ProgressOptions;
  private readonly startedAt: number;
  private state: RunState | null = null;
  private samples: { readonly at: number; readonly done: number }[] = [];
  private lastLine = "";
  private lastLineAt = Number.NEGATIVE_INFINITY;
  private lastLineShare = 0;
  private drawn = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(options: ProgressOptions) {
    this.options = options;
    this.startedAt = options.now();
  }

  start(): void {
    this.timer ??= setInterval(() => this.show(), REDRAW_MS);
    this.timer.unref();
  }

  update(state: RunState): void {
    const at = this.options.now();
    this.samples = this.samples.filter((sample) => at - sample.at <= SPEED_MS);
    const last = this.samples.at(-1);
    // Fewer than before: a resume took rollouts back; the speed starts anew.
    if (last !== undefined && state.done_rollouts < last.done) this.samples = [];
    if (last === undefined || at - last.at >= 500) this.samples.push({ at, done: state.done_rollouts });
    this.state = state;
    this.show();
  }

  /** The first error of each kind, and warnings, as the service reports them. */
  log({ level, message }: Omit<LogEvent, "time">): void {
    if (level !== "WARNING" && level !== "ERROR") return;
    this.note(`${level === "ERROR" ? this.paint("31", "error") : this.paint("33", "warning")}: ${singleLine(message)}`);
  }

  /** A line above the bar. */
  note(line: string): void {
    this.clear();
    this.options.screen.write(`${line}\n`);
    this.show();
  }

  /** Leaves the last state on the screen as a plain line. */
  end(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.clear();
    const last = this.state === null ? this.lastLine : progressText(this.state, null, this.options.clock());
    if (last !== this.lastLine) this.writeLine(last);
    this.state = null;
  }

  private show(): void {
    const { state, options } = this;
    if (state === null) return;
    const now = options.now();
    const left = this.remainingMs(state);
    const text = progressText(state, left, options.clock());
    if (options.bar) {
      const width = Math.max(20, (options.screen.columns || 80) - 1);
      const line = `${bar(shareOf(state))} ${text} · ${formatSeconds(Math.round((now - this.startedAt) / 1000))}`;
      this.clear();
      options.screen.write(`${line.slice(0, width)}`);
      this.drawn = true;
      return;
    }
    const share = shareOf(state);
    const due = now - this.lastLineAt >= LINE_MS || share - this.lastLineShare >= LINE_SHARE;
    if (!due || (text === this.lastLine && now - this.lastLineAt < QUIET_MS)) return;
    this.lastLineAt = now;
    this.lastLineShare = share;
    this.writeLine(text);
  }

  private writeLine(text: string): void {
    this.lastLine = text;
    this.options.screen.write(`${text}\n`);
  }

  private remainingMs(state: RunState): number | null {
    const first = this.samples[0];
    const last = this.samples.at(-1);
    if (first === undefined || last === undefined || last.done <= first.done || state.total_rollouts === 0) return null;
    return ((state.total_rollouts - state.done_rollouts) * (last.at - first.at)) / (last.done - first.done);
  }

  private clear(): void {
    if (this.drawn) this.options.screen.write("\r\u001b[K");
    this.drawn = false;
  }

  private paint(code: string, text: string): string {
    return this.options.bar && !this.options.plainText ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

const shareOf = ({ done_rollouts, total_rollouts }: RunState): number => (total_rollouts === 0 ? 0 : Math.min(1, done_rollouts / total_rollouts));

function bar(share: number): string {
  const filled = Math.round(share * BAR_WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}]`;
}

/** One line that says where a run stands. `leftMs`: remaining time, null = unknown; `clock`: Unix milliseconds now. */
export function progressText(state: RunState, leftMs: number | null, clock: number): string {
  if (state.phase === "preparing") return "preparing the data set";
  const { done_rollouts, total_rollouts, reward, errors, tokens, vitals } = state;
  const parts = [`${done_rollouts}/${total_rollouts} rollouts (${Math.floor(shareOf(state) * 100)} %)`];
  if (reward !== null) parts.push(`reward ${reward.toFixed(3)}`);
  const codes = Object.entries(errors).filter(([, count]) => count > 0);
  if (codes.length > 0) parts.push(`errors: ${codes.map(([code, count]) => `${code} ${count}`).join(", ")}`);
  if (vitals.retries > 0) parts.push(`${vitals.retries} ${vitals.retries === 1 ? "retry" : "retries"}`);
  const paused = vitals.paused_until !== null && vitals.paused_until > clock;
  if (vitals.waiting > 0 || paused) parts.push(waitingText(vitals.waiting, paused ? vitals.paused_until : null));
  if (tokens.input + tokens.output > 0) parts.push(`${thousands(tokens.input)} + ${thousands(tokens.output)} tokens`);
  if (state.phase === "draining" || state.phase === "finalising") parts.push("writing the results");
  else if (leftMs !== null && done_rollouts < total_rollouts) parts.push(`about ${formatSeconds(Math.ceil(leftMs / 1000))} left`);
  return parts.join(" · ");
}

function waitingText(waiting: number, until: number | null): string {
  const what = waiting > 0 ? `${waiting} ${waiting === 1 ? "request waits" : "requests wait"} for the rate limit` : "rate limit";
  return until === null ? what : `${what} until ${timeOfDay(until)}`;
}

/** Local time, HH:MM:SS. */
function timeOfDay(unixMs: number): string {
  const date = new Date(unixMs);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
