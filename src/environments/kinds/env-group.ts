import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Failure } from "../../errors/result.ts";
import type { RolloutContext, StateRequest } from "../unit/playable.ts";
import { toolNames } from "../../rollouts/rows/shared-tools.ts";
import { EnvGroupRubric } from "./env-group-rubric.ts";
import { Environment, type EnvironmentOptions } from "./environment.ts";
import type { RowSource } from "../definition/examples.ts";
import type { Settings } from "../definition/setting.ts";
import type { RolloutInput, State } from "../../rollouts/types.ts";

export interface EnvGroupOptions extends Pick<EnvironmentOptions, "systemPrompt" | "passThreshold" | "samplingArgs"> {
  readonly envs: readonly Environment[];
  /** Names of the members, which become the `task` and the `info.env_id` of their examples; default `env_0`, `env_1` and so on. */
  readonly envNames?: readonly string[];
}

/**
 * Several environments as one: the members' examples one after another under new ids, each played and scored by the
 * member that its `info.env_id`, else its `task` names. A `systemPrompt` of the group stands before prompts that have none.
 */
export class EnvGroup extends Environment {
  readonly envs: readonly Environment[];
  readonly envNames: readonly string[];
  readonly #byName: ReadonlyMap<string, Environment>;
  /** Who plays a rollout; the first one where it names nobody. */
  readonly #memberOf: (played: Routed) => Environment;
  /** Between the members' and the run's. */
  readonly #ownSamplingArgs: JsonObject;

  /** Throws a `RangeError` without members, and when there are more or fewer names, or the same one twice; a `TypeError` for a group in a group. */
  constructor({ envs, envNames = envs.map((_, index) => `env_${index}`), ...options }: EnvGroupOptions) {
    const members = namedMembers(envs, envNames);
    const [first] = envs;
    const memberOf = (played: Routed): Environment => memberNamed(members, played) ?? (first as Environment);
    super({
      ...options,
      dataset: joined(members, (env, count) => env.trainingExamples(count)),
      evalDataset: joined(members, (env, count) => env.examples(count)),
      rubric: new EnvGroupRubric(envs, memberOf),
    });
    this.envs = envs;
    this.resumable = envs.every(({ resumable }) => resumable);
    this.access = [...new Set(envs.flatMap(({ access }) => access))];
    this.envNames = envNames;
    this.#memberOf = memberOf;
    this.#byName = members;
    this.#ownSamplingArgs = options.samplingArgs ?? {};
    for (const [index, env] of envs.entries()) this.onTeardown(`member ${String(index).padStart(4, "0")}`, () => env.teardown());
  }

  /** The member that plays `task`; the first one for a task that is nobody's. */
  getEnvForTask(task: string): Environment {
    return this.#byName.get(task) ?? (this.envs[0] as Environment);
  }

  override initState(input: RolloutInput, request: StateRequest): State {
    return this.#memberOf(input).initState(input, { ...request, sampling_args: { ...this.#ownSamplingArgs, ...request.sampling_args } });
  }

  override async rollout(state: State, context: RolloutContext): Promise<State> {
    return await this.#memberOf(state).rollout(state, context);
  }

  override sharedTools(): JsonObject[] | null {
    const [first, ...rest] = this.envs.map((env) => env.sharedTools());
    return rest.every((tools) => toolNames(tools) === toolNames(first)) ? (first ?? null) : null;
  }

  override batchProblem(): Failure | null {
    return this.envs.map((env) => env.batchProblem()).find((problem) => problem !== null) ?? null;
  }

  /** The group's own, and the options of its members: one that several take is set on all of them. */
  override settings(): Settings {
    const merged: Record<string, Settings[string]> = {};
    for (const settings of this.envs.map((env) => env.settings())) {
      for (const [name, setting] of Object.entries(settings)) {
        const before = merged[name];
        merged[name] =
          before === undefined
            ? setting
            : {
                kind: before.kind,
                set: (value) => {
                  before.set(value);
                  setting.set(value);
                },
              };
      }
    }
    return { ...merged, ...super.settings() };
  }

  override setMaxSeqLen(maxSeqLen: number | null): void {
    super.setMaxSeqLen(maxSeqLen);
    for (const env of this.envs) env.setMaxSeqLen(maxSeqLen);
  }

  override setScoreRollouts(scoreRollouts: boolean): void {
    super.setScoreRollouts(scoreRollouts);
    for (const env of this.envs) env.setScoreRollouts(scoreRollouts);
  }
}

/** What of an example or a state says who plays it. */
export type Routed = Pick<RolloutInput, "info" | "task">;

function namedMembers(envs: readonly Environment[], names: readonly string[]): ReadonlyMap<string, Environment> {
  if (envs.length === 0) throw new RangeError("a group of environments needs at least one");
  if (names.length !== envs.length) throw new RangeError(`${envs.length} environments have ${names.length} names`);
  if (envs.some((env) => env instanceof EnvGroup)) throw new TypeError("a group of environments cannot be a member of another: give the other its members");
  const members = new Map(envs.map((env, index) => [names[index] ?? "", env]));
  if (members.size !== names.length) throw new RangeError(`two environments have the same name: ${names.join(", ")}`);
  return members;
}

/** The member that an example is of: verifiers says it as `task` up to 0.1.13, as `info.env_id` from 0.1.14 on. */
function memberNamed(members: ReadonlyMap<string, Environment>, { info, task }: Routed): Environment | undefined {
  const route = info?.env_id;
  return members.get(String(Array.isArray(route) ? route[0] : route)) ?? members.get(task);
}

/** `env_id` behind what the example says itself; one that it has already is the rest of the way. */
const routed = (info: JsonObject = {}, name: string): JsonObject => ({
  ...info,
  env_id: info.env_id === undefined || info.env_id === null ? name : [name, ...[info.env_id].flat()],
});

/** The members' examples, one member after the other, without the ids they had there. */
function joined(members: ReadonlyMap<string, Environment>, examples: (env: Environment, count: number) => AsyncIterable<RolloutInput>): RowSource {
  return async function* rows(count) {
    let left = count > 0 ? count : Number.POSITIVE_INFINITY;
    for (const [task, env] of members) {
      if (left < 1) return;
      for await (const { example_id: _id, ...example } of examples(env, Number.isFinite(left) ? left : -1)) {
        yield { ...example, info: routed(example.info, task), task } as unknown as JsonObject;
        left--;
      }
    }
  };
}
