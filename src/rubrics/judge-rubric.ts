import type { Json, JsonObject } from "../config/plan/run-config.ts";
import { JUDGE_COLUMN } from "../metrics/judge-fields.ts";
import { contentText } from "../rollouts/messages.ts";
import type { Client, Message, State } from "../rollouts/types.ts";
import type { Completion } from "../parsers/parser.ts";
import type { RewardEntry } from "./reward-function.ts";
import { Rubric, type RubricOptions, type Scoring } from "./rubric.ts";

export const DEFAULT_JUDGE_PROMPT = `Given a ground truth answer and a response, determine if the response is correct.

Question:
\`\`\`
{question}
\`\`\`

Ground truth answer:
\`\`\`
{answer}
\`\`\`

Response:
\`\`\`
{response}
\`\`\`

Respond either "yes" or "no" only.`;

/**
 * Asks the judge about one rollout and gives its raw answer. With a `state`, the answer is kept there (`judge_response`, by the whole
 * prompt that was sent) and not asked for again. Rejects when the judge cannot be reached or refuses.
 */
export type Judge = (prompt: readonly Message[], completion: Completion, answer: Json, state?: State | null) => Promise<string>;

/** What the functions of a `JudgeRubric` find in their context. */
export interface JudgeObjects {
  readonly judge: Judge;
  readonly judgeClient: Client;
  readonly judgeModel: string;
  readonly judgePrompt: string;
  readonly judgeSamplingArgs: JsonObject;
}

export interface JudgeRubricOptions extends Omit<RubricOptions<JudgeObjects>, "objects"> {
  /** Bound to its endpoint and key (`client` of a loader's context); its requests count against `max_concurrent_scoring`. */
  readonly judgeClient: Client;
  /** Default `gpt-4.1-nano`, as in verifiers. */
  readonly judgeModel?: string;
  readonly judgeSamplingArgs?: JsonObject;
  /** With the places `{question}`, `{answer}` and `{response}`. */
  readonly judgePrompt?: string;
}

/**
 * A rubric whose functions may ask a model: `({ judge, prompt, completion, answer, state }) => …`. It has no function of its own. What
 * goes wrong with the judge is the function's failure, so that the row says `scorer_error` (in `verifiers` it is a silent 0).
 */
export class JudgeRubric extends Rubric<JudgeObjects> {
  readonly #settings: Required<Pick<JudgeRubricOptions, "judgeClient" | "judgeModel" | "judgeSamplingArgs" | "judgePrompt">>;
  /** Questions on their way, so that two functions that ask the same at once ask it once. */
  readonly #asked = new WeakMap<State, Map<string, Promise<string>>>();

  constructor(functions: readonly RewardEntry<JudgeObjects>[], options: JudgeRubricOptions) {
    const { judgeClient, judgeModel = "gpt-4.1-nano", judgeSamplingArgs = {}, judgePrompt = DEFAULT_JUDGE_PROMPT, ...rest } = options;
    super(functions, rest);
    this.#settings = { judgeClient, judgeModel, judgeSamplingArgs, judgePrompt };
  }

  /** Asks outside a reward function. */
  get judge(): Judge {
    return this.#judgeWith({ signal: new AbortController().signal }, null);
  }

  protected override objectsFor(scoring: Scoring, scored: State | null): Partial<JudgeObjects> {
    return { ...this.#settings, judge: this.#judgeWith(scoring, scored), ...super.objectsFor(scoring, scored) };
  }

  /** `scored`: whose rollout it is that is asked about where nobody says it; it is counted for that one, and not kept in its state. */
  #judgeWith({ signal }: Scoring, scored: State | null): Judge {
    return async (prompt, completion, answer, state = null) => {
      const content = filledIn(this.#settings.judgePrompt, {
        question: questionOf(prompt),
        answer: typeof answer === "string" ? answer : JSON.stringify(answer),
        response: this.parser.parseAnswer(completion) ?? "",
      });
      if (state === null) return this.#ask(content, scored ?? {}, signal);
      const known = answersOf(state)[content];
      if (typeof known === "string") return known;
      const asked = this.#asked.get(state) ?? new Map<string, Promise<string>>();
      this.#asked.set(state, asked);
      const answering = asked.get(content) ?? this.#ask(content, state, signal);
      asked.set(content, answering);
      try {
        const text = await answering;
        state[JUDGE_COLUMN] = { ...answersOf(state), [content]: text };
        return text;
      } finally {
        asked.delete(content);
      }
    };
  }

  async #ask(content: string, state: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    const { judgeClient, judgeModel, judgeSamplingArgs } = this.#settings;
    try {
      const { message } = await judgeClient.getResponse({
        prompt: [{ role: "user", content }],
        model: judgeModel,
        sampling_args: judgeSamplingArgs,
        tools: [],
        state,
        signal,
      });
      return message.content === null ? "" : contentText(message.content);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      throw new Error(`the judge ${judgeModel} did not answer: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown });
    }
  }
}

/** Kept in the state under verifiers' name, so that `--state-columns judge_response` saves it. */
function answersOf(state: State): Record<string, unknown> {
  const { [JUDGE_COLUMN]: kept } = state;
  return typeof kept === "object" && kept !== null ? (kept as Record<string, unknown>) : {};
}

/** Text of the last user message, else of the last message that has any. Throws for a prompt without a word. */
function questionOf(prompt: readonly Message[]): string {
  const said = prompt
    .map((message) => ({ role: message.role, text: message.content === null ? "" : contentText(message.content) }))
    .filter(({ text }) => text !== "");
  const question = said.findLast(({ role }) => role === "user") ?? said.at(-1);
  if (question === undefined) throw new RangeError("the prompt has no text to ask the judge about");
  return question.text;
}

/** In one pass, so that a place named in an answer stays as it is. */
const filledIn = (template: string, values: Readonly<Record<"question" | "answer" | "response", string>>): string =>
  template.replace(/\{(question|answer|response)\}/g, (_, place: "question" | "answer" | "response") => values[place]);
