import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { broken } from "../invariants.ts";
import type { PackedPiece } from "./loose.ts";
import type { Scene } from "./scene.ts";

/** What goes into one segment: units with their rows, and rollouts of other units. */
interface Contents {
  readonly units: readonly number[];
  readonly rows: ReadonlyMap<number, readonly RolloutSummary[]>;
  readonly kept: readonly PackedPiece[];
}

const MOST_ATTEMPTS = 16;

/** Segments as one executor puts them. */
export class Bucket {
  readonly #there = new Map<string, string>();

  readonly #attempts = new Map<string, number>();
  /** Under one grant there is time for only so many, waits between them that double. */
  #attempt(segment: string): void {
    const attempts = (this.#attempts.get(segment) ?? 0) + 1;
    this.#attempts.set(segment, attempts);
    if (attempts > MOST_ATTEMPTS) broken(`a segment was put ${attempts} times under one grant, while nothing could be stored`);
  }

  /** Create-only put: may fail, or take effect and fail; the driver then finds it there. False when it failed. */
  put(world: Scene, segment: string, { units, rows, kept }: Contents): boolean {
    const holds = JSON.stringify([units, kept]);
    if (world.outage) this.#attempt(segment);
    const fails = world.outage || world.strikes(world.plan.fault.putFails);
    const there = this.#there.get(segment);
    if (there !== undefined && there !== holds) broken("a segment was written twice with different rows");
    if (!fails || (!world.outage && world.random.chance(0.5))) {
      this.#there.set(segment, holds);
      world.objects.set(
        segment,
        units.map((unit) => `${segment}/${unit}`),
      );
    }
    for (const unit of units) world.segments.set(`${segment}/${unit}`, rows.get(unit) ?? []);
    for (const { unit, lines } of kept) for (const [rollout, standing] of lines) world.standings.set(`${segment}/${unit}/${rollout}`, standing);
    return !fails;
  }
}

/** What of an executor's calls under one grant failed last: nothing is to be begun meanwhile. */
export class Troubles {
  readonly #failing = new Set<string>();
  /** When the newest beat that was answered was sent. */
  #heardAt = Number.NEGATIVE_INFINITY;
  /** When the newest beat was sent whose outcome is known. */
  #beatSentAt = Number.NEGATIVE_INFINITY;

  note(call: string, succeeded: boolean): void {
    if (succeeded) this.#failing.delete(call);
    else this.#failing.add(call);
  }

  /** A beat that failed says nothing when a later one was answered. */
  noteBeat(sentAt: number, answered: boolean): void {
    this.note("beat", answered || sentAt < this.#heardAt);
    this.#beatSentAt = sentAt;
    if (answered) this.#heardAt = Math.max(this.#heardAt, sentAt);
  }

  /** A claim or a commit that was sent then has renewed the lease, as a beat would. */
  heard(sentAt: number): void {
    if (sentAt >= this.#beatSentAt) this.#failing.delete("beat");
    this.#heardAt = Math.max(this.#heardAt, sentAt);
  }

  mayBegin(unit: number): void {
    if (this.#failing.size > 0) broken(`unit ${unit} is begun though ${[...this.#failing].join()} failed`);
  }
}

/** `generation` tells one answer of the model from another: scoring leaves it alone. */
export function summary(reward: number, error: RolloutSummary["error"], generation: number): RolloutSummary {
  return { reward, error, input_tokens: generation, output_tokens: 1, truncated: false, metrics: {} };
}
