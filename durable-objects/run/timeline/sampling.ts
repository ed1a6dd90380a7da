import { averageReward, erroredRollouts } from "../../../src/metrics/totals.ts";
import type { LiveMean } from "../../../src/metrics/one-run/live-mean.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { RunHead } from "../state/head.ts";
import type { Vitals } from "../vitals.ts";
import { isNews, NO_SAMPLES, type Sample, type Samples, withSample } from "./samples.ts";

/** What a sample is taken of, beside the head. */
export interface Standing {
  readonly config: Pick<RunConfig, "max_concurrent" | "rollouts_per_example">;
  /** Null: nobody has said anything since the object woke up. */
  readonly vitals: Vitals | null;
  /** Null: there is none (LivePrefix). */
  readonly live: LiveMean | null;
}

/**
 * Whether a sample is to be taken: by the clock while the run works, and out of turn when it begins, begins anew, and has settled. Of an evaluation that is
 * pushed nothing happens here.
 */
export function isDue(taken: Samples | null, { phase, pushed, generation, settled_at }: RunHead, now: number): boolean {
  if (pushed !== undefined || phase === "preparing") return false;
  const last = taken?.samples.at(-1);
  if (taken === null || last === undefined || last.generation !== generation) return true;
  if (phase === "settled") return settled_at !== null && last.t < settled_at;
  return now - last.t >= taken.step_ms;
}

/** The samples with that of now; null where nothing is to be stored, since nothing is another. */
export function sampled(taken: Samples | null, head: RunHead, standing: Standing, now: number): Samples | null {
  const last = taken?.samples.at(-1);
  const sample = sampleOf(head, standing, now, last);
  if (last !== undefined && head.phase !== "settled" && !isNews(last, sample)) return null;
  return withSample(taken ?? NO_SAMPLES, sample);
}

function sampleOf(head: RunHead, { config, vitals, live }: Standing, now: number, last: Sample | undefined): Sample {
  const { totals, generation, done } = head;
  const waits = vitals !== null && vitals.waiting > 0;
  const bound = waits ? (vitals.limited?.bound ?? ((vitals.paused_until ?? 0) > now ? { kind: "pause" as const, limit: null } : null)) : null;
  return {
    // The clock of a run may be set back, and a chart has one direction.
    t: Math.max(now, last?.t ?? 0, head.phase === "settled" ? (head.settled_at ?? 0) : 0),
    generation,
    done: done * config.rollouts_per_example,
    errored: erroredRollouts(totals),
    in_flight: vitals?.in_flight ?? null,
    waiting: vitals?.waiting ?? null,
    limit: config.max_concurrent < 1 ? null : config.max_concurrent,
    bound: bound?.kind ?? null,
    bound_limit: bound?.limit ?? null,
    ...rewardOf(head, live, last),
    input_tokens: totals.input_tokens,
    output_tokens: totals.output_tokens,
  };
}

/** An object that has just woken up follows its examples from the first on, a part at each look: until it has caught up it says nothing, or a line would fall back. */
function rewardOf(head: RunHead, live: LiveMean | null, last: Sample | undefined): Pick<Sample, "examples" | "reward" | "lo" | "hi"> {
  const mean = live ?? (head.phase === "settled" ? { examples: head.done, mean: averageReward(head.totals), ci95: head.scores?.reward_ci95 ?? null } : null);
  const isBehind = mean !== null && last !== undefined && last.generation === head.generation && mean.examples < (last.examples ?? 0);
  if (mean === null || isBehind || mean.mean === null)
    return { examples: isBehind ? (last?.examples ?? null) : (mean?.examples ?? null), reward: null, lo: null, hi: null };
  return { examples: mean.examples, reward: short(mean.mean), lo: short(mean.ci95?.[0]), hi: short(mean.ci95?.[1]) };
}

/** As much of a number as a chart shows. */
const short = (value: number | undefined): number | null => (value === undefined ? null : Number(value.toPrecision(6)));
