/** The files of `edgewise env init`: a small environment that runs, and its test. */

export interface TemplateNames {
  /** `my-env`. */
  readonly id: string;
  /** `my_env`: folder and file. */
  readonly file: string;
  /** `myEnv`: in the code. */
  readonly variable: string;
}

export function namesOf(id: string): TemplateNames {
  const words = id.split("-");
  const variable = words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
  return { id, file: words.join("_"), variable };
}

/** Content by file name. */
export function templateFiles(names: TemplateNames): Readonly<Record<string, string>> {
  return {
    [`${names.file}.ts`]: environment(names),
    [`${names.file}.test.ts`]: test(names),
    "README.md": readme(names),
  };
}

const environment = ({
  id,
  variable,
}: TemplateNames): string => `import { contentText, defineEnvironment, Parser, type RewardContext, Rubric, SingleTurnEnv, z } from "edgewise";

/** Finds the last whole number of an answer. */
const parser = new Parser((text) => text.match(/-?\\d+/g)?.at(-1) ?? "");

/** 1 for the right number. */
function correctNumber({ parser, completion, answer }: RewardContext): boolean {
  return parser.parseAnswer(completion) === answer;
}

/** A metric: it is reported and does not count. */
function answerLength({ completion }: RewardContext): number {
  return contentText(completion.at(-1)?.content ?? "").length;
}

export const ${variable} = defineEnvironment({
  id: "${id}",
  version: "0.1.0",
  description: "Adds two small numbers; the reward is 1 for the right sum.",
  // What \`-a '{"largest": 50}'\` may say.
  args: z.object({ largest: z.int().min(1).max(1000).default(20).describe("largest number in a sum") }),
  defaults: { num_examples: 10, rollouts_per_example: 2 },
  load({ largest }) {
    return new SingleTurnEnv({
      // Rows with \`question\` and \`answer\`. Your own data: leave this out, take \`dataset\` from the second argument of \`load\`,
      // and name a file, an https URL or a Hugging Face id with \`-a '{"dataset": "…"}'\`.
      dataset: async function* () {
        for (let a = 1; a <= largest; a++)
          for (let b = 1; b <= largest; b++) yield { question: \`What is \${a} plus \${b}?\`, answer: String(a + b) };
      },
      systemPrompt: "Answer with the number alone.",
      parser,
      rubric: new Rubric([correctNumber, { fn: answerLength, weight: 0 }], { parser }),
    });
  },
});

export default ${variable};
`;

const test = ({ file, variable }: TemplateNames): string => `import assert from "node:assert/strict";
import test from "node:test";
import { runExample, testEnvironment } from "edgewise/testing";
import { ${variable} } from "./${file}.ts";

test("the right sum is worth 1, another number 0", async () => {
  const environment = testEnvironment(${variable});
  const right = await runExample(environment, { answers: ["1 + 1 = 2"] });
  assert.equal(right.state.reward, 1);
  const wrong = await runExample(environment, { answers: ["3"] });
  assert.equal(wrong.state.reward, 0);
});

test("an answer that never came is an error, not a score", async () => {
  const { state } = await runExample(testEnvironment(${variable}), { answers: [{ error: "provider_error" }] });
  assert.equal(state.error?.code, "provider_error");
});

test("arguments are checked by name", () => {
  assert.throws(() => testEnvironment(${variable}, { args: { largest: 0 } }), /argument largest/);
});
`;

const readme = ({ id }: TemplateNames): string => `# ${id}

Adds two small numbers; the reward is 1 for the right sum.

    npx edgewise eval run ${id} --provider embedded     # a real, tiny model, no key needed
    npx edgewise eval run ${id} -m gpt-4.1-mini --provider openai
    npx edgewise env test ${id}                         # its tests, on any Node
    npm install -D typescript @types/node && npx tsc    # its types, with edgewise installed in the project

| argument | meaning | default |
| --- | --- | --- |
| \`largest\` | largest number in a sum | 20 |
`;
