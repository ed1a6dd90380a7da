/** What a terminal shows while the runs of a command go on. */
import type { Evaluation, LogEvent, RunState } from "../connection/api-types.ts";
import { finishedRollouts } from "../../report/progress/speed.ts";
import { waitingText } from "../../report/progress/standing-text.ts";
import { Progress, type ProgressOptions, progressText, toldLine, waitOf } from "./progress.ts";

/** What is told about one run. */
export interface RunProgress {
  /** It has an id now. `folder`: where its results are kept, null = nowhere. */
  started(evaluation: Evaluation, folder: string | null): void;
  update(state: RunState): void;
  log(event: Omit<LogEvent, "time">): void;
  note(line: string): void;
  /** Nothing more comes. `how`: its status, or what kept it from running. */
  ended(how: string): void;
}

export interface RunsDisplay {
  start(): void;
  /** Of the run of evaluation `index`. */
  run(index: number): RunProgress;
  /** A line about all of them. */
  note(line: string): void;
  /** Resolves when nobody wants to look at the end any longer: at once, unless it was asked to stay. */
  seen(signal: AbortSignal): Promise<void>;
  /** Leaves the last state on the screen. */
  end(): void;
}

/** Lines for one run; for several, lines about all of them together and one for each that ends. `labels`: of the evaluations, in order. */
export function plainDisplay(labels: readonly string[], options: ProgressOptions): RunsDisplay {
  return labels.length === 1 ? new SingleDisplay(options) : new LinesDisplay(labels, options);
}

class SingleDisplay implements RunsDisplay {
  readonly #progress: Progress;

  constructor(options: ProgressOptions) {
    this.#progress = new Progress(options);
  }

  start(): void {
    this.#progress.start();
  }

  run(): RunProgress {
    const progress = this.#progress;
    return {
      started: () => undefined,
      update: (state) => progress.update(state),
      log: (event) => progress.log(event),
      note: (line) => progress.note(line),
      ended: () => undefined,
    };
  }

  note(line: string): void {
    this.#progress.note(line);
  }

  async seen(): Promise<void> {}

  end(): void {
    this.#progress.end();
  }
}

const LINE_MS = 5000;
/** Evaluations that wait of which it is said for what; the others are counted. */
const SHOWN_WAITS = 3;

/** One line about all runs now and then, and every news with the name of its run in front. */
class LinesDisplay implements RunsDisplay {
  readonly #labels: readonly string[];
  readonly #options: ProgressOptions;
  readonly #states = new Map<number, RunState>();
  readonly #ended = new Set<number>();
  #timer: NodeJS.Timeout | null = null;
  #last = "";

  constructor(labels: readonly string[], options: ProgressOptions) {
    this.#labels = labels;
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#show(), LINE_MS);
    this.#timer.unref();
  }

  run(index: number): RunProgress {
    const label = this.#labels[index] ?? "";
    const note = (line: string): void => this.note(`${label}: ${line}`);
    return {
      started: () => undefined,
      update: (state) => void this.#states.set(index, state),
      log: (event) => {
        const line = toldLine(event);
        if (line !== null) note(line);
      },
      note,
      ended: (how) => {
        this.#ended.add(index);
        const state = this.#states.get(index);
        note(state === undefined || state.total_rollouts === 0 ? how : `${how} · ${progressText({ ...state, phase: "settled" }, null, this.#options.clock())}`);
      },
    };
  }

  note(line: string): void {
    this.#options.tell(line);
  }

  async seen(): Promise<void> {}

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** What an evaluation waits for that has not ended. */
  #waitsOf(index: number, state: RunState): readonly string[] {
    if (this.#ended.has(index)) return [];
    const waits = waitOf(state) ?? waitingText(state.vitals, this.#options.clock());
    return waits === null ? [] : [`${this.#labels[index]}: ${waits}`];
  }

  #show(): void {
    const states = [...this.#states.values()];
    const sum = (count: (state: RunState) => number): number => states.reduce((total, state) => total + count(state), 0);
    const [done, total] = [sum(finishedRollouts), sum(({ total_rollouts }) => total_rollouts)];
    const share = total === 0 ? "" : ` (${Math.floor((done / total) * 100)} %)`;
    const waits = [...this.#states].flatMap(([index, state]) => this.#waitsOf(index, state));
    const more = waits.length > SHOWN_WAITS ? [`${waits.length - SHOWN_WAITS} more wait`] : [];
    const line = [`${this.#ended.size}/${this.#labels.length} evaluations`, `${done}/${total} rollouts${share}`, ...waits.slice(0, SHOWN_WAITS), ...more].join(
      " · ",
    );
    if (line === this.#last || this.#ended.size === this.#labels.length) return;
    this.#last = line;
    this.note(line);
  }
}
