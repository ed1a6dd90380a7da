/**
 * Measures the committed weights as they are shipped: every held-out problem that the training script measured, answered by the
 * TypeScript model at temperature 0, beside what the weights file states; then completions per second on one core.
 *
 *     node tools/embedded-model/measure.ts
 */
import { readFileSync } from "node:fs";
import { type EmbeddedModel, loadModel } from "../../src/embedded-model/model.ts";
import { draw, logSoftmax, samplingDistribution, SeededRandom } from "../../src/embedded-model/sampling.ts";
import { DIFFICULTIES, OPERATIONS } from "../../src/environments/bundled/arithmetic/problems.ts";
import { greedyAccuracy } from "./greedy-accuracy.ts";

/** `MEASURED` of accuracy.py. */
const PROBLEMS = 500;
const PROMPT = "Q: what is 12+34?\nA: ";
const ANSWER_TOKENS = 5;
const COMPLETIONS = 500;
const ROUNDS = 5;

const model = await loadModel(new Uint8Array(readFileSync(new URL("../../src/embedded-model/weights.bin", import.meta.url))));

let differences = 0;
for (const difficulty of DIFFICULTIES) {
  for (const operation of OPERATIONS) {
    const { right, count } = await greedyAccuracy(model, difficulty, operation, PROBLEMS);
    const stated = model.header.training.accuracy[difficulty]?.[operation] ?? Number.NaN;
    const same = Math.round(stated * count) === right;
    if (!same) differences++;
    console.log(`${difficulty.padEnd(7)} ${operation.padEnd(15)} ${percent(right / count)} of ${count}${same ? "" : `, stated ${percent(stated)}`}`);
  }
}
console.log(differences === 0 ? "as the weights file states" : `${differences} numbers differ from what the weights file states`);

const rates = Array.from({ length: ROUNDS }, () => rate(model));
console.log(`${Math.round(Math.max(...rates))} completions a second (${PROMPT.length} characters, ${ANSWER_TOKENS} tokens; best of ${ROUNDS} rounds)`);
process.exitCode = differences === 0 ? 0 : 1;

/** Completions per second, each of them from reading the prompt on, with the log-probabilities of its tokens. */
function rate(measured: EmbeddedModel): number {
  const ids = measured.encode(PROMPT);
  const random = new SeededRandom(1);
  const begin = performance.now();
  for (let completion = 0; completion < COMPLETIONS; completion++) {
    const session = measured.session();
    let logits = session.prefill(ids);
    // An answer that ends sooner goes on, so that every completion has the same length.
    for (let made = 1; made <= ANSWER_TOKENS; made++) {
      const id = draw(samplingDistribution(logits, { temperature: 1, topP: 1 }), random.next());
      logSoftmax(logits);
      if (made < ANSWER_TOKENS) logits = session.step(id);
    }
  }
  return COMPLETIONS / ((performance.now() - begin) / 1_000);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1).padStart(5)} %`;
}
