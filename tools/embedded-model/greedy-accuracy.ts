import { renderQuestion } from "../../src/embedded-model/chat-template.ts";
import { generate } from "../../src/embedded-model/generate.ts";
import type { EmbeddedModel } from "../../src/embedded-model/model.ts";
import { SeededRandom } from "../../src/embedded-model/sampling.ts";
import type { Operation } from "../../src/environments/bundled/arithmetic/held-out.ts";
import type { Difficulty } from "../../src/environments/bundled/arithmetic/problems.ts";
import { loadEnvironment } from "../../src/environments/definition/load.ts";

/** The model's answer to a question at temperature 0. */
export function greedyAnswer(model: EmbeddedModel, question: string): string {
  const session = model.session();
  const logits = session.prefill(model.encode(renderQuestion(question)));
  const options = { temperature: 0, topP: 1, random: new SeededRandom(0), maxTokens: model.contextLength - session.length };
  return model.decode(Array.from(generate(session, logits, options), ({ id }) => id));
}

/** How many of the first `count` held-out problems (fewer when there are fewer) the model answers rightly. */
export async function greedyAccuracy(
  model: EmbeddedModel,
  difficulty: Difficulty,
  operation: Operation,
  count: number,
): Promise<{ right: number; count: number }> {
  const environment = await loadEnvironment("arithmetic", { difficulty, operation });
  // All rows of an environment are 1,000 at most, so that a small space does not refuse a larger number.
  const inputs = (await Array.fromAsync(environment.examples(-1))).slice(0, count);
  const right = inputs.filter(({ question, answer }) => greedyAnswer(model, String(question)) === answer).length;
  return { right, count: inputs.length };
}
