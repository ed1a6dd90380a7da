import { type Evaluation, Rubric } from "../../rubrics/rubric.ts";
import { storedMetric } from "../../rollouts/state/stored-state.ts";
import type { AssistantMessage, State, ToolCall } from "../../rollouts/types.ts";

/** The metric that every conversation has, without weight: how often the model was called. */
export const turnMonitor = (): Rubric => new Rubric([{ name: "num_turns", fn: ({ state }) => state.trajectory.length, weight: 0 }]);

/** A measure of how a rollout went, without weight. Of one of which there is its row alone it is what the row says: what it was read from is no more. */
export const monitored = (name: string, read: (state: State) => number) => ({
  name,
  weight: 0,
  fn: ({ state }: { readonly state: State }): number => storedMetric(state, name) ?? read(state),
});

const toolCallsOf = (state: State): ToolCall[] =>
  (state.completion ?? []).filter((message): message is AssistantMessage => message.role === "assistant").flatMap(({ tool_calls }) => tool_calls ?? []);

/**
 * What the model asked of its tools: `total_tool_calls`, calls of unknown tools among them, and `<tool>_calls` for each tool that
 * the environment has at that moment. Without weight.
 */
export class ToolMonitor extends Rubric {
  readonly #tools: () => readonly string[];

  constructor(tools: () => readonly string[]) {
    super();
    this.#tools = tools;
  }

  override metricNames(): string[] {
    return ["total_tool_calls", ...this.#tools().map((name) => `${name}_calls`)];
  }

  override rewardWeights(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.metricNames().map((name) => [name, 0]));
  }

  override get scoresAlone(): boolean {
    return true;
  }

  override async evaluate(states: readonly State[]): Promise<Evaluation[]> {
    return states.map((state) => {
      const calls = toolCallsOf(state);
      const metrics: Record<string, number> = { total_tool_calls: calls.length };
      for (const tool of this.#tools()) metrics[`${tool}_calls`] = calls.filter(({ name }) => name === tool).length;
      return { reward: 0, metrics, failure: null };
    });
  }
}
