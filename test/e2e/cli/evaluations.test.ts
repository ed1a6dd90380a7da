import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { metadataOf, rowsOf, until, Workplace } from "../../support/cli/cli-process.ts";

/** Pairs in our own words, the right sentence first. */
const PAIRS: readonly (readonly [part: string, good: string, bad: string])[] = [
  ["regular_plural_subject_verb_agreement_1", "The boats drift away.", "The boats drifts away."],
  ["regular_plural_subject_verb_agreement_1", "My uncles paint.", "My uncles paints."],
  ["regular_plural_subject_verb_agreement_1", "That lamp glows.", "That lamp glow."],
  ["anaphor_gender_agreement", "Olga blames herself.", "Olga blames himself."],
  ["anaphor_gender_agreement", "Peter praised himself.", "Peter praised herself."],
  ["wh_island", "Who did they say she met?", "Who did they say who met?"],
];
const TEXTS = ["what is 12 + 5?", "reverse the letters of tree", "a short walk along the river 😀 at noon"];

const OWN = `
import { defineEvaluation, PerplexityComparisonEvaluation } from "edgewise";
class Sums extends PerplexityComparisonEvaluation {
  name = "sums";
  get length() { return 2; }
  get(index) { return [["what is 1 + 1?", [" 2", " qqqq"], 0], ["nothing", [], 0]][index]; }
}
export default defineEvaluation({ id: "sums", version: "1.0.0", description: "Sums.", load: () => new Sums() });
`;

let place: Workplace;
let url = "";
/** One service for all: its commands work through it. */
beforeAll(async () => {
  place = new Workplace();
  const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(join(place.folder, "pairs.jsonl"), lines(PAIRS.map(([UID, sentence_good, sentence_bad]) => ({ UID, sentence_good, sentence_bad }))));
  writeFileSync(join(place.folder, "texts.jsonl"), lines(TEXTS.map((body) => ({ body }))));
  mkdirSync(join(place.folder, "environments/sums"), { recursive: true });
  writeFileSync(join(place.folder, "environments/sums/index.ts"), OWN);
  place.start(["serve", "--port", "0"]);
  await until(() => typeof readLock(place.state)?.port === "number", 30_000);
  url = `http://127.0.0.1:${readLock(place.state)?.port}/embedded/v1`;
}, 60_000);
afterAll(() => place.remove());

/** What the route itself gives each token of a text, asked for here and one by one. */
async function logprobsOf(prompt: string): Promise<number[]> {
  const request = { model: "edgewise/tiny", prompt, max_tokens: 0, echo: true, logprobs: 0 };
  const answer = await fetch(`${url}/completions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request) });
  const { choices } = (await answer.json()) as { choices: { logprobs: { token_logprobs: (number | null)[] } }[] };
  return (choices[0]?.logprobs.token_logprobs ?? []).filter((logprob) => logprob !== null);
}
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

async function run(...args: readonly string[]): Promise<{ readonly folder: string; readonly stdout: string }> {
  const output = `out-${args[0]?.replaceAll(/\W/g, "")}`;
  const { code, stdout, stderr } = await place.run(["eval", "run", ...args, "--provider", "embedded", "-o", output]);
  expect(stderr + stdout).not.toMatch(/error:/);
  expect(code).toBe(0);
  return { folder: place.resultsFolders(output)[0] ?? "", stdout };
}

describe("an evaluator", () => {
  it("runs the evaluations of its file through the service of the folder, and what is finished is not run again", async () => {
    const library = fileURLToPath(new URL("../../../dist/evaluators.js", import.meta.url));
    writeFileSync(
      join(place.folder, "evals.toml"),
      [
        'provider = "embedded"',
        ...["[[evaluation]]", 'name = "blimp"', 'args = { dataset = "pairs.jsonl" }'],
        ...["[[evaluation]]", 'name = "perplexity"', 'args = { dataset = "texts.jsonl", column = "body" }'],
      ].join("\n"),
    );
    const lines = [
      `import { connectEngine, Evaluator } from ${JSON.stringify(library)};`,
      "await using engine = await connectEngine();",
      "const misspelt = [{ name: 'perplexity', args: { dataset: 'texts.jsonl', column: 'body' } }, { name: 'blimpp' }];",
      "const refused = await Evaluator.fromCheckpoint('m', { config: { provider: 'embedded', results: 'other', evaluation: misspelt }, engine })().catch(String);",
      "const { total } = await (await fetch(engine.url + '/api/v1/evaluations/')).json();",
      'const evaluator = Evaluator.fromCheckpoint("edgewise/tiny", { config: "evals.toml", engine, resume: true });',
      "const before = evaluator.done;",
      "const stored = await evaluator();",
      'const each = await evaluator.evaluate({ reduce: "none" });',
      "console.log(JSON.stringify({ refused, total, before, after: evaluator.done, stored, each: each.scores.perplexity.length }));",
    ];
    const program = join(place.folder, "evaluate.mjs");
    writeFileSync(program, lines.join("\n"));
    const evaluate = async (): Promise<Record<string, unknown>> => {
      const command = place.command;
      place.command = program;
      const { code, stdout, stderr } = await place.run([]);
      place.command = command;
      expect(stderr).toBe("");
      expect(code).toBe(0);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const first = await evaluate();
    expect(first).toMatchObject({ total: 0, before: false, after: true, each: TEXTS.length });
    expect(first.refused).toMatch(/evaluation blimpp: .*There is no environment "blimpp"/);
    expect(await evaluate()).toEqual({ ...first, total: 2, before: true });
    const direct = (await Promise.all(TEXTS.map(logprobsOf))).flat();
    const { results } = JSON.parse(readFileSync(join(place.folder, "results/general/default/edgewise--tiny/results.json"), "utf8")) as {
      results: Record<string, number>;
    };
    expect(results.perplexity).toBeCloseTo(Math.exp(-sum(direct) / direct.length), 4);
    expect(results.blimp).toBeGreaterThanOrEqual(0);
  });
});

describe("an evaluation by likelihood with the embedded model", () => {
  it("finds of each pair what a direct computation with the same server finds", async () => {
    const { folder } = await run("blimp", "-a", '{"dataset": "pairs.jsonl"}');
    const rows = rowsOf(folder) as unknown as { info: { index: number; part: string }; metrics: Record<string, number>; reward: number }[];
    expect(rows.map(({ info }) => info.part)).toEqual(PAIRS.map(([part]) => part));
    for (const { info, metrics, reward } of rows) {
      const [, good = "", bad = ""] = PAIRS[info.index] ?? [];
      const [likes, dislikes] = [await logprobsOf(good), await logprobsOf(bad)];
      expect(metrics.acc, good).toBe(sum(likes) > sum(dislikes) ? 1 : 0);
      expect(reward, good).toBe(sum(likes) / likes.length > sum(dislikes) / dislikes.length ? 1 : 0);
      expect(metrics.acc_token).toBe(reward);
    }
  });

  it("of texts leads with the corpus's perplexity, whose sums are those of the server's tokens", async () => {
    const { folder, stdout } = await run("perplexity", "-a", '{"dataset": "texts.jsonl", "column": "body"}', "-C", "scored");
    const direct = await Promise.all(TEXTS.map(logprobsOf));
    const [nll, tokens] = [-sum(direct.flat()), direct.flat().length];
    const { corpus } = (metadataOf(folder) as unknown as { edgewise: { corpus: Record<string, number> } }).edgewise;
    expect(corpus).toMatchObject({ texts: TEXTS.length, tokens });
    expect(corpus.nll).toBeCloseTo(nll, 6);
    expect(corpus.perplexity).toBeCloseTo(Math.exp(nll / tokens), 4);
    expect(stdout).toMatch(/--- All ---\nCorpus:\nperplexity: [\d.]+ \(95 % from /);
    const [row] = rowsOf(folder) as unknown as { scored: { logprobs: (number | null)[]; mask: number[] } }[];
    expect(row?.scored.logprobs.filter((logprob) => logprob !== null)).toEqual(direct[0]);
    expect(sum(row?.scored.mask ?? [])).toBe(direct[0]?.length);
  });

  it("may be a class in a module of one's own, whose samples without a continuation are left out", async () => {
    const { folder } = await run("sums");
    expect(rowsOf(folder)).toMatchObject([{ reward: expect.any(Number), info: { index: 0, correct: 0 } }]);
  });
});
