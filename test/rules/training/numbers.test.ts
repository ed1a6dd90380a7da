import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METRICS } from "../../../src/metrics/named/metric-registry.ts";
import { TaskTable } from "../../../src/metrics/named/task-table.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { adviceOf } from "../../../src/training/early-stopping.ts";
import { MlflowSink, mlflowBatches, mlflowKey } from "../../../src/training/mlflow.ts";
import { endOf } from "../../../src/training/run-end.ts";
import { valuesOfRewards, valuesOfRun } from "../../../src/training/run-values.ts";
import { type Point, seriesOf } from "../../../src/training/series.ts";
import { definitionOf, definitionSchema } from "../../../src/training/definition-schema.ts";
import { startScriptedMlflow } from "../../support/clients/scripted-mlflow.ts";
import type { SeenRun, StepOrder, StepRecord } from "../../../src/training/state.ts";

const at = (step: number, value: number, errored = 0) => ({ step, value, model: `ckpt-${step}`, errored });
const rule = { metric: "val/e/mean_reward", mode: "max", min_delta: 0 } as const;

describe("early stopping", () => {
  test("the first evaluation sets the best, and patience counts those in a row that were not better", () => {
    expect(adviceOf(rule, [])).toMatchObject({ best: null, stop: false });
    expect(adviceOf({ ...rule, patience: 2 }, [at(5, -3)])).toMatchObject({ best: { step: 5, value: -3 }, since_best: 0, stop: false });
    const points = [at(5, 0.5), at(10, 0.7), at(15, 0.7), at(20, 0.6)];
    expect(adviceOf({ ...rule, patience: 2 }, points)).toMatchObject({ best: { step: 10 }, since_best: 2, stop: true, stop_at: 20 });
    expect(adviceOf({ ...rule, patience: 3 }, points)).toMatchObject({ stop: false, stop_at: null });
    expect(adviceOf(rule, points)).toMatchObject({ stop: false });
  });

  test("better by min_delta or less is not better, and with mode min less is", () => {
    expect(adviceOf({ ...rule, min_delta: 0.25 }, [at(1, 0.5), at(2, 0.75)]).best?.step).toBe(1);
    expect(adviceOf({ ...rule, mode: "min" }, [at(1, 0.5), at(2, 0.25), at(3, 0.4)])).toMatchObject({ best: { step: 2 }, since_best: 1 });
  });

  test("points are taken in the order of steps, and one with errored rollouts counts for nothing", () => {
    expect(adviceOf(rule, [at(15, 0.1), at(5, 0.9), at(10, 0.95, 3)])).toMatchObject({ best: { step: 5 }, since_best: 1 });
    void fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }), (values) => {
        const points = values.map((value, index) => at(index + 1, value));
        const { best } = adviceOf(rule, points.toReversed());
        return best?.value === Math.max(...values) && best.step === values.indexOf(best.value) + 1;
      }),
    );
  });
});

const totals = { ...emptyTotals(), rollouts: 4, reward_sum: 3, metrics: { acc: { sum: 50, count: 4 } } };
const corpus = {
  texts: 4,
  nll: 8,
  tokens: 4,
  bytes: 16,
  perplexity: Math.E ** 2,
  perplexity_ci95: [7, 8],
  bits_per_byte: 0.7,
  bits_per_byte_ci95: null,
} as const;
const scores = {
  reward_ci95: [0.5, 1] as const,
  pass_at_k: { "1": 0.75, "2": 0.9 },
  pass_all_k: { "2": 0.6 },
  pass_at_k_ci95: { "1": [0.4, 0.9] as const },
  metric_estimates: { acc: { n: 4, mean: 12.5, stderr: 1, ci95: [10, 15] as const } },
  corpus,
};

test("the numbers of a run are taken by name, each with its interval where there is one, and a name it has not is left out", () => {
  const names = [
    "mean_reward",
    "avg",
    "pass_at_1",
    "pass_at_2",
    "pass_all_2",
    "pass_at_9",
    "acc",
    "perplexity",
    "bits_per_byte",
    "no_such",
    "toString",
    "pass@2",
  ];
  const named = { mean_reward: { value: 0.75, ci95: [0.1, 0.9] }, avg: { value: 0.75 } } as const;
  expect(valuesOfRun({ totals, scores }, names, named)).toEqual({
    mean_reward: { value: 0.75, ci95: [0.5, 1] },
    avg: { value: 0.75, ci95: [0.5, 1] },
    pass_at_1: { value: 0.75, ci95: [0.4, 0.9] },
    pass_at_2: { value: 0.9 },
    pass_all_2: { value: 0.6 },
    acc: { value: 12.5, ci95: [10, 15] },
    perplexity: { value: Math.E ** 2, ci95: [7, 8] },
    bits_per_byte: { value: 0.7 },
  });
});

test("where rollouts have errors the mean reward has the interval of those that have a score", () => {
  const errored = { ...totals, errors: { timeout: 1 } };
  const named = { mean_reward: { value: 0.9, ci95: [0.8, 1] } } as const;
  expect(valuesOfRun({ totals: errored, scores }, ["mean_reward"], named)).toEqual(named);
});

describe("metrics of a step that are made of rewards", () => {
  const row = (example_id: number, reward: number, error: string | null = null) => ({ example_id, reward, error });
  const rewardsOf = (rows: readonly object[]): readonly (readonly number[])[] => {
    const table = new TaskTable();
    for (const [index, each] of rows.entries()) table.add({ ...each }, index + 1);
    return table.tasks.map(({ rewards }) => rewards);
  };

  test("are over the first attempts in the order of rows, pass from 1 on, and leave errors out", () => {
    const rewards = rewardsOf([row(0, 1), row(0, 0), row(1, 0), row(1, 0.9), row(1, 1), row(2, 1, "Timeout"), row(2, 0), row(3, 0, "Timeout")]);
    expect(rewards).toEqual([[1, 0], [0, 0.9, 1], [0], []]);
    const names = ["pass@1", "pass@3", "pass^3", "pass_rate", "mean_reward", "acc", "pass_at_1"];
    const values = valuesOfRewards(names, rewards, true);
    expect(Object.fromEntries(Object.entries(values).map(([name, { value }]) => [name, value]))).toEqual({
      "pass@1": 1 / 3,
      "pass@3": 2 / 3,
      "pass^3": 0,
      pass_rate: 2 / 6,
      mean_reward: expect.closeTo((0.5 + 1.9 / 3 + 0) / 3, 12),
    });
    expect(values["pass@1"]?.ci95).toHaveLength(2);
    expect(valuesOfRewards(names, rewards, false)["pass@1"]).toEqual({ value: 1 / 3 });
    expect(valuesOfRewards(["acc"], rewards, true)).toEqual({});
  });

  test("are what the evaluator of a training script has of the same rewards, to the digit", () => {
    void fc.assert(
      fc.property(fc.array(fc.array(fc.constantFrom(0, 0.5, 1), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 20 }), (tasks) => {
        const rows = tasks.flatMap((rewards, example) => rewards.map((reward) => row(example, reward)));
        const { estimates } = METRICS.compute(METRICS.names, tasks);
        const values = valuesOfRewards(METRICS.names, rewardsOf(rows), true);
        for (const name of METRICS.names) expect(values[name]?.value).toBe(estimates.get(name)?.value);
      }),
    );
  });
});

test("a run that failed, was ended, is gone, or whose rollouts all ended in errors is told, and is no number", () => {
  const order = { evaluation: { name: "e", metrics: ["mean_reward", "other"], eval: {} } } as unknown as StepOrder;
  const run: SeenRun = { over: true, status: "COMPLETED", suspended: false, failure: null, rollouts: 2, errored: 0, values: { mean_reward: { value: 1 } } };
  expect(endOf({ order }, run)).toEqual({ kind: "evaluated", values: { mean_reward: { value: 1 } }, missing: ["other"], rollouts: 2, errored: 0 });
  expect(endOf({ order }, { ...run, unread: { code: "limit_reached", message: "rows" } })).toEqual({
    kind: "failed",
    failure: { code: "limit_reached", message: "rows" },
  });
  expect(endOf({ order }, { ...run, errored: 2 })).toMatchObject({ kind: "failed", failure: { code: "all_rollouts_failed" } });
  expect(endOf({ order }, { ...run, status: "FAILED", failure: { code: "auth_failed", message: "no" } })).toMatchObject({ kind: "failed" });
  expect(endOf({ order }, { ...run, status: "CANCELLED" })).toMatchObject({ kind: "stopped" });
  expect(endOf({ order, replaced_by: 7 }, { ...run, status: "CANCELLED" })).toEqual({ kind: "replaced", by: 7 });
  expect(endOf({ order }, { ...run, suspended: true, status: "RUNNING" })).toMatchObject({ kind: "stopped" });
  expect(endOf({ order }, null)).toMatchObject({ kind: "stopped" });
});

const records: StepRecord[] = [9, 4].map((step) => ({
  step,
  evaluation: "gsm8k",
  model: `ckpt-${step}`,
  posted_at: 1,
  seq: step,
  run_id: "00000000",
  ended_at: 1_000 + step,
  end: { kind: "evaluated", values: { "pass@1": { value: step / 10 } }, missing: [], rollouts: 2, errored: 0 },
}));

test("points are named as a trainer's log names them, by the step they are reported by", () => {
  const series = seriesOf([...records, ...records.slice(0, 1).map((each) => ({ ...each, step: 14, end: { kind: "replaced", by: 15 } as const }))]);
  expect(Object.keys(series)).toEqual(["val/gsm8k/pass@1"]);
  expect(series["val/gsm8k/pass@1"]?.map(({ step, value }) => [step, value])).toEqual([
    [5, 0.4],
    [10, 0.9],
  ]);
});

describe("MLflow", () => {
  const points: Point[] = Array.from({ length: 1_200 }, (_, index) => ({
    name: "val/gsm8k/pass@1",
    step: index,
    value: 0.5,
    model: "m",
    run_id: null,
    at: 1_700_000_000_000 + index,
    rollouts: 1,
    errored: 0,
  }));

  test("is sent log-batch requests with step and time, of a size that it takes, and names it takes", () => {
    const batches = mlflowBatches("abc", points);
    expect(batches.map(({ metrics }) => metrics.length)).toEqual([500, 500, 200]);
    expect(batches[0]?.metrics[0]).toEqual({ key: "val/gsm8k/pass_at_first_1", value: 0.5, timestamp: 1_700_000_000_000, step: 0 });
    expect(mlflowKey("val/e/acc[level=5 %]")).toMatch(/^[\w./-]+$/);
    expect(mlflowKey("val/e/pass^3")).toBe("val/e/pass_all_first_3");
  });

  test("what it rejects is told by its origin alone, and redirects are not followed", async () => {
    const asked: RequestInit[] = [];
    const sink = new MlflowSink({ tracking_uri: "https://mlflow.example/secret-path", run_id: "abc" }, "token", async (_, init) => {
      asked.push(init);
      return new Response(null, { status: 302 });
    });
    const failed = await sink.post(points.slice(0, 1)).catch((error: unknown) => String(error));
    expect(failed).toContain("https://mlflow.example answered with status 302");
    expect(failed).not.toContain("secret-path");
    expect(asked[0]).toMatchObject({ method: "POST", redirect: "manual", headers: { authorization: "Bearer token" } });
  });

  test.each([
    ["a run that it has not", '{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no run hush"}', " (RESOURCE_DOES_NOT_EXIST)"],
    ["what is no code", '{"error_code":"hush, and more"}', ""],
    ["its token", '{"error_code":"A_TOKEN"}', ""],
    ["no JSON", "<html>hush</html>", ""],
    ["null", "null", ""],
    ["more than is read", `{"error_code":"TOO_LATE","message":"${"x".repeat(20_000)}`, ""],
  ])("an answer that refuses is told by its code alone: %s", async (_, body, code) => {
    const sink = new MlflowSink({ tracking_uri: "https://mlflow.example", run_id: "abc" }, "A_TOKEN", async () => new Response(body, { status: 404 }));
    await expect(sink.post(points.slice(0, 1))).rejects.toThrow(
      new RegExp(`^https://mlflow.example answered with status 404${code.replace(/[()]/g, "\\$&")}$`),
    );
  });

  test("an answer that never ends is told by what is read of it", async () => {
    let pulled = 0;
    const pull = (stream: ReadableStreamDefaultController): void => {
      pulled++;
      stream.enqueue(new Uint8Array(1_024).fill(0x20));
    };
    const endless = (): Response => new Response(new ReadableStream({ pull }), { status: 500 });
    const sink = new MlflowSink({ tracking_uri: "https://mlflow.example", run_id: "abc" }, null, async () => endless());
    await expect(sink.post(points.slice(0, 1))).rejects.toThrow("answered with status 500");
    expect(pulled).toBeLessThan(10);
  });

  test("keeps what it is sent over HTTP once, however often, and one that hangs or fails is told within its time", async () => {
    const server = await startScriptedMlflow();
    try {
      const sink = new MlflowSink({ tracking_uri: server.url, run_id: "abc" }, null, fetch, 300);
      const post = () => sink.post(points).then(() => "arrived", String);
      server.answer("hang");
      expect(await post()).toContain(`${server.url} did not answer within 0.3 s`);
      server.answer(500);
      expect(await post()).toContain(`${server.url} answered with status 500`);
      server.answer(200);
      const patient = new MlflowSink({ tracking_uri: server.url, run_id: "abc" }, null, fetch);
      await patient.post(points);
      await patient.post(points);
      expect(server.kept.size).toBe(points.length);
      expect(server.requests[0]).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
      expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    } finally {
      await server.close();
    }
    const gone = new MlflowSink({ tracking_uri: server.url, run_id: "abc" }, null, fetch, 5_000);
    expect(await gone.post(points).catch(String)).toContain(`no connection to ${server.url}`);
  });
});

describe("a definition", () => {
  const given = {
    run_every: 5,
    eval: { num_examples: 10 },
    evaluations: [{ eval: { env_id: "gsm8k" } }, { name: "hard", run_every: 0, eval: { env_id: "gsm8k" } }],
  };

  test("has everything filled in: names, cadences, common settings, and what says which step is best", () => {
    expect(definitionOf(definitionSchema.parse(given))).toEqual({
      evaluations: [
        { name: "gsm8k", run_every: 5, metrics: ["mean_reward", "pass_rate"], eval: { num_examples: 10, env_id: "gsm8k" } },
        { name: "hard", run_every: 0, metrics: ["mean_reward", "pass_rate"], eval: { num_examples: 10, env_id: "gsm8k" } },
      ],
      on_older: "keep",
      early_stopping: { metric: "val/gsm8k/mean_reward", mode: "max", min_delta: 0 },
    });
  });

  test("may name a benchmark with the fields and defaults of one, and arguments of its table beside them", () => {
    const chat_template = { system_prompt: "Be brief.", enable_thinking: false };
    const evaluations = [
      { benchmark: "gsm8k" },
      {
        benchmark: "benchmark",
        name: "mine",
        num_samples: 3,
        limit: 20,
        temperature: 0.7,
        chat_template,
        eval: { env_args: { dataset: "https://x/t.jsonl" } },
      },
    ];
    const usual = { num_examples: -1, rollouts_per_example: 1, max_concurrent: 8, sampling_args: { max_tokens: 256, temperature: 0 } };
    expect(definitionOf(definitionSchema.parse({ evaluations })).evaluations.map(({ name, eval: table }) => [name, table])).toEqual([
      ["gsm8k", { env_id: "gsm8k", ...usual }],
      [
        "mine",
        {
          env_id: "benchmark",
          num_examples: 20,
          rollouts_per_example: 3,
          max_concurrent: 8,
          sampling_args: { max_tokens: 256, temperature: 0.7, extra_body: { chat_template_kwargs: { enable_thinking: false } } },
          env_args: { system_prompt: "Be brief.", dataset: "https://x/t.jsonl" },
        },
      ],
    ]);
  });

  test("may name an evaluation with the fields that library code gives one, which come to the same run", () => {
    const evaluations = [
      { evaluation: "blimp", args: { per_part: 20 }, length: 50, temperature: 0, eval: { env_args: { part: "wh_island" } } },
      { evaluation: "mmlu" },
    ];
    expect(definitionOf(definitionSchema.parse({ evaluations })).evaluations.map(({ name, eval: table }) => [name, table])).toEqual([
      [
        "blimp",
        {
          env_id: "blimp",
          num_examples: -1,
          rollouts_per_example: 1,
          env_args: { per_part: 20, length: 50, part: "wh_island" },
          sampling_args: { temperature: 0 },
        },
      ],
      ["mmlu", { env_id: "mmlu", num_examples: -1, rollouts_per_example: 1 }],
    ]);
  });

  test.each([
    [{ evaluations: [{ evaluation: "mmlu", benchmark: "gsm8k" }] }, "leave one of the two out"],
    [{ evaluations: [{ evaluation: "mmlu", num_samples: 2 }] }, "num_samples"],
    [{ evaluations: [{ benchmark: "gsm8k", length: 2 }] }, "length"],
    [{ evaluations: [{ evaluation: "mmlu", length: -2 }] }, "length"],
    [{ evaluations: [{ evaluation: "mmlu", eval: { env_id: "gsm8k" } }] }, "is said by `evaluation`"],
    [{ evaluations: [{ benchmark: "gsm8k", metrics: ["perplexity"], breakdown_keys: ["level"] }] }, "breakdown_keys"],
    [{ evaluations: [{ benchmark: "gsm8k", chat_template: { user_template: "{prompt}" } }] }, "user_template"],
    [{ evaluations: [{ max_tokens: 5, eval: { env_id: "gsm8k" } }] }, "max_tokens"],
    [{ evaluations: [{ eval: { env_id: "gsm8k", cache: "read" } }] }, "would answer a step with what an earlier one was asked"],
    [{ eval: { cache: "read-write" } }, '"path":["eval","cache"]'],
    [{ evaluations: [] }, "evaluations"],
    [{ evaluations: [{ eval: {} }] }, "env_id"],
    [{ evaluations: [{ eval: { env_id: "gsm8k", model: "m" } }] }, "model"],
    [{ evaluations: [given.evaluations[0], given.evaluations[0]] }, "two evaluations"],
    [{ evaluations: [{ metrics: ["pass@5"], eval: { env_id: "gsm8k" } }] }, "pass_at_<k>"],
    [{ on_older: "drop" }, "on_older"],
    [{ early_stopping: { metric: "val/gsm8k/other" } }, "must be one of"],
    [{ early_stopping: { patience: 0 } }, "patience"],
    [{ mlflow: { tracking_uri: "ftp://x", run_id: "r" } }, "tracking_uri"],
    [{ run_evry: 5 }, "run_evry"],
  ])("with %j is refused by the name of its field", (changes, field) => {
    const checked = definitionSchema.safeParse({ ...given, ...changes });
    expect(checked.success).toBe(false);
    expect(JSON.stringify(checked.error?.issues)).toContain(field);
  });
});
