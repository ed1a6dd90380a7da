import type { RewardRange } from "../../metrics/interval.ts";
import type { State } from "../../rollouts/types.ts";
import { type Evaluation, Rubric, type ScoreOptions } from "../../rubrics/rubric.ts";
import type { Environment } from "./environment.ts";

/**
 * Scores each rollout by the rubric of the member that played it, so that rows carry that member's metrics and no others. The
 * rollouts of one example are of one task.
 */
export class EnvGroupRubric extends Rubric {
  readonly #members: readonly Environment[];
  readonly #memberOf: (state: State) => Environment;

  constructor(members: readonly Environment[], memberOf: (state: State) => Environment) {
    super();
    this.#members = members;
    this.#memberOf = memberOf;
  }

  /** Of any member. */
  override get rewardRange(): RewardRange {
    const ranges = this.#members.map(({ rewardRange }) => rewardRange);
    return [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
  }

  override metricNames(): string[] {
    return [...new Set(this.#members.flatMap((member) => member.metricNames()))];
  }

  /** Of the metrics that count for the same in every member that has them. */
  override rewardWeights(): Readonly<Record<string, number>> {
    const entries = this.#members.flatMap((member) => Object.entries(member.rubric.rewardWeights()));
    return Object.fromEntries(entries.filter(([name, weight]) => entries.every((other) => other[0] !== name || other[1] === weight)));
  }

  override groupRewardNames(): string[] {
    return [...new Set(this.#members.flatMap((member) => member.rubric.groupRewardNames()))];
  }

  override get scoresAlone(): boolean {
    return this.#members.every((member) => member.rubric.scoresAlone);
  }

  override async scoreGroup(states: readonly State[], options: ScoreOptions): Promise<void> {
    const [first] = states;
    if (first === undefined) return;
    await this.#memberOf(first).rubric.scoreGroup(states, options);
  }

  override async scoreRollout(state: State, options: ScoreOptions): Promise<void> {
    await this.#memberOf(state).rubric.scoreRollout(state, options);
  }

  override async evaluate(states: readonly State[], scoring: Parameters<Rubric["evaluate"]>[1]): Promise<Evaluation[]> {
    const [first] = states;
    if (first === undefined) return [];
    return await this.#memberOf(first).rubric.evaluate(states, scoring);
  }

  override async cleanup(state: State): Promise<void> {
    await this.#memberOf(state).rubric.cleanup(state);
  }
}
