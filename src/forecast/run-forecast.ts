import type { RolloutFigures } from "./figures.ts";
import { exactly, LEAST_EXAMPLES, type Predicted, predictedSum, sumOf } from "./predicted-sum.ts";
import { type Pace, wallTime } from "./wall-time.ts";

/** What of a run is counted by the example. */
export const COUNTED = ["calls", "input_tokens", "output_tokens", "judge_calls", "judge_input_tokens", "judge_output_tokens"] as const;
export type Counted = (typeof COUNTED)[number];

/** What a whole run will take. `spent`: what of it has been taken already. */
export type RunForecast = { readonly [Name in Counted]: Predicted & { readonly spent: number } } & {
  /** Null: the price of the model, or of a judge, is not known. */
  readonly cost_usd: (Predicted & { readonly spent: number }) | null;
  /** From now to its end. Null: its requests go out in batches, or those of the examples did. */
  readonly seconds: Predicted | null;
};

export interface ForecastWish {
  /** Examples that were played, each with its rollouts. */
  readonly examples: readonly (readonly RolloutFigures[])[];
  /** Whether they are of the run itself, whose numbers begin with theirs; else they are of runs before. */
  readonly own: boolean;
  /** Examples of the whole run. */
  readonly total: number;
  /** Rollouts of each of its examples. */
  readonly rollouts: number;
  /** Null: nobody knows, since its provider answers when it likes. */
  readonly pace: Pace | null;
}

/** What a run will take, from examples of it or of runs like it; null where they are too few to say. */
export function forecastRun({ examples, own, total, rollouts, pace }: ForecastWish): RunForecast | null {
  if (examples.length < LEAST_EXAMPLES) return null;
  const more = own ? Math.max(0, total - examples.length) : total;
  const ofExamples = (value: (rollout: RolloutFigures) => number): readonly number[] =>
    // Fewer attempts stand for more of them: their mean is as right, and scatters more, so that the interval is rather too wide.
    examples.map((each) => (sumOf(each.map(value)) * (own ? each.length : rollouts)) / Math.max(1, each.length));
  /** Of one call each only the data set says how much is read: what a model makes of it runs away, and not that. */
  const isOneTurn = examples.every((each) => each.every(({ calls }) => calls <= 1));
  const whole = (value: (rollout: RolloutFigures) => number, paid = value, unseen = true): Predicted & { readonly spent: number } => {
    const values = ofExamples(value);
    const spent = own ? sumOf(ofExamples(paid)) : 0;
    const { expected, low, high } = predictedSum(values, more, { unseen });
    return { spent, expected: spent + expected, low: spent + low, high: spent + high };
  };
  const counts = Object.fromEntries(
    COUNTED.map((name) => [name, whole((rollout) => rollout[name], undefined, name !== "input_tokens" || !isOneTurn)]),
  ) as Record<Counted, Predicted & { spent: number }>;
  const priced = examples.every((each) => each.every(({ cost_usd, paid_usd }) => cost_usd !== null && (!own || paid_usd !== null)));
  const toCome = ({ spent, expected, low, high }: Predicted & { spent: number }): Predicted => ({
    expected: expected - spent,
    low: low - spent,
    high: high - spent,
  });
  const [calls, input, output] = [toCome(counts.calls), toCome(counts.input_tokens), toCome(counts.output_tokens)];
  const tokens = { expected: input.expected + output.expected, low: input.low + output.low, high: input.high + output.high };
  const taken = examples.flatMap((each) => each.map(({ seconds }) => seconds));
  const isTimed = taken.every((seconds) => seconds !== null);
  const time = (known: Pace): Predicted => {
    const longest = Math.max(...taken.map((seconds) => seconds ?? 0));
    return wallTime({ seconds: ofExamples(({ seconds }) => seconds ?? 0), longest, more, rollouts, calls, tokens }, known);
  };
  return {
    ...counts,
    cost_usd: priced
      ? whole(
          ({ cost_usd }) => cost_usd ?? 0,
          ({ paid_usd }) => paid_usd ?? 0,
        )
      : null,
    seconds: more === 0 ? exactly(0) : pace === null || !isTimed ? null : time(pace),
  };
}
