import type { HostedEnvironment } from "../environments/hosted/hosted-environment.ts";
import type { EnvironmentTraits } from "../environments/hosted/traits.ts";
import type { PlayedUnit, PlayOptions } from "../environments/unit/play-unit.ts";
import type { ScoreStoredOptions } from "../environments/unit/score-stored.ts";
import type { KeptRollout, Stored } from "../environments/unit/stored-rollout.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { PLACE_PAUSE_FIRST_MS, PLACE_PAUSE_LAST_MS } from "../limits.ts";
import type { RolloutInput } from "../rollouts/types.ts";

/** An environment at one place, whose channel may be lost and opened anew. */
export interface ReopenedEnvironment extends HostedEnvironment {
  readonly isOpen: boolean;
  /** Takes the equal traits of another copy in place of its own. */
  adopt(traits: EnvironmentTraits): void;
  /** Has it opened, where it is not. */
  ready(): Promise<void>;
}

export interface SpreadOptions {
  readonly now: () => number;
  /** [0, 1): executors do not all begin with the same place. */
  readonly random: () => number;
  /** Told of places that are left out, for whoever reads the log of the run. */
  readonly warn: (message: string) => void;
  /** Of a place that cannot be reached, doubling. Milliseconds. */
  readonly pauseMs?: { readonly first: number; readonly last: number };
}

/** Loads the environment at one place; rejects where that is not possible. */
export interface Place {
  /** As messages name it. */
  readonly shown: string;
  readonly load: () => Promise<ReopenedEnvironment>;
}

/** One place, as far as it is there. */
class OnePlace {
  readonly shown: string;
  readonly #load: Place["load"];
  readonly #options: SpreadOptions;
  /** The traits of whichever was there first. */
  readonly #shared: { traits: EnvironmentTraits | null };
  hosted: ReopenedEnvironment | null = null;
  /** Under way here, and given to it ever. */
  units = 0;
  given: number;
  #opening: Promise<void> | null = null;
  #failures = 0;
  #pausedUntil = 0;
  #isOver = false;

  constructor({ shown, load }: Place, given: number, shared: { traits: EnvironmentTraits | null }, options: SpreadOptions) {
    this.#shared = shared;
    this.shown = shown;
    this.#load = load;
    this.given = given;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#opening === null && this.hosted?.isOpen === true;
  }

  /** Has it opened, where it is not and its pause is over. */
  tryOpening(): void {
    if (!this.isOpen && this.#options.now() >= this.#pausedUntil) void this.open().catch(() => undefined);
  }

  /** Resolves when it is open. Rejects with what keeps it from that. */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      if (this.hosted === null) await this.#begin();
      else await this.hosted.ready();
      this.#failures = 0;
    } catch (thrown) {
      const { now, warn, pauseMs = { first: PLACE_PAUSE_FIRST_MS, last: PLACE_PAUSE_LAST_MS } } = this.#options;
      if (this.#failures === 0) warn(`${this.shown} is left out for now: ${failureOf(thrown).message}`);
      this.#pausedUntil = now() + Math.min(pauseMs.last, pauseMs.first * 2 ** this.#failures++);
      throw thrown;
    }
  }

  async #begin(): Promise<void> {
    const hosted = await this.#load();
    if (this.#isOver) return await hosted.teardown();
    const traits = this.#shared.traits ?? hosted.traits;
    if (JSON.stringify(traits) !== JSON.stringify(hosted.traits)) {
      await hosted.teardown();
      throw new EdgewiseError("environment_failed", `the environment at ${this.shown} is another one than at the other addresses of its link`);
    }
    hosted.adopt(traits);
    this.#shared.traits = traits;
    this.hosted = hosted;
  }

  /** Rejects with what the environment threw. What is being loaded ends when it is. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.hosted?.teardown();
  }
}

/**
 * One environment at several places, each with the same code: an example is played where fewest are under way. A place that cannot be opened is left out while others
 * can, and tried again now and then.
 */
export class SpreadHosted implements HostedEnvironment {
  readonly traits: EnvironmentTraits;
  readonly #places: readonly OnePlace[];
  /** Where examples are read. */
  #reader: HostedEnvironment;

  private constructor(places: readonly OnePlace[], first: HostedEnvironment) {
    this.#places = places;
    this.#reader = first;
    this.traits = first.traits;
  }

  /** Resolves with the first place that is loaded; the others come when they are. Rejects with what the first of them said where none can be. */
  static async open(places: readonly Place[], options: SpreadOptions): Promise<SpreadHosted> {
    const begin = Math.floor(options.random() * places.length);
    const shared = { traits: null };
    const own = places.map((place, at) => new OnePlace(place, (at - begin + places.length) % places.length, shared, options));
    const first = await firstOpen(own);
    return new SpreadHosted(own, first.hosted as HostedEnvironment);
  }

  examples(count: number): AsyncIterable<RolloutInput> {
    this.#reader = this.#open[0]?.hosted ?? this.#reader;
    return this.#reader.examples(count);
  }

  datasetSize(): Promise<number | null> {
    return this.#reader.datasetSize();
  }

  play(input: RolloutInput, indices: readonly number[], options: PlayOptions): Promise<PlayedUnit> {
    return this.#at((hosted) => hosted.play(input, indices, options));
  }

  scoreStored(input: RolloutInput, rows: readonly KeptRollout[], options: ScoreStoredOptions): Promise<readonly Stored[] | null> {
    return this.#at((hosted) => hosted.scoreStored(input, rows, options));
  }

  async teardown(): Promise<void> {
    const ended = await Promise.allSettled(this.#places.map((place) => place.end()));
    const failed = ended.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  get #open(): readonly OnePlace[] {
    return this.#places.filter(({ isOpen }) => isOpen);
  }

  async #at<T>(work: (hosted: HostedEnvironment) => Promise<T>): Promise<T> {
    const place = await this.#place();
    place.units++;
    place.given++;
    try {
      return await work(place.hosted as HostedEnvironment);
    } finally {
      place.units--;
    }
  }

  async #place(): Promise<OnePlace> {
    for (const place of this.#places) place.tryOpening();
    const open = this.#open;
    if (open.length === 0) return await firstOpen(this.#places);
    return open.reduce((best, each) => (each.units < best.units || (each.units === best.units && each.given < best.given) ? each : best));
  }
}

async function firstOpen(places: readonly OnePlace[]): Promise<OnePlace> {
  const opening = places.map(async (place) => {
    await place.open();
    return place;
  });
  try {
    return await Promise.any(opening);
  } catch (thrown) {
    throw thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  }
}
