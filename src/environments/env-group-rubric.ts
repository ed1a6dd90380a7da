import type { State } from "./types.ts";
import { type Evaluation, Rubric, type ScoreOptions } from "../rubrics/rubric.ts";
import type { Environment } from "./environment.ts";

/**
 * Scores each rollout by the rubric of the member that played it, so that rows carry that member's metrics and no others. The
 * rollouts of one example are of one task.
 */
export class EnvGroupRubric extends Rubric {
  readonly #members: readonly Environment[];
  readonly #memberOf: (task: string) => Environment;

  constructor(members: readonly Environment[], memberOf: (task: string) => Environment) {
    super();
    this.#members = members;
    this.#memberOf = memberOf;
  }

  override metricNames(): string[] {
    return [...new Set(this.#members.flatMap((member) => member.metricNames()))];
  }

  override groupRewardNames(): string[] {
    return [...new Set(this.#members.flatMap((member) => member.rubric.groupRewardNames()))];
  }

  override async scoreGroup(states: readonly State[], options: ScoreOptions): Promise<void> {
    const [first] = states;
    if (first === undefined) return;
    await this.#memberOf(first.task).rubric.scoreGroup(states, options);
  }

  override async scoreRollout(state: State, options: ScoreOptions): Promise<void> {
    await this.#memberOf(state.task).rubric.scoreRollout(state, options);
  }

  override async evaluate(states: readonly State[], scoring: Parameters<Rubric["evaluate"]>[1]): Promise<Evaluation[]> {
    const [first] = states;
    if (first === undefined) return [];
    return await this.#memberOf(first.task).rubric.evaluate(states, scoring);
  }

  override async cleanup(state: State): Promise<void> {
    await this.#memberOf(state.task).rubric.cleanup(state);
  }
}
