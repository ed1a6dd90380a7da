/** What the display knows about one evaluation of a command: who it is, where it stands, what it said. */
import type { RunMetadata } from "../../report/metadata.ts";
import type { Evaluation, LogEvent, RunState } from "../connection/api-types.ts";
import { Speed } from "../../report/progress/speed.ts";
import { LogTail } from "./log-tail.ts";

/** The numbers that states do not carry. */
export type RunNumbers = Pick<RunMetadata, "avg_reward" | "avg_metrics" | "pass_at_k" | "pass_all_k" | "usage"> & {
  readonly edgewise: Pick<RunMetadata["edgewise"], "reward_ci95" | "n_clusters" | "cluster_by" | "error_bounds">;
};

export class RunView {
  readonly label: string;
  readonly log = new LogTail();
  evaluation: Evaluation | null = null;
  /** Where its results are kept; null = nowhere. */
  folder: string | null = null;
  state: RunState | null = null;
  numbers: RunNumbers | null = null;
  /** Its status, or what kept it from running; null while it goes on. */
  how: string | null = null;
  readonly #speed = new Speed();
  #begun: number | null = null;
  #ended: number | null = null;

  constructor(label: string) {
    this.label = label;
  }

  /** `now`, here and below: milliseconds that only go forward. */
  start(evaluation: Evaluation, folder: string | null, now: number): void {
    this.evaluation = evaluation;
    this.folder = folder;
    this.#begun = now;
    this.update(evaluation.edgewise, now);
  }

  update(state: RunState, now: number): void {
    this.state = state;
    this.#speed.note(state, now);
  }

  say({ level, message }: Pick<LogEvent, "level" | "message">, time: number): void {
    this.log.push({ level, text: message, time });
  }

  end(how: string, now: number): void {
    this.how = how;
    this.#ended = now;
  }

  /** Milliseconds this command has worked on it; null before it began. */
  elapsedMs(now: number): number | null {
    return this.#begun === null ? null : (this.#ended ?? now) - this.#begun;
  }

  remainingMs(now: number): number | null {
    return this.state === null || this.how !== null ? null : this.#speed.remainingMs(this.state, now);
  }

  /** Of the moment of all other scores, where those are known; null before the first rollout is scored. */
  get reward(): number | null {
    if (this.state?.reward === null) return null;
    return this.numbers?.avg_reward ?? this.state?.reward ?? null;
  }
}
