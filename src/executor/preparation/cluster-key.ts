import type { RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { didYouMean } from "../../config/nearest.ts";
import { MISSING, valueUnder } from "../../metrics/one-run/row-key.ts";
import type { RolloutInput } from "../../rollouts/types.ts";

/** Keys that a refusal names. */
const NAMED = 20;

/** What rows take over of their example. */
const COLUMNS = ["example_id", "prompt", "answer", "task"] as const satisfies (keyof RolloutInput)[];

/** Looks whether any example has what a run is to be clustered by, as long as none has. */
export class ClusterKey {
  /** Null: there is nothing to look for, or it was found. */
  #wanted: string | null;
  readonly #known = new Set<string>();
  readonly #columns: readonly (typeof COLUMNS)[number][];

  /** A state column is made by the rollouts: whether rows have it no example can tell. */
  constructor({ cluster_by, state_columns, results_shape }: Pick<RunConfig, "cluster_by" | "state_columns" | "results_shape">) {
    this.#columns = results_shape === "0.1.14" ? COLUMNS.filter((name) => name !== "task") : COLUMNS;
    this.#wanted = cluster_by === undefined || state_columns.includes(cluster_by.split(".")[0] ?? "") ? null : cluster_by;
  }

  see(input: RolloutInput): void {
    if (this.#wanted === null) return;
    const { info, ...row } = this.#rowOf(input);
    if (valueUnder({ ...row, info }, this.#wanted) !== MISSING) {
      this.#wanted = null;
      return;
    }
    if (this.#known.size >= NAMED) return;
    for (const name of Object.keys(row)) this.#known.add(name);
    for (const name of Object.keys(info ?? {})) this.#known.add(name);
  }

  #rowOf(input: RolloutInput): Pick<RolloutInput, "info"> & Readonly<Record<string, unknown>> {
    const own = this.#columns.flatMap((name) => (input[name] === undefined || input[name] === "" ? [] : [[name, input[name]] as const]));
    return { ...Object.fromEntries(own), ...(input.info === undefined ? {} : { info: input.info }) };
  }

  /** Throws `cluster_key_unknown` where none of the `rows` that were seen has it. */
  check(rows: number): void {
    if (this.#wanted === null || rows === 0) return;
    const known = [...this.#known].slice(0, NAMED);
    throw new EdgewiseError(
      "cluster_key_unknown",
      `cluster_by: none of ${rows} examples has ${JSON.stringify(this.#wanted)}${didYouMean(this.#wanted, known)}.`,
      {
        hint: `Their columns are ${known.join(", ")}. Resume the run with another key (-g), or start a new one.`,
      },
    );
  }
}
