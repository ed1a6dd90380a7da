import { sleep } from "../clients/transport/sleep.ts";
import type { HostedEnvironment } from "../environments/hosted/hosted-environment.ts";
import type { EnvironmentTraits } from "../environments/hosted/traits.ts";
import type { PlayedUnit, PlayOptions } from "../environments/unit/play-unit.ts";
import type { ScoreStoredOptions } from "../environments/unit/score-stored.ts";
import type { KeptRollout, Stored } from "../environments/unit/stored-rollout.ts";
import { isPassing } from "../errors/passing.ts";
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

/** How much longer than the first one others may take that are waited for. Milliseconds. */
const TOGETHER_MS = 100;

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
  /** Under way here, and given to it ever: counted before anybody waits, so that the next one sees it. */
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

  /** Settles when what is being opened is. */
  async settled(): Promise<void> {
    await this.#opening;
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

  async work<T>(work: (hosted: HostedEnvironment) => Promise<T>): Promise<T> {
    this.units++;
    this.given++;
    try {
      if (this.hosted === null) throw new EdgewiseError("environment_failed", `the environment at ${this.shown} is not there`, { passing: true });
      return await work(this.hosted);
    } finally {
      this.units--;
    }
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

  /**
   * Resolves a little after the first place is loaded, with those that are: copies that were begun together are there at about the same time, and whoever is there alone would get
   * all that begins. The others come when they are. Rejects with what the first of them said where none can be loaded, the first that may come back before others.
   */
  static async open(places: readonly Place[], options: SpreadOptions): Promise<SpreadHosted> {
    const begin = Math.floor(options.random() * places.length);
    const shared = { traits: null };
    const own = places.map((place, at) => new OnePlace(place, (at - begin + places.length) % places.length, shared, options));
    const beganAt = options.now();
    const first = await firstOpen(own);
    await together(own, options.now() - beganAt + TOGETHER_MS);
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
    for (const place of this.#places) place.tryOpening();
    if (this.#open.length === 0) await firstOpen(this.#places);
    return await this.#best().work(work);
  }

  /** Of those that are open; one that has just been lost again says so itself. */
  #best(): OnePlace {
    const [first, ...others] = this.#open;
    const fewer = (best: OnePlace, each: OnePlace): OnePlace =>
      each.units < best.units || (each.units === best.units && each.given < best.given) ? each : best;
    return others.reduce(fewer, first ?? (this.#places[0] as OnePlace));
  }
}

/** Waits until all are open or have failed, and no longer than `ms`. */
async function together(places: readonly OnePlace[], ms: number): Promise<void> {
  const waited = new AbortController();
  const late = sleep(ms, waited.signal).catch(() => undefined);
  await Promise.race([Promise.allSettled(places.filter(({ isOpen }) => !isOpen).map((place) => place.settled())), late]);
  waited.abort();
}

async function firstOpen(places: readonly OnePlace[]): Promise<OnePlace> {
  const opening = places.map(async (place) => {
    await place.open();
    return place;
  });
  try {
    return await Promise.any(opening);
  } catch (thrown) {
    if (!(thrown instanceof AggregateError)) throw thrown;
    // Where one of them may come back, the environment may.
    throw thrown.errors.find(isPassing) ?? thrown.errors[0];
  }
}
