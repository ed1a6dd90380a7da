import type { Grant } from "../../../durable-objects/run/protocol.ts";
import { shapeOf } from "../../environments/hosted/traits.ts";
import { errorLines, type UnitRows } from "../../environments/unit/run-unit.ts";
import type { ScoredAgain } from "../../environments/unit/score-again.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import { saysScoredAnew } from "./scored-anew.ts";
import type { TicketHost } from "./ticket-host.ts";

/** The rows of a unit that is given up: errors for what is not done yet, without running it. */
export function poisonedRows(
  { environment, envDigest, judges, cache, ports }: TicketHost,
  { config }: Grant,
  input: RolloutInput,
  kept: ScoredAgain["rows"],
): UnitRows {
  return errorLines(environment.traits, input, {
    rolloutsPerExample: config.rollouts_per_example,
    code: "poisoned",
    message: "this unit was being run in five executors that died, in three of them alone; it is not tried again",
    model: config.model,
    sampling_args: config.sampling_args,
    stateColumns: config.state_columns,
    clusterBy: config.cluster_by,
    shape: shapeOf(environment.traits, config),
    envDigest,
    ...(saysScoredAnew(environment.traits, config) ? { scoredAnew: false } : {}),
    judges,
    cache,
    now: ports.now,
    kept,
  });
}
