import type { Decision } from "./stop-watch.ts";

/** What a run decided when its rule was met. */
export interface StoppedEarly extends Decision {
  /** As it was written down before the first call. */
  readonly rule: string;
  readonly alpha: number;
  /** Examples that the run was to have. */
  readonly of: number;
}

/** The same when the run rests. */
export interface StoppedRun extends StoppedEarly {
  /** Rollouts that were not played. */
  readonly saved: number;
}

/** `num_examples`: of the run as it is, those that are done or open. */
export const stoppedRun = (
  stopped: StoppedEarly,
  run: { readonly num_examples: number; readonly config: { readonly rollouts_per_example: number } },
): StoppedRun => ({
  ...stopped,
  saved: (stopped.of - run.num_examples) * run.config.rollouts_per_example,
});

const FOUND: Readonly<Record<Decision["finding"], string>> = {
  "narrow enough": "the mean is known closely enough",
  below: "the mean is below",
  above: "the mean is above",
  better: "it is better than its baseline",
  worse: "it is worse than its baseline",
};

const number = (value: number): string => value.toFixed(3);
const percent = (share: number): string => `${Number((100 * (1 - share)).toFixed(3))} %`;

/** What was found, with what holds at any time: `the mean is below (mean 0.512 to 0.698, 95 % at any time)`. */
export function findingText({ finding, alpha, interval: [low, high], p }: Pick<StoppedEarly, "finding" | "alpha" | "interval" | "p">): string {
  const of = finding === "better" || finding === "worse" ? "difference" : "mean";
  const test = p === undefined ? "" : `p ${p.toPrecision(2)}, `;
  return `${FOUND[finding]} (${test}${of} ${number(low)} to ${number(high)}, ${percent(alpha)} at any time)`;
}

/** One line for the log, the report and lists of facts. */
export const stoppedText = (stopped: StoppedEarly): string =>
  `Stopped early after ${stopped.examples} of ${stopped.of} examples by ${stopped.rule}: ${findingText(stopped)}`;

type Fields = Readonly<Record<string, unknown>>;

/** As a `metadata.json` says it under `edgewise.stopped_early`; null where it does not, or says something else. */
export function stoppedRunIn(value: unknown): StoppedRun | null {
  const { rule, alpha, finding, interval, reward_ci95, examples, of, saved, p } = (typeof value === "object" && value !== null ? value : {}) as Fields;
  const [inside, mean] = [pairOf(interval), pairOf(reward_ci95)];
  if (typeof rule !== "string" || typeof alpha !== "number" || inside === null || mean === null) return null;
  if (typeof finding !== "string" || !Object.hasOwn(FOUND, finding)) return null;
  if (typeof examples !== "number" || typeof of !== "number" || typeof saved !== "number") return null;
  const test = typeof p === "number" ? { p } : {};
  return { rule, alpha, finding: finding as Decision["finding"], interval: inside, reward_ci95: mean, examples, of, saved, ...test };
}

function pairOf(value: unknown): readonly [number, number] | null {
  const [low, high] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof low === "number" && typeof high === "number" ? [low, high] : null;
}

/** What is said where another interval is shown than the one that holds at any time. */
export const OTHER_INTERVAL = "intervals here are those of a run of fixed size, and look surer than such a run is";
