import type { Case } from "./cases.ts";
import { type Figures, figuresOf, quantile } from "./figures.ts";
import { LimitedWorld } from "./world/limited-world.ts";

const EXECUTORS = 4;
const CONCURRENCY = 64;
/** More than any run comes to. */
const MANY = 1_000_000;

export interface Played {
  /** The worst of the times that are looked at. */
  readonly worst: Figures;
  readonly world: LimitedWorld;
}

const runId = (at: number): string => at.toString(16).padStart(8, "0");

/** So many runs with one key at that provider. */
export async function playCase({ provider, traffic, until, looked }: Case, runs: number, seed = 1): Promise<Played> {
  const plans = Array.from({ length: runs }, (_, at) => ({ id: runId(at), examples: MANY, concurrency: CONCURRENCY }));
  const world = new LimitedWorld({ seed, provider, traffic, executors: EXECUTORS, runs: plans });
  await world.pass(until);
  const all = looked.map(([from, to]) => figuresOf(world, from, to));
  const worst = all.reduce((a, b) => ({
    use: Math.min(a.use, b.use),
    refused: Math.max(a.refused, b.refused),
    jain: Math.min(a.jain, b.jain),
    failures: Math.max(a.failures, b.failures),
    exchanges: Math.max(a.exchanges, b.exchanges),
  }));
  return { worst, world };
}

const SMALL_RUNS = 40;
const FIRST_SMALL_MS = 120_000;
const BETWEEN_MS = 15_000;
const FEW = 5;

export interface FirstResults {
  /** 95th percentiles of the time to the first result. Milliseconds. */
  readonly alone: number;
  readonly beside: number;
}

/** A run of five examples now and then, alone and beside one of ten thousand and more that has all that the provider gives. */
export async function playBeside({ provider, traffic }: Pick<Case, "provider" | "traffic">, seed = 1): Promise<FirstResults> {
  const p95 = async (large: boolean): Promise<number> => {
    const small = Array.from({ length: SMALL_RUNS }, (_, at) => ({
      id: runId(at + 1),
      examples: FEW,
      concurrency: FEW,
      from_ms: FIRST_SMALL_MS + at * BETWEEN_MS,
    }));
    const runs = [...(large ? [{ id: runId(0), examples: MANY, concurrency: CONCURRENCY }] : []), ...small];
    const world = new LimitedWorld({ seed, provider, traffic, executors: EXECUTORS, runs });
    await world.pass(FIRST_SMALL_MS + (SMALL_RUNS + 4) * BETWEEN_MS);
    const first = world.runs.filter(({ plan }) => plan.examples === FEW).map(({ firstAfter }) => firstAfter ?? Number.POSITIVE_INFINITY);
    return quantile(first, 0.95);
  };
  return { alone: await p95(false), beside: await p95(true) };
}
