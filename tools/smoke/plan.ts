/** What the command line asks of the smoke test. */
import { parseArgs } from "node:util";
import { CONSUMER_WALL_MS } from "../../src/limits.ts";

export const USAGE = `usage: npm run smoke:deployed -- [--probe URL] [-k KEY_VAR] [--delay SECONDS] [-n EXAMPLES] [-c REQUESTS] [-r ROLLOUTS] [--within SECONDS] [--keep]
       npm run smoke:deployed -- --local [the same]           a dry run on this machine, in which time is short
       npm run smoke:deployed -- -m MODEL -b MODEL_URL [...]  one small run of a real model`;

/** What a person has to change; ends with exit code 2. */
export class UsageError extends Error {}

export interface Plan {
  readonly kind: "deployed" | "local" | "model";
  /** Absent in a dry run without EDGEWISE_URL, which starts a service of its own. */
  readonly service: { readonly url: string; readonly token: string } | null;
  /** Address of a probe that is there; null = to be deployed, or in a dry run started. */
  readonly probe: string | null;
  /** A real model in place of the probe. */
  readonly model: { readonly name: string; readonly url: string } | null;
  readonly keyVar: string | null;
  /** How long the probe takes to answer. */
  readonly delayMs: number;
  readonly concurrency: number;
  readonly rollouts: number;
  readonly examples: number;
  /** When a run must have ended; null = by its size (`patienceOf`). */
  readonly withinMs: number | null;
  readonly keep: boolean;
}

/** Of a deployment's: 1,100 × 16 at 500 requests of 30 s are 17.6 minutes at best, so that each executor of the first ends at the wall. */
const DEFAULTS = {
  deployed: { delay: "30", n: "1100", c: "500", r: "16" },
  // Four executors of five requests each for each run.
  local: { delay: "0.3", n: "6", c: "20", r: "16" },
  model: { delay: "0", n: "200", c: "40", r: "1" },
} as const;
/**
 * Of an executor of the dry run. Its five requests of 0.3 s take 16 rollouts in 1.2 s, and have room for another unit from 0.9 s on: so each executor
 * makes one unit, and the next is another's.
 */
export const DRY_SLICE_MS = 800;
/** The delay at which times are as they are said. */
const FULL_DELAY_MS = 30_000;

/** What of the times of a deployment is left in this plan. */
export const scaleOf = ({ delayMs, kind }: Plan): number => (kind === "model" ? 1 : delayMs / FULL_DELAY_MS);

/** Longer than this no executor lives, so that a run that lasts longer has seen some end. */
export const wallMs = (plan: Plan): number => (plan.kind === "local" ? DRY_SLICE_MS : CONSUMER_WALL_MS * scaleOf(plan));

/** The least time that a run can take. */
export const idealMs = ({ delayMs, rollouts, concurrency }: Plan, examples: number): number => Math.ceil((examples * rollouts) / concurrency) * delayMs;

/** How long a run may take: three times the least, and the time of executors that come late. */
export const patienceOf = (plan: Plan, examples: number): number =>
  plan.withinMs ?? 60_000 + 3 * idealMs(plan, examples) + (plan.kind === "model" ? 3_600_000 : 600_000 * scaleOf(plan));

/** Throws `UsageError`, naming everything that is missing. */
export function readPlan(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Plan {
  const { values } = parseArgs({
    args: [...args],
    options: {
      model: { type: "string", short: "m" },
      "api-base-url": { type: "string", short: "b" },
      "api-key-var": { type: "string", short: "k" },
      "num-examples": { type: "string", short: "n" },
      "rollouts-per-example": { type: "string", short: "r" },
      "max-concurrent": { type: "string", short: "c" },
      probe: { type: "string" },
      delay: { type: "string" },
      within: { type: "string" },
      local: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  const { EDGEWISE_URL: url, EDGEWISE_TOKEN: token } = env;
  const { model, "api-base-url": baseUrl, local, keep, probe } = values;
  const kind = local ? "local" : model !== undefined || baseUrl !== undefined ? "model" : "deployed";
  const missing = [
    ...(local || url ? [] : ["EDGEWISE_URL is not set: the address `wrangler deploy` printed"]),
    ...(local || token ? [] : ["EDGEWISE_TOKEN is not set: what was typed at `wrangler secret put EDGEWISE_TOKEN`"]),
    ...(kind !== "model" || model ? [] : ["-m is missing: the model to call"]),
    ...(kind !== "model" || baseUrl ? [] : ["-b is missing: base URL of an OpenAI-compatible endpoint that the deployment can reach"]),
    ...(local && (model ?? baseUrl ?? probe) !== undefined ? ["--local starts an endpoint of its own: leave -m, -b and --probe out"] : []),
  ];
  if (missing.length > 0) throw new UsageError(missing.join("\n"));
  const defaults = DEFAULTS[kind];
  return {
    kind,
    service: local ? null : { url: url ?? "", token: token ?? "" },
    probe: probe?.replace(/\/+$/, "") ?? null,
    model: kind === "model" ? { name: model ?? "", url: baseUrl ?? "" } : null,
    keyVar: values["api-key-var"] ?? (kind === "deployed" ? "SMOKE_API_KEY" : null),
    delayMs: Math.round(1_000 * amount("--delay", values.delay ?? defaults.delay)),
    concurrency: count("-c", values["max-concurrent"] ?? defaults.c),
    rollouts: count("-r", values["rollouts-per-example"] ?? defaults.r),
    examples: count("-n", values["num-examples"] ?? defaults.n),
    withinMs: values.within === undefined ? null : 1_000 * amount("--within", values.within),
    keep,
  };
}

function count(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`${flag} ${text}: not a whole number above 0`);
  return Number(text);
}

function amount(flag: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`${flag} ${text}: not a number of seconds`);
  return Number(text);
}
