import type { JsonObject } from "../config/plan/run-config.ts";
import type { Environment } from "../environments/kinds/environment.ts";
import type { RolloutInput, State } from "../rollouts/types.ts";
import { type Script, type ScriptedModel, scriptedModel, type ScriptedScores } from "./scripted-model.ts";

export interface RunExampleOptions {
  /** What the model says. */
  readonly answers?: Script;
  /** What it gives the tokens of a text that it is to score (evaluations by likelihood); left out = it can score none. */
  readonly scores?: ScriptedScores;
  /** Which example, from 0 (default 0), or an input of the test's own. */
  readonly example?: number | RolloutInput;
  readonly samplingArgs?: JsonObject;
  /** Ends the rollout, for tests of what must not go on. */
  readonly signal?: AbortSignal;
}

export interface ExampleRun {
  /** After rollout and scoring: `reward`, `metrics`, `completion`, `error`, `trajectory`, … */
  readonly state: State;
  readonly model: ScriptedModel;
}

/** Plays and scores one rollout of one example against a scripted model. What goes wrong in the rollout is in `state.error`. */
export async function runExample(
  environment: Environment,
  { answers = [], scores, example = 0, samplingArgs = {}, signal }: RunExampleOptions,
): Promise<ExampleRun> {
  const model = scriptedModel(answers, scores);
  const input = await exampleOf(environment, example);
  const state = await environment.runRollout(input, model, "scripted", { samplingArgs, ...(signal === undefined ? {} : { signal }) });
  return { state, model };
}

/** An example by its place from 0, or the input of a test's own. Throws `RangeError` when there are fewer. */
export async function exampleOf(environment: Environment, index: number | RolloutInput): Promise<RolloutInput> {
  if (typeof index !== "number") return index;
  let at = 0;
  for await (const input of environment.examples(index + 1)) if (at++ === index) return input;
  throw new RangeError(`there is no example ${index}: the data set has ${at}`);
}
