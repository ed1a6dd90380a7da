import { EdgewiseError } from "../src/errors/result.ts";
import type { RunContext, RunTiming } from "./run/state/context.ts";

/** A whole number of a `[vars]` entry; an unusable one stops the service with the variable's name. */
export function numberVar(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new EdgewiseError("internal", `Variable ${name} must be a number of at least 0, it is ${JSON.stringify(text)}.`);
  return value;
}

interface TimingVars {
  readonly LEASE_MS?: string;
  readonly GRACE_MS?: string;
  readonly BEAT_MS?: string;
  readonly HEARTBEAT_MS?: string;
  readonly REFUSALS_MS?: string;
  readonly CODE_WAIT_MS?: string;
  readonly BATCH_LOOK_MS?: string;
}

export const runTiming = (env: TimingVars): RunTiming => ({
  lease: numberVar("LEASE_MS", env.LEASE_MS, 30_000),
  grace: numberVar("GRACE_MS", env.GRACE_MS, 10_000),
  beat: numberVar("BEAT_MS", env.BEAT_MS, 10_000),
  heartbeat: numberVar("HEARTBEAT_MS", env.HEARTBEAT_MS, 30_000),
  refusals: numberVar("REFUSALS_MS", env.REFUSALS_MS, 30_000),
  code: numberVar("CODE_WAIT_MS", env.CODE_WAIT_MS, 600_000),
  look: numberVar("BATCH_LOOK_MS", env.BATCH_LOOK_MS, 5_000),
});

/** What a Run decides by: the intervals, and where it is set the least that a span has (absent = as grants/spans.ts has it). */
export function runNumbers(env: TimingVars & { readonly SPAN_ROLLOUTS?: string }): Pick<RunContext, "timing" | "span"> {
  const span = numberVar("SPAN_ROLLOUTS", env.SPAN_ROLLOUTS, 0);
  return { timing: runTiming(env), ...(span > 0 ? { span } : {}) };
}
