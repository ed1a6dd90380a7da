import { z } from "zod";
import { SPAN_RULE, spanOf } from "../config/span.ts";
import type { MonitorDefinition } from "./definition.ts";

/** A monitor as a request says it. */

const DAY_MS = 86_400_000;
const MOST_MS = 366 * DAY_MS;
const DEFAULT_GRACE = "1m";

const span = (leastMs: number, leastText: string) =>
  z
    .string()
    .refine((text) => spanOf(text) !== null, SPAN_RULE)
    .refine((text) => (spanOf(text) ?? leastMs) >= leastMs && (spanOf(text) ?? 0) <= MOST_MS, `must be from ${leastText} to 366d`);

export const definitionSchema = z.strictObject({
  every: span(1_000, "1s").describe("A beat is expected within so much of the one before, such as 5m."),
  grace: span(0, "0s").optional().describe(`How much later it may come until it is lost; without it ${DEFAULT_GRACE}.`),
});

export type GivenMonitor = z.input<typeof definitionSchema>;

/** With what it leaves open filled in. */
export const definitionOf = ({ every, grace = DEFAULT_GRACE }: z.output<typeof definitionSchema>): MonitorDefinition => ({ every, grace });

/** Deployed, a shorter interval than this is an alarm too often for what it tells. Milliseconds. */
const LEAST_DEPLOYED_MS = 30_000;

/** Why a deployed service does not take it; null where it does. */
export const deployedProblem = ({ every }: MonitorDefinition): string | null =>
  (spanOf(every) ?? 0) < LEAST_DEPLOYED_MS ? "must be at least 30s in a deployed service" : null;
