import type { Bound } from "../../../src/endpoint-limits/bound.ts";

/** How a run stood at a moment. Counts are whole numbers, times Unix milliseconds. */
export interface Sample {
  readonly t: number;
  readonly generation: number;
  /** Rollouts done, and of the rows those that ended in an error. */
  readonly done: number;
  readonly errored: number;
  /** Requests at the model server, and those that wait; null while no executor has said it since the object woke up. */
  readonly in_flight: number | null;
  readonly waiting: number | null;
  /** Requests at once as asked for; null = no limit. */
  readonly limit: number | null;
  /** What most of the waiting requests wait for; null = none waits for anything that is known. */
  readonly bound: Bound["kind"] | null;
  readonly bound_limit: number | null;
  /** The mean reward with its 95 % interval, and the examples that it is of; null where there is none. */
  readonly examples: number | null;
  readonly reward: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Samples of a run over time: as many as are kept, whatever it takes. */
export interface Samples {
  /** Two are at least so far apart, unless something is noted out of turn. Milliseconds. */
  readonly step_ms: number;
  /** Oldest first. */
  readonly samples: readonly Sample[];
}

/** 40 to 100 kB as they are stored: two points of a chart on a wide screen are no closer. */
export const MOST_SAMPLES = 720;
/** Of a run that is young: an hour of it then has all of its samples. */
export const FIRST_STEP_MS = 5_000;

export const NO_SAMPLES: Samples = { step_ms: FIRST_STEP_MS, samples: [] };

/** With one sample more, which is not older than the last. When there would be too many every second one goes, and from then on they are taken half as often; the first and the newest stay. */
export function withSample({ step_ms, samples }: Samples, sample: Sample): Samples {
  const all = [...samples, sample];
  if (all.length <= MOST_SAMPLES) return { step_ms, samples: all };
  return { step_ms: 2 * step_ms, samples: all.filter((_, index) => index === 0 || (all.length - 1 - index) % 2 === 0) };
}

/** Whether anything but the time is another. */
export const isNews = ({ t: _, ...before }: Sample, { t: __, ...now }: Sample): boolean => JSON.stringify(before) !== JSON.stringify(now);
