/** Metrics of the tasks that share a value under a key, under names of their own: `<metric>[<key>=<value>]`. */
import { MISSING, valueUnder } from "../one-run/row-key.ts";
import type { TaskRewards } from "./first-k.ts";
import type { MetricEstimate, MetricRegistry } from "./metric-registry.ts";

/** The bucket of tasks that have nothing under a key. */
export const MISSING_BUCKET = "__missing__";

/** A task as breakdowns see it. `metadata`: what dotted keys lead into. */
export interface TaskResult {
  readonly rewards: readonly number[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The name of a bucket's metric; `\`, `[`, `]` and `=` of a key or a value are escaped by a `\`, so that no two buckets share a name. */
export const bucketName = (metric: string, key: string, value: string): string => `${metric}[${escaped(key)}=${escaped(value)}]`;

/** All buckets of a key. */
export const keyName = (metric: string, key: string): string => `${metric}[${escaped(key)}]`;

const escaped = (text: string): string => text.replace(/[\\[\]=]/g, (character) => `\\${character}`);

/**
 * The same metrics over each bucket of each key, with its own number of tasks and error, by name; buckets in the order in which their values first appear. Memory:
 * the rewards that are given.
 */
export function bucketEstimates(
  registry: MetricRegistry,
  metrics: readonly string[],
  keys: readonly string[],
  tasks: readonly TaskResult[],
): ReadonlyMap<string, MetricEstimate> {
  const named = new Map<string, MetricEstimate>();
  for (const key of new Set(keys)) {
    const buckets = new Map<string, TaskRewards[number][]>();
    for (const { rewards, metadata } of tasks) {
      const found = valueUnder({ info: metadata }, key);
      const value = found === MISSING ? MISSING_BUCKET : found;
      const bucket = buckets.get(value) ?? [];
      bucket.push(rewards);
      buckets.set(value, bucket);
    }
    for (const [value, bucket] of buckets) {
      for (const [metric, estimate] of registry.compute(metrics, bucket).estimates) named.set(bucketName(metric, key, value), estimate);
    }
  }
  return named;
}
