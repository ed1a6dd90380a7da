import {
  COMPARE,
  ENVIRONMENTS,
  EVALUATORS,
  evaluatorAddress,
  NEW_RUN,
  RUNS,
  rolloutAddress,
  runAddress,
  SCHEDULES,
  SETTINGS,
  samplesAddress,
  scheduleAddress,
} from "../../src/dashboard/address/links.ts";
import type { Seeded } from "./seeded-place.ts";

/** A picture: what its file is called, and the address of the page. */
export interface Shot {
  readonly name: string;
  readonly address: string;
  /** Where it is not with what it shows: nothing has come yet, or the service refuses. */
  readonly state?: "loading" | "failed";
}

/** Every page, with something on it; those of a run before and without it too. */
export const shotsOf = (seeded: Seeded): readonly Shot[] => [
  ...filled(seeded),
  ...STATES.flatMap((state) =>
    WITH_STATES.flatMap((wanted) => filled(seeded).filter(({ name }) => name === wanted)).map((shot) => ({ ...shot, name: `${shot.name}-${state}`, state })),
  ),
];

const STATES = ["loading", "failed"] as const;
const WITH_STATES: readonly string[] = ["runs", "run", "samples", "rollout", "compare", "environment", "schedule"];

const filled = ({ whole, other, failing, running }: Seeded): readonly Shot[] => [
  { name: "runs", address: `${RUNS}?chosen=${whole},${other}` },
  { name: "run", address: runAddress(whole) },
  { name: "run-errors", address: `${runAddress(failing)}?tab=errors` },
  { name: "run-live", address: runAddress(running) },
  { name: "run-log", address: `${runAddress(failing)}?tab=log` },
  { name: "run-settings", address: `${runAddress(whole)}?tab=settings` },
  { name: "samples", address: samplesAddress(whole) },
  { name: "samples-tall", address: `${samplesAddress(failing)}?tall=1` },
  { name: "rollout", address: rolloutAddress(whole, 0, 0) },
  { name: "compare", address: `${COMPARE}?runs=${whole},${other}` },
  { name: "compare-transcripts", address: `${COMPARE}?runs=${whole},${other}&only=different&at=1` },
  { name: "compare-picker", address: COMPARE },
  { name: "new-run", address: NEW_RUN },
  { name: "new-run-again", address: `${NEW_RUN}?from=${whole}` },
  { name: "environments", address: ENVIRONMENTS },
  { name: "environment", address: `${ENVIRONMENTS}/arithmetic` },
  { name: "schedules", address: SCHEDULES },
  { name: "schedule", address: scheduleAddress("nightly") },
  { name: "evaluators", address: EVALUATORS },
  { name: "evaluator", address: evaluatorAddress("loop") },
  { name: "settings", address: SETTINGS },
  { name: "not-found", address: "/dashboard/nowhere" },
];
