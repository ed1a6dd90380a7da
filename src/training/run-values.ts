import { averageReward, type Totals } from "../metrics/totals.ts";
import type { Estimate } from "../metrics/one-run/estimate.ts";
import type { PassIntervals, PassRates } from "../metrics/pass-at-k.ts";
import type { Value } from "./state.ts";

/** What a run says of itself that numbers are taken from, as its object and its `metadata.json` have it. */
export interface RunNumbers {
  readonly totals: Totals;
  readonly scores?: {
    readonly reward_ci95: readonly [number, number] | null;
    readonly pass_at_k: PassRates;
    readonly pass_all_k?: PassRates;
    readonly pass_at_k_ci95?: PassIntervals;
    readonly pass_all_k_ci95?: PassIntervals;
    readonly metric_estimates?: Readonly<Record<string, Estimate>>;
  };
}

/** A name that the environment gave a number of its own. */
type Source = (run: RunNumbers, name: string) => Value | undefined;

const known = (value: number | null | undefined, interval?: readonly [number, number] | null): Value | undefined =>
  value === null || value === undefined || !Number.isFinite(value)
    ? undefined
    : { value, ...(interval === null || interval === undefined ? {} : { ci95: interval }) };

const reward: Source = ({ totals, scores }) => known(averageReward(totals), scores?.reward_ci95);

/** Where every example has the same number of attempts, pass@1 is the share of attempts that pass. */
const passRate: Source = ({ scores }) => known(scores?.pass_at_k["1"], scores?.pass_at_k_ci95?.["1"]);

const BY_NAME: Readonly<Record<string, Source>> = { mean_reward: reward, avg: reward, pass_rate: passRate };

function ofPattern({ scores }: RunNumbers, name: string): Value | undefined {
  const [, kind, k = ""] = /^pass(@|\^)(\d+)$/.exec(name) ?? [];
  if (kind === "@") return known(scores?.pass_at_k[k], scores?.pass_at_k_ci95?.[k]);
  return kind === "^" ? known(scores?.pass_all_k?.[k], scores?.pass_all_k_ci95?.[k]) : undefined;
}

function ofEnvironment({ totals, scores }: RunNumbers, name: string): Value | undefined {
  const told = totals.metrics[name];
  return told === undefined || told.count === 0 ? undefined : known(told.sum / told.count, scores?.metric_estimates?.[name]?.ci95);
}

/** The numbers of a settled run that were asked for, each with its interval where the run has one; a name that it has not is left out. */
export function valuesOfRun(run: RunNumbers, names: readonly string[]): Record<string, Value> {
  const found = names.map((name) => [name, BY_NAME[name]?.(run, name) ?? ofPattern(run, name) ?? ofEnvironment(run, name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
