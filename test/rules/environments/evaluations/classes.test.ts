import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { findAccumulationSteps } from "../../../../src/environments/evaluations/accumulation-steps.ts";
import { defineEvaluation } from "../../../../src/environments/evaluations/define-evaluation.ts";
import { EncodingEvaluation } from "../../../../src/environments/evaluations/encoding-evaluation.ts";
import { type Comparison, PerplexityComparisonEvaluation } from "../../../../src/environments/evaluations/perplexity-comparison.ts";
import { PerplexityEvaluation } from "../../../../src/environments/evaluations/perplexity-evaluation.ts";
import { reducePerplexity, reduceRows, reduceScores, type Reduction } from "../../../../src/environments/evaluations/reduce.ts";
import { RolloutEvaluation } from "../../../../src/environments/evaluations/rollout-evaluation.ts";
import type { Environment } from "../../../../src/environments/kinds/environment.ts";
import { logLevel, type LogLine, setupLogging } from "../../../../src/logging/logger.ts";
import { runExample, type ScriptedToken, testEnvironment } from "../../../../src/testing/index.ts";

class Capitals extends RolloutEvaluation {
  readonly name = "capitals";
  readonly pairs = Array.from({ length: 20 }, (_, i) => [`The capital of ${i} is`, `city ${i}`] as const);
  override get length(): number {
    return this.pairs.length;
  }
  override get(index: number): readonly [string, string] {
    return this.pairs[index] ?? ["", ""];
  }
  override clean(yHat: string): string {
    return yHat.trim().toLowerCase();
  }
  override check(y: string, yHat: string): boolean {
    return y === yHat;
  }
  override maxNewTokens(): number {
    return 12;
  }
}

class Texts extends PerplexityEvaluation {
  readonly name = "texts_ppl";
  readonly texts = ["a b c", "d e"];
  override get length(): number {
    return this.texts.length;
  }
  override get(index: number): string {
    return this.texts[index] ?? "";
  }
}

class Choices extends PerplexityComparisonEvaluation {
  readonly name = "choices";
  readonly samples_: readonly Comparison[];
  constructor(...samples: readonly Comparison[]) {
    super();
    this.samples_ = samples;
  }
  override get length(): number {
    return this.samples_.length;
  }
  override get(index: number): Comparison {
    return this.samples_[index] ?? ["", [], 0];
  }
}

/** One token a word, with the space before it; each costs its length in nats, and the first nothing. */
const words = (text: string): ScriptedToken[] =>
  [...text.matchAll(/\s*\S+/g)].map(
    ([token], i) => [token, i === 0 ? null : -token.trim().length, i === 0 ? undefined : ` ${token.trim()}!`] as const as ScriptedToken,
  );

async function inputs(environment: Environment, count = -1): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const input of environment.examples(count)) all.push(input as unknown as JsonObject);
  return all;
}

describe("reductions", () => {
  it("are the mean, 0 of nothing, the sum, or each sample, and nothing else", () => {
    expect(reduceScores([1, 0, 1, 1], "mean")).toBe(0.75);
    expect(reduceScores([], "mean")).toBe(0);
    expect(reduceScores([1, 0, 1, 1], "sum")).toBe(3);
    expect(reduceScores([1, 0], "none")).toEqual([1, 0]);
    expect(() => reduceScores([1], "max" as Reduction)).toThrow('reduce is "max"; it can be mean, sum, none');
  });

  it("of texts are the corpus's perplexity, weighted by tokens, or that of each", () => {
    const [nll, counts] = [
      [10, 2],
      [5, 4],
    ];
    expect(reducePerplexity(nll, counts, "mean")).toBeCloseTo(3.7937, 4);
    expect(reducePerplexity(nll, counts, "sum")).toBeCloseTo(3.7937, 4);
    const each = reducePerplexity(nll, counts, "none") as number[];
    expect(each[0]).toBeCloseTo(7.3891, 4);
    expect(each[1]).toBeCloseTo(1.6487, 4);
    // That of the corpus is not the mean of these, which is another number.
    expect(reduceScores(each, "mean")).toBeCloseTo(4.5189, 4);
    expect(reducePerplexity([0], [0], "mean")).toBe(1);
  });

  it("of rows go by what the rows have", () => {
    const text = (nll: number, tokens: number) => ({
      reward: -nll / tokens,
      metrics: { nll_sum: nll, nll_tokens: tokens, text_perplexity: Math.exp(nll / tokens) },
    });
    expect(reduceRows([text(10, 5), text(2, 4)], "mean")).toBeCloseTo(3.7937, 4);
    expect((reduceRows([text(10, 5), text(2, 4)], "none") as number[])[0]).toBeCloseTo(7.3891, 4);
    expect(
      reduceRows(
        [
          { reward: 1, metrics: { correct: 1 } },
          { reward: 0, metrics: {} },
        ],
        "mean",
      ),
    ).toBe(0.5);
  });
});

describe("accumulation steps", () => {
  it.each([
    [100, 8, 1, [5, 20]],
    [96, 8, 4, [8, 3]],
    [7, 4, 1, [1, 7]],
    [7, 4, 2, [null, null]],
  ] as const)("of %i samples in batches of at most %i on %i devices", (size, most, replicas, expected) => {
    expect(findAccumulationSteps(size, most, replicas)).toEqual(expected);
  });

  it("refuses what is no number of anything", () => {
    expect(() => findAccumulationSteps(0, 1, 1)).toThrow("datasetSize is 0");
  });
});

describe("an evaluation by generation", () => {
  it("asks with the prompt as it is, greedily, for as many tokens as it says, and scores the cleaned answer", async () => {
    const { state, model } = await runExample(new Capitals().environment(), { answers: ["  City 3\n"], example: 3 });
    expect(model.requests[0]?.prompt).toEqual([{ role: "text", content: "The capital of 3 is" }]);
    expect(model.requests[0]?.sampling_args).toMatchObject({ temperature: 0, top_p: 1, max_tokens: 12 });
    expect(state).toMatchObject({ reward: 1, metrics: { correct: 1 } });
    expect((await runExample(new Capitals().environment({ temperature: 0.5, topP: 0.9 }), { answers: ["no"] })).state.reward).toBe(0);
  });

  it("keeps what the server gave the tokens of its answer where that was asked for, and asks without where it refuses", async () => {
    const logprobs = { tokens: ["city", " 3"], token_logprobs: [-0.5, -0.25] };
    const asked = { samplingArgs: { logprobs: true, top_logprobs: 2 }, example: 3 };
    const { state } = await runExample(new Capitals().environment(), { answers: [{ content: "city 3", logprobs }], ...asked });
    const scored = { tokens: ["city", " 3"], logprobs: [-0.5, -0.25], mask: [1, 1], nll: 0.75, count: 2, bytes: 6, straddles: false };
    expect(state).toMatchObject({ reward: 1, scored });
    expect((await runExample(new Capitals().environment(), { answers: [{ content: "city 0", logprobs }] })).state.scored).toBeUndefined();
    const refused = await logLevel("silent", () =>
      runExample(new Capitals().environment(), {
        answers: [{ error: "bad_request", message: "'logprobs' is not supported with this model" }, "city 3"],
        ...asked,
      }),
    );
    expect(refused.state).toMatchObject({ error: null, reward: 1 });
    expect(refused.state.scored).toBeUndefined();
    expect(refused.model.requests.map(({ sampling_args: { max_tokens, logprobs: wanted, top_logprobs } }) => [max_tokens, wanted, top_logprobs])).toEqual([
      [12, true, 2],
      [12, undefined, undefined],
    ]);
    const other = await runExample(new Capitals().environment(), { answers: [{ error: "bad_request", message: "no such model" }], ...asked });
    expect(other.state.error).toMatchObject({ code: "bad_request" });
  });

  it("has its own bound of tokens in a run that says none", async () => {
    const bound = async (samplingArgs: JsonObject) => {
      const { model } = await runExample(new Capitals().environment(), { answers: ["x"], samplingArgs });
      return model.requests[0]?.sampling_args.max_tokens;
    };
    expect([await bound({ max_tokens: null }), await bound({ max_tokens: 5 })]).toEqual([12, 5]);
  });

  it("must say how long answers may be", () => {
    class Endless extends Capitals {
      override maxNewTokens(): number {
        return RolloutEvaluation.prototype.maxNewTokens.call(this);
      }
    }
    expect(() => new Endless().environment()).toThrow("evaluation capitals has no maxNewTokens");
  });

  it("scores by a function of its own where it has one", async () => {
    class Half extends Capitals {
      override score(ys: readonly string[]): number[] {
        return ys.map(() => 0.5);
      }
    }
    expect((await runExample(new Half().environment(), { answers: ["x"] })).state.reward).toBe(0.5);
  });

  it("draws the same part of the samples every time, and the inputs say which", async () => {
    const first = await inputs(new Capitals().environment({ length: 5 }));
    const chosen = first.map(({ info }) => (info as { index: number }).index);
    expect(chosen).toHaveLength(5);
    expect(chosen).toEqual([...chosen].sort((a, b) => a - b));
    expect(chosen).not.toEqual([0, 1, 2, 3, 4]);
    expect(await inputs(new Capitals().environment({ length: 5 }))).toEqual(first);
    expect(await inputs(new Capitals().environment({ length: 25 }))).toHaveLength(20);
  });

  it("has a data set for evaluations, and warns of none that lacks", async () => {
    const lines: LogLine[] = [];
    setupLogging({ sink: (line) => lines.push(line) });
    try {
      for (const evaluation of [new Capitals(), new Texts(), new Choices(["a", [" b", " c"], 0])]) {
        const environment = evaluation.environment();
        const rows = await logLevel("warning", () => environment.getEvalDataset());
        expect(rows.map(({ example_id, info }) => [example_id, info?.index])).toEqual(rows.map((_, at) => [at, at]));
      }
    } finally {
      setupLogging();
    }
    expect(lines).toEqual([]);
  });

  it("keeps so many samples under way as a chunk has", () => {
    expect(new Capitals().environment({ chunkSize: 7 }).concurrency).toBe(7);
    expect(new Capitals().environment().concurrency).toBeNull();
  });
});

describe("an evaluation of texts", () => {
  it("scores every token but the first, in nats, tokens and bytes", async () => {
    const text = "ab cdé f";
    class One extends Texts {
      override readonly texts = [text];
    }
    const { state } = await runExample(new One().environment(), { scores: words });
    expect(state.error).toBeNull();
    expect(state.metrics).toEqual({ mean_logprob: -2, text_perplexity: Math.exp(2), nll_sum: 4, nll_tokens: 2, nll_bytes: 7, num_turns: 1 });
    expect(state).toMatchObject({ reward: -2, completion: [], scored: { tokens: ["ab", " cdé", " f"], logprobs: [null, -3, -1], mask: [0, 1, 1] } });
  });

  it("counts the first token too where the server puts one before the text", async () => {
    const { state } = await runExample(new Texts().environment(), {
      scores: () => [
        ["", null],
        ["a", -1],
        [" b c", -2],
      ],
    });
    expect(state.metrics).toMatchObject({ nll_sum: 3, nll_tokens: 2, nll_bytes: 5 });
  });

  it("is no score where there is nothing to score", async () => {
    const { state } = await runExample(new Texts().environment(), { scores: (text) => [[text, null]] });
    expect(state.error).toMatchObject({ code: "scorer_error", message: expect.stringContaining("nothing to score") });
  });

  it("refuses a client that cannot ask for likelihoods", async () => {
    await expect(runExample(new Texts().environment(), {})).rejects.toMatchObject({ code: "prompt_logprobs_unsupported" });
  });
});

describe("an evaluation by comparison", () => {
  /** "yes" is the less likely of the two by token, and the more likely as a whole. */
  const scores = (text: string): readonly ScriptedToken[] =>
    text === "Q: yes"
      ? [
          ["Q:", null],
          [" yes", -1],
        ]
      : [
          ["Q:", null],
          [" n", -0.7],
          ["o", -0.7],
        ];
  const play = async (sample: Comparison, scripted: (text: string) => readonly ScriptedToken[]) =>
    (await runExample(new Choices(sample).environment(), { scores: scripted })).state;

  it("takes the least mean over tokens; the sum and the mean over bytes are metrics of their own", async () => {
    const state = await play(["Q:", [" yes", " no"], 1], scores);
    expect(state.metrics).toMatchObject({ acc_token: 1, acc: 0, acc_bytes: 0 });
    expect(state).toMatchObject({ reward: 1, completion: [{ role: "assistant", content: " no" }] });
  });

  it("looks at one-token continuations, and not at what comes after the text", async () => {
    const cost = { A: -0.1, B: -3 } as Record<string, number>;
    const scores = (text: string): readonly ScriptedToken[] => [
      ["Q:", null],
      [text.slice(2), cost[text.at(-1) ?? ""] ?? -9],
    ];
    expect((await play(["Q:", [" A", " B"], 0], scores)).reward).toBe(1);
    expect((await play(["Q:", [" A", " B"], 1], scores)).reward).toBe(0);
  });

  it("takes the first of equal ones, and says where a token straddles the prefix", async () => {
    const state = await play(["ab", ["c", "d"], 0], (text) => [
      ["a", null],
      [text.slice(1), -1],
    ]);
    expect(state.metrics).toMatchObject({ acc_token: 1, straddled: 1 });
  });

  it("skips samples that lack a continuation", async () => {
    const environment = new Choices(["a", [], 0], ["b", [" c", ""], 0], ["d", [" e", " f"], 1]).environment();
    expect((await inputs(environment)).map(({ info, answer }) => [(info as { index: number }).index, answer])).toEqual([[2, " f"]]);
  });

  it("scores by what a definition says is the reward", async () => {
    class Sums extends Choices {
      override readonly reward = "acc";
    }
    expect((await runExample(new Sums(["Q:", [" yes", " no"], 1]).environment(), { scores })).state.reward).toBe(0);
  });
});

describe("an evaluation by next-token prediction", () => {
  class Shouts extends EncodingEvaluation {
    readonly name = "shouts";
    override get length(): number {
      return 1;
    }
    override get(): string {
      return "one two three";
    }
    override clean(yHat: string): string {
      return yHat.trim();
    }
    override check(x: string, yHat: string): boolean {
      return x === "one two three" && yHat === "two! three!";
    }
  }

  it("has one verdict on the most probable token of every place but the first", async () => {
    const { state } = await runExample(new Shouts().environment(), { scores: words });
    expect(state).toMatchObject({ error: null, reward: 1, completion: [{ role: "assistant", content: " two! three!" }] });
  });

  it("is no score where the server does not say them", async () => {
    const { state } = await runExample(new Shouts().environment(), {
      scores: (text) => [
        ["one", null],
        [text.slice(3), -1],
      ],
    });
    expect(state.error?.message).toContain("no most probable token at place 0");
  });
});

describe("a definition of an evaluation", () => {
  it("takes length and chunk_size, and is run once for each of all samples", () => {
    const definition = defineEvaluation({ id: "capitals", version: "1", description: "x", load: () => new Capitals() });
    expect(definition.defaults).toEqual({ num_examples: -1, rollouts_per_example: 1 });
    expect(testEnvironment(definition, { args: { chunk_size: 3, length: 2 } }).concurrency).toBe(3);
    expect(() => testEnvironment(definition, { args: { lenght: 2 } })).toThrow("lenght");
  });
});
