import { summaryOfRow } from "../row-summary.ts";
import type { TaskResult } from "./breakdown-names.ts";

type Row = Readonly<Record<string, unknown>>;

/** What metrics by name see of a task, and how many of its attempts ended in an error: no score stands for those. */
export interface TaskOfRows extends TaskResult {
  readonly rewards: number[];
  errored: number;
}

const nothing = (): TaskResult["metadata"] => ({});

/**
 * The rewards of a run by task, each task's in the order of its rows, which is that of its attempts. Memory: the rewards, and what `metadataOf` takes from the first
 * row of each task.
 */
export class TaskTable {
  readonly #tasks = new Map<unknown, TaskOfRows>();
  readonly #metadataOf: (row: Row) => TaskResult["metadata"];

  constructor(metadataOf: (row: Row) => TaskResult["metadata"] = nothing) {
    this.#metadataOf = metadataOf;
  }

  /** Examples so far. */
  get examples(): number {
    return this.#tasks.size;
  }

  get tasks(): readonly TaskOfRows[] {
    return [...this.#tasks.values()];
  }

  /** `number`: of the row, from 1; one that names no example is one by itself. */
  add(row: Row, number: number): void {
    // Rows of 2025 call the example `id`.
    const named = row.example_id ?? row.id ?? `row ${number}`;
    const id = typeof named === "object" ? JSON.stringify(named) : named;
    let task = this.#tasks.get(id);
    if (task === undefined) {
      task = { rewards: [], metadata: this.#metadataOf(row), errored: 0 };
      this.#tasks.set(id, task);
    }
    const { reward, error } = summaryOfRow(row);
    if (error === null) task.rewards.push(reward);
    else task.errored += 1;
  }
}
