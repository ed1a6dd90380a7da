import { runAll } from "../rollouts/state/handlers.ts";
import type { State } from "../rollouts/types.ts";
import { type RewardRange, sumOfRanges } from "../metrics/interval.ts";
import type { RewardEntry } from "./reward-function.ts";
import { distinct, type Evaluation, Rubric, type Scoring } from "./rubric.ts";

/**
 * Several rubrics as one, run in order: rewards are added, and so are metrics of the same name. Each keeps its own
 * parser and class objects. As in verifiers, `advantage` of a rollout is by the last rubric's rewards (of an environment: 0, since its
 * monitors come last), that of its steps by the first's.
 */
export class RubricGroup<Objects extends object = object> extends Rubric<Objects> {
  readonly #rubrics: readonly [Rubric<Objects>, ...Rubric<Objects>[]];

  constructor(rubrics: readonly Rubric<Objects>[]) {
    super();
    const [first, ...rest] = rubrics;
    if (first === undefined) throw new RangeError("a rubric group needs at least one rubric");
    this.#rubrics = [first, ...rest];
  }

  /** Goes to the first rubric: the environment's own, as monitors are appended. */
  override addRewardFunc(entry: RewardEntry<Objects>, weight = 1): void {
    this.#rubrics[0].addRewardFunc(entry, weight);
  }

  override addClassObject<Name extends keyof Objects>(name: Name, value: Objects[Name]): void {
    this.#rubrics[0].addClassObject(name, value);
  }

  override get rewardRange(): RewardRange {
    return sumOfRanges(this.#rubrics.map(({ rewardRange }) => rewardRange));
  }

  override metricNames(): string[] {
    return [...new Set(this.#rubrics.flatMap((rubric) => rubric.metricNames()))];
  }

  override rewardWeights(): Readonly<Record<string, number>> {
    return distinct(this.#rubrics.flatMap((rubric) => Object.entries(rubric.rewardWeights())));
  }

  override groupRewardNames(): string[] {
    return [...new Set(this.#rubrics.flatMap((rubric) => rubric.groupRewardNames()))];
  }

  override get scoresAlone(): boolean {
    return this.hasUsualScoring && this.evaluate === RubricGroup.prototype.evaluate && this.#rubrics.every((rubric) => rubric.scoresAlone);
  }

  override async evaluate(states: readonly State[], scoring: Scoring): Promise<Evaluation[]> {
    const totals = states.map((): Evaluation => ({ reward: 0, metrics: {}, failure: null }));
    for (const [place, rubric] of this.#rubrics.entries()) {
      const parts = await rubric.evaluate(states, scoring);
      for (const [index, total] of totals.entries()) {
        const part = parts[index];
        if (part === undefined) continue;
        total.reward += part.reward;
        if (place === 0) total.firstReward = part.firstReward ?? part.reward;
        total.lastReward = part.lastReward ?? part.reward;
        total.failure ??= part.failure;
        for (const [name, value] of Object.entries(part.metrics)) total.metrics[name] = (total.metrics[name] ?? 0) + value;
      }
    }
    return totals;
  }

  override async cleanup(state: State): Promise<void> {
    await runAll([...this.#rubrics.map((rubric) => () => rubric.cleanup(state)), () => super.cleanup(state)]);
  }

  override async teardown(): Promise<void> {
    await runAll([...this.#rubrics.map((rubric) => () => rubric.teardown()), () => super.teardown()]);
  }
}
