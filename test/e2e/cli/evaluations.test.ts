import { createHash } from "node:crypto";
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
  writeFileSync(join(place.folder, "sums.jsonl"), lines([{ context: "what is 1 + 1?", completion: " 2" }]));
  mkdirSync(join(place.folder, "environments/sums"), { recursive: true });
  writeFileSync(join(place.folder, "environments/sums/index.ts"), OWN);
  place.start(["serve", "--port", "0"]);
  await until(() => typeof readLock(place.state)?.port === "number", 30_000);
  url = `http://127.0.0.1:${readLock(place.state)?.port}/embedded/v1`;
}, 60_000);
afterAll(() => place.remove());

/** What the route itself gives each token of a text, asked for here and one by one. */
async function logprobsOf(prompt: string): Promise<number[]> {
  return (await echoOf(prompt)).token_logprobs.filter((logprob) => logprob !== null);
}

async function echoOf(prompt: string): Promise<{ readonly tokens: readonly string[]; readonly token_logprobs: readonly (number | null)[] }> {
  const request = { model: "edgewise/tiny", prompt, max_tokens: 0, echo: true, logprobs: 0 };
  const answer = await fetch(`${url}/completions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request) });
  const { choices } = (await answer.json()) as { choices: { logprobs: Awaited<ReturnType<typeof echoOf>> }[] };
  return choices[0]?.logprobs ?? { tokens: [], token_logprobs: [] };
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
      "const sums = { provider: 'embedded', results: 'other', evaluation: [{ name: 'arithmetic_integers', args: { dataset: 'sums.jsonl' } }] };",
      "const { intermediates } = await Evaluator.fromCheckpoint('edgewise/tiny', { config: sums, engine }).evaluate({ returnIntermediates: true });",
      "const [written] = intermediates.arithmetic_integers;",
      'const evaluator = Evaluator.fromCheckpoint("edgewise/tiny", { config: "evals.toml", engine, resume: true });',
      "const before = evaluator.done;",
      "const stored = await evaluator();",
      'const each = await evaluator.evaluate({ reduce: "none" });',
      "console.log(JSON.stringify({ refused, total, written, before, after: evaluator.done, stored, each: each.scores.perplexity.length }));",
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
    const { tokens, logprobs } = first.written as { readonly tokens: readonly string[]; readonly logprobs: readonly number[] };
    expect(tokens.length).toBeGreaterThan(0);
    expect(tokens.length).toBeLessThanOrEqual(10);
    expect(logprobs.map((logprob) => logprob <= 0)).toEqual(tokens.map(() => true));
    expect(await evaluate()).toEqual({ ...first, total: 3, before: true });
    const direct = (await Promise.all(TEXTS.map(logprobsOf))).flat();
    const { results } = JSON.parse(readFileSync(join(place.folder, "results/general/default/edgewise--tiny/results.json"), "utf8")) as {
      results: Record<string, number>;
    };
    expect(results.perplexity).toBeCloseTo(Math.exp(-sum(direct) / direct.length), 4);
    expect(results.blimp).toBeGreaterThanOrEqual(0);
  });
});

describe("an evaluator of the service", () => {
  it("has of a step the corpus's numbers, which are those of the server's tokens", async () => {
    const service = url.replace("/embedded/v1", "/api/v1");
    const asked = async (method: string, path: string, body?: string | Buffer<ArrayBuffer>, type = "application/json"): Promise<unknown> => {
      const answer = await fetch(service + path, { method, ...(body === undefined ? {} : { body, headers: { "content-type": type } }) });
      const text = await answer.text();
      expect(answer.ok, text).toBe(true);
      return JSON.parse(text);
    };
    const texts = readFileSync(join(place.folder, "texts.jsonl"));
    const digest = createHash("sha256").update(texts).digest("hex");
    await asked("PUT", `/datasets/${digest}`, texts, "application/octet-stream");
    const perplexity = {
      evaluation: "perplexity",
      args: { dataset: `sha256:${digest}`, column: "body" },
      metrics: ["perplexity", "bits_per_byte"],
      eval: { provider: "embedded" },
    };
    const early_stopping = { metric: "val/perplexity/perplexity", mode: "min" };
    await asked("PUT", "/evaluators/loop", JSON.stringify({ run_every: 2, evaluations: [perplexity], early_stopping }));
    expect(await asked("POST", "/evaluators/loop/steps", '{"step": 1, "model": "edgewise/tiny"}')).toMatchObject({ data: { due: ["perplexity"] } });
    interface Shown {
      readonly data: {
        readonly series: Record<string, readonly { readonly step: number; readonly value: number; readonly ci95?: readonly number[] }[]>;
        readonly records: readonly { readonly outcome: string }[];
      };
    }
    let shown: Shown | null = null;
    await until(async () => {
      shown = (await asked("GET", "/evaluators/loop")) as Shown;
      return shown.data.records.some(({ outcome }) => outcome !== "open");
    }, 30_000);
    const direct = (await Promise.all(TEXTS.map(logprobsOf))).flat();
    // The first token of a text has nothing before it, and counts neither as a token nor in bytes.
    const counted = await Promise.all(TEXTS.map(async (text) => text.slice((await echoOf(text)).tokens[0]?.length ?? 0)));
    const bytes = sum(counted.map((text) => new TextEncoder().encode(text).byteLength));
    const { series, records } = (shown as Shown | null)?.data ?? { series: {}, records: [] };
    expect(records).toMatchObject([{ step: 2, outcome: "evaluated", rollouts: TEXTS.length, errored: 0, missing: [] }]);
    const [ppl] = series["val/perplexity/perplexity"] ?? [];
    expect(ppl?.value).toBeCloseTo(Math.exp(-sum(direct) / direct.length), 4);
    expect(ppl?.ci95).toEqual([expect.any(Number), expect.any(Number)]);
    expect(series["val/perplexity/bits_per_byte"]?.[0]?.value).toBeCloseTo(-sum(direct) / (Math.LN2 * bytes), 4);
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
