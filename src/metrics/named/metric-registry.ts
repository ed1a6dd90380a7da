import { nearest } from "../../config/nearest.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { RewardSpread } from "../interval.ts";
import type { Estimate } from "../one-run/estimate.ts";
import { MEAN_REWARD, PASS_RATE, passAllOfFirst, passAtFirst, type TaskMetric, type TaskRewards } from "./first-k.ts";

/** A metric of one's own: any number over the rewards of the tasks that have attempts; there is at least one. */
export type MetricFunction = (tasks: TaskRewards) => number;

/** A metric's value; a function of one's own has no error. */
export type MetricEstimate = Pick<Estimate, "n" | "stderr" | "ci95"> & { readonly value: number };

export const DEFAULT_METRICS: readonly string[] = ["mean_reward", "pass_rate"];
/** How many tasks there were; stands beside whatever is asked for. */
export const TASK_COUNT = "n_tasks";
/** How many tasks of the data set there were beside those, where somebody counted them. */
export const NOT_RUN_COUNT = "n_not_run";

export interface NamedMetrics {
  /** By name, in the order in which they were asked for. */
  readonly estimates: ReadonlyMap<string, MetricEstimate>;
  /** A line for each name that nobody registered. */
  readonly warnings: readonly string[];
}

/** Metrics by their exact names: no number is read out of a name, so that `pass@5` is there when somebody registered it. */
export class MetricRegistry {
  readonly #metrics = new Map<string, TaskMetric | MetricFunction>([
    ["mean_reward", MEAN_REWARD],
    ["avg", MEAN_REWARD],
    ["pass_rate", PASS_RATE],
    ["pass@1", passAtFirst(1)],
    ["pass@3", passAtFirst(3)],
    ["pass^3", passAllOfFirst(3)],
  ]);

  get names(): readonly string[] {
    return [...this.#metrics.keys()];
  }

  /** Throws `invalid_request` for a name that is taken. */
  register(name: string, metric: TaskMetric | MetricFunction): void {
    if (name === "") throw new EdgewiseError("invalid_request", "a metric needs a name");
    if (this.#metrics.has(name) || [TASK_COUNT, NOT_RUN_COUNT].includes(name))
      throw new EdgewiseError("invalid_request", `a metric is called ${JSON.stringify(name)} already`);
    this.#metrics.set(name, metric);
  }

  /** What `asked` says of `tasks`; none asked = `DEFAULT_METRICS`. Without a task that has attempts every value is 0. Throws `invalid_request` for a value that is no finite number. */
  compute(asked: readonly string[], tasks: TaskRewards): NamedMetrics {
    const attempted = tasks.filter((rewards) => rewards.length > 0);
    const estimates = new Map<string, MetricEstimate>();
    const warnings: string[] = [];
    for (const name of new Set(asked.length === 0 ? DEFAULT_METRICS : asked)) {
      const metric = this.#metrics.get(name);
      if (metric === undefined) warnings.push(this.#unknown(name));
      else estimates.set(name, estimateOf(name, metric, attempted));
    }
    return { estimates, warnings };
  }

  #unknown(name: string): string {
    const close = nearest(name, this.names);
    return `there is no metric ${JSON.stringify(name)}, it is left out${close === null ? "" : `: did you mean ${close}?`} (there are ${this.names.join(", ")})`;
  }
}

/** The metrics of this process, with what was registered. */
export const METRICS = new MetricRegistry();

function estimateOf(name: string, metric: TaskMetric | MetricFunction, tasks: TaskRewards): MetricEstimate {
  const n = tasks.length;
  if (n === 0) return { value: 0, n, stderr: null, ci95: null };
  if (typeof metric === "function") return { value: finite(name, metric(tasks)), n, stderr: null, ci95: null };
  const spread = new RewardSpread(null);
  let [sum, count] = [0, 0];
  const sizes = new Set<number>();
  for (const rewards of tasks) {
    const values = metric.values(rewards);
    sizes.add(values.length);
    spread.addExample(values);
    count += metric.over === "sample" ? values.length : 1;
    sum += metric.over === "sample" ? total(values) : total(values) / values.length;
  }
  // Where tasks have different numbers of attempts, the mean over attempts is not the mean over tasks, of which the error is.
  const same = metric.over === "task" || sizes.size === 1;
  const { stderr, ci95 } = spread.estimate();
  return { value: finite(name, sum / count), n, stderr: same ? stderr : null, ci95: same ? ci95 : null };
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

function finite(name: string, value: number): number {
  if (Number.isFinite(value)) return value;
  throw new EdgewiseError("invalid_request", `the metric ${JSON.stringify(name)} gave ${value}, which is no number`);
}
