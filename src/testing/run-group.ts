import type { JsonObject } from "../config/plan/run-config.ts";
import type { Environment } from "../environments/kinds/environment.ts";
import type { Client, RolloutInput, State } from "../rollouts/types.ts";
import { exampleOf } from "./run-example.ts";
import { type Script, type ScriptedModel, scriptedModel } from "./scripted-model.ts";

export interface RunGroupOptions {
  /** What the model says in each rollout: as many rollouts as there are scripts. */
  readonly answers: readonly Script[];
  /** Which example, from 0 (default 0), or an input of the test's own. */
  readonly example?: number | RolloutInput;
  readonly samplingArgs?: JsonObject;
}

export interface GroupRun {
  /** After rollouts and scoring, group rewards included, in the order of the scripts. */
  readonly states: readonly State[];
  /** What each rollout asked, in the same order. */
  readonly models: readonly ScriptedModel[];
}

/** Plays all rollouts of one example and scores them together. What goes wrong in a rollout is in its state's `error`. */
export async function runGroup(environment: Environment, { answers, example = 0, samplingArgs = {} }: RunGroupOptions): Promise<GroupRun> {
  const models = answers.map((script) => scriptedModel(script));
  // A rollout is known by its trajectory; the first that asks hears the first script.
  const places = new Map<unknown, number>();
  const client: Client = {
    type: "scripted",
    getResponse: (request) => {
      const { trajectory_id } = request.state;
      if (!places.has(trajectory_id)) places.set(trajectory_id, places.size);
      const model = models[places.get(trajectory_id) ?? 0];
      if (model === undefined) throw new RangeError("a rollout was begun again: there is no script for it");
      return model.getResponse(request);
    },
  };
  const input = await exampleOf(environment, example);
  const states = await environment.runGroup(
    answers.map(() => input),
    client,
    "scripted",
    { samplingArgs },
  );
  const placeOf = ({ trajectory_id }: State): number => places.get(trajectory_id) ?? answers.length;
  return { states: states.toSorted((a, b) => placeOf(a) - placeOf(b)), models };
}
