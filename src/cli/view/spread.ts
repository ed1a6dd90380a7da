/** Numbers over the rows of a run, row by row: rewards in classes, errors by name, metrics with count, mean, least and most. Pure. */
import { PromptGroups } from "../../metrics/grouping.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import { objectOf } from "./json-text.ts";

/** The classes of the reference's viewer. */
const CLASSES: readonly (readonly [string, (reward: number) => boolean])[] = [
  ["below 0", (reward) => reward < 0],
  ["0", (reward) => reward === 0],
  ["0 to 0.25", (reward) => reward < 0.25],
  ["0.25 to 0.5", (reward) => reward < 0.5],
  ["0.5 to 0.75", (reward) => reward < 0.75],
  ["0.75 to 1", (reward) => reward < 1],
  ["1", (reward) => reward === 1],
  ["above 1", () => true],
];

export interface MetricSpread {
  readonly name: string;
  readonly count: number;
  readonly mean: number;
  readonly least: number;
  readonly most: number;
}

/** Names of metrics and of errors that are told apart. */
const NAMES = 200;

/** Rewards by class, each with its count, empty ones too. */
export class RewardClasses {
  private readonly counts = CLASSES.map(() => 0);
  total = 0;

  add(reward: number): void {
    const at = CLASSES.findIndex(([, holds]) => holds(reward));
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.total += 1;
  }

  entries(): readonly { readonly label: string; readonly count: number }[] {
    return CLASSES.map(([label], i) => ({ label, count: this.counts[i] ?? 0 }));
  }
}

export class RowSpread {
  readonly rewards = new RewardClasses();
  readonly groups = new PromptGroups();
  private readonly metrics = new Map<string, { count: number; sum: number; least: number; most: number }>();
  private readonly errorCounts = new Map<string, number>();
  private sum = 0;
  rows = 0;
  errored = 0;
  /** Rows that could not be read. */
  broken = 0;

  add(row: Readonly<Record<string, unknown>>): void {
    const { reward, error, metrics } = summaryOfRow(row);
    // Rows of 2025 call the example `id`.
    this.groups.add(row.example_id ?? row.id, row.prompt);
    this.rows += 1;
    this.sum += reward;
    this.rewards.add(reward);
    for (const [name, value] of Object.entries(metrics)) this.addMetric(name, value);
    if (error === null) return;
    this.errored += 1;
    const { code, error: kind } = objectOf(row.error);
    const name = typeof code === "string" ? code : typeof kind === "string" ? kind : error;
    if (this.errorCounts.has(name) || this.errorCounts.size < NAMES) this.errorCounts.set(name, (this.errorCounts.get(name) ?? 0) + 1);
  }

  get meanReward(): number | null {
    return this.rows === 0 ? null : this.sum / this.rows;
  }

  /** The most frequent first. */
  errors(): readonly (readonly [string, number])[] {
    return [...this.errorCounts].sort(([, a], [, b]) => b - a);
  }

  metricSpreads(): readonly MetricSpread[] {
    return [...this.metrics].map(([name, { count, sum, least, most }]) => ({ name, count, mean: sum / count, least, most }));
  }

  private addMetric(name: string, value: number): void {
    const known = this.metrics.get(name);
    if (known !== undefined) {
      known.count += 1;
      known.sum += value;
      known.least = Math.min(known.least, value);
      known.most = Math.max(known.most, value);
    } else if (this.metrics.size < NAMES) this.metrics.set(name, { count: 1, sum: value, least: value, most: value });
  }
}

const GROUPS: readonly (readonly [string, RegExp])[] = [
  ["Tokens", /token/i],
  ["Errors", /error|fail|invalid/i],
  ["Calls", /calls?$/i],
  ["Flow", /turn|step|truncat|stop/i],
  ["Timing", /_ms$|time|second|latency|duration/i],
  ["Scores", /reward|score|correct|accura|pass|match|judge/i],
];

/** Metrics of a kind beside each other, as their names tell; groups without any are left out. */
export function grouped(metrics: readonly MetricSpread[]): readonly { readonly group: string; readonly metrics: readonly MetricSpread[] }[] {
  const groupOf = ({ name }: MetricSpread): string => GROUPS.find(([, pattern]) => pattern.test(name))?.[0] ?? "Other";
  return [...GROUPS.map(([name]) => name), "Other"].flatMap((group) => {
    const own = metrics.filter((metric) => groupOf(metric) === group);
    return own.length === 0 ? [] : [{ group, metrics: own }];
  });
}
