import type { JsonObject } from "../../config/plan/run-config.ts";
import { RowGrouping } from "../../imports/logs/verifiers-grouping.ts";

/**
 * Whether rows that name their example by `id` alone, as verifiers wrote them before 18 October 2025, may be taken as they come: those of an example one
 * behind the other, as many as the folder says. Their groups are found as an import finds them. Holds a short text for each such row.
 */
export class ExampleNaming {
  readonly #grouping = new RowGrouping();
  #rows = 0;

  /** Rows that carry `example_id` are passed over: they are taken at their word. */
  add(row: JsonObject): void {
    if (row.id === undefined || (row.example_id !== undefined && row.example_id !== null)) return;
    this.#grouping.add(row);
    this.#rows += 1;
  }

  /** Why they may not, and what helps; null where they may. */
  problem(rolloutsPerExample: number): string | null {
    if (this.#rows === 0) return null;
    const groups = this.#grouping.result();
    if ("problem" in groups) return `${groups.problem}, so rollouts are not grouped: no pass@k and no interval`;
    if (areTogether(groups.examples, rolloutsPerExample)) return null;
    const [examples, rollouts] = [new Set(groups.examples).size, this.#rows];
    return `rows name no example_id, and ${rollouts} rollouts of ${examples} ${examples === 1 ? "example" : "examples"} do not stand as ${rolloutsPerExample} of each one: \`npx edgewise import\` groups them, for pass@k and intervals`;
  }
}

const areTogether = (examples: readonly number[], size: number): boolean =>
  examples.length === new Set(examples).size * size && examples.every((example, at) => example === examples[at - (at % size)]);
