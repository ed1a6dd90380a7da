import { packUnit, unpackUnit } from "../../../r2-layout/done-codec.ts";
import { unwrap } from "../../api/errors.ts";
import type { RolloutSummary } from "../../metrics/rollout-summary.ts";

/** Summaries that are held as they are: those of the examples that rows came for last. */
const MOST_OPEN = 8_192;

/** The numbers of the rollouts of examples, packed as a Run stores them: a hundred thousand of them are some megabytes. */
export class PackedExamples {
  readonly #packed: string[] = [];
  readonly #open = new Map<number, RolloutSummary[]>();
  #held = 0;
  #names: readonly string[] = [];

  /** Metrics, by which the packed texts number theirs. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Puts a rollout at place `at` among those of its example. */
  insert(example: number, at: number, summary: RolloutSummary): void {
    const rollouts = this.#open.get(example) ?? this.#reopened(example);
    rollouts.splice(at, 0, summary);
    this.#held += 1;
    if (this.#held > MOST_OPEN) this.#pack();
  }

  /** Of an example. */
  packed(example: number): string {
    const rollouts = this.#open.get(example);
    if (rollouts !== undefined) this.#close(example, rollouts);
    return this.#packed[example] ?? "";
  }

  of(example: number): readonly RolloutSummary[] {
    return this.#open.get(example) ?? unwrap(unpackUnit(this.#packed[example] ?? "", this.#names));
  }

  #reopened(example: number): RolloutSummary[] {
    const packed = this.#packed[example];
    const rollouts = packed === undefined ? [] : unwrap(unpackUnit(packed, this.#names));
    this.#open.set(example, rollouts);
    this.#held += rollouts.length;
    return rollouts;
  }

  #pack(): void {
    for (const [example, rollouts] of this.#open) this.#close(example, rollouts);
  }

  #close(example: number, rollouts: readonly RolloutSummary[]): void {
    const whole = packUnit(rollouts, this.#names);
    // Rows of other programs may have more metrics than a Run stores of an example: their rewards are worth more than none of it.
    const { text, names } = whole.ok
      ? whole.value
      : unwrap(
          packUnit(
            rollouts.map((rollout) => ({ ...rollout, metrics: {} })),
            this.#names,
          ),
        );
    this.#packed[example] = text;
    this.#names = names;
    this.#open.delete(example);
    this.#held -= rollouts.length;
  }
}
