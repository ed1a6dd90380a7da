import type { RescoredFrom } from "../../config/plan/rescored-from.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import { rescore } from "../../environments/unit/rescore.ts";
import type { KeptRollout } from "../../environments/unit/stored-rollout.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { ExecutorPorts } from "../ports.ts";
import { NO_MODEL } from "./no-model.ts";

/** Beyond it the trial ends without a finding: a scorer that waits for something is not held up by it. Milliseconds. */
const TRIAL_MS = 10_000;

/** What reward functions ask for and rows do not hold, in words; scoring without it would be wrong without a word. */
export function lackingState(lacks: readonly string[]): EdgewiseError {
  const names = lacks.map((key) => (key === "*" ? "all keys of the state" : key)).join(", ");
  return new EdgewiseError("scorer_lacks_state", `The scorer reads what stored rows do not hold: ${names}.`, {
    hint: "Name such keys as --state-columns when a run is made, use --examples data for columns of the data set, or score by a function that does without.",
  });
}

/**
 * Scores the rollouts of one example and throws the scores away: what the scorer reads and rows lack is found before anything is scored. Judges
 * are not asked. Throws `scorer_lacks_state`.
 */
export async function tryScorer(
  { now, sleep }: Pick<ExecutorPorts, "now" | "sleep">,
  config: RunConfig,
  source: RescoredFrom,
  environment: HostedEnvironment,
  input: RolloutInput,
  rows: readonly KeptRollout[],
  signal: AbortSignal,
): Promise<void> {
  const { lacks } = await rescore(environment, input, rows, {
    client: NO_MODEL,
    model: config.model,
    sampling_args: config.sampling_args,
    independent: config.independent_scoring,
    stateColumns: config.state_columns,
    rowOnly: source.examples === "rows",
    signal,
    deadlineMs: TRIAL_MS,
    now,
    sleep,
  });
  if (lacks.length > 0) throw lackingState(lacks);
}
