import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { adviceOf } from "../../../src/training/early-stopping.ts";
import { MlflowSink, mlflowBatches, mlflowKey } from "../../../src/training/mlflow.ts";
import { endOf } from "../../../src/training/run-end.ts";
import { valuesOfRun } from "../../../src/training/run-values.ts";
import { type Point, seriesOf } from "../../../src/training/series.ts";
import { definitionOf, definitionSchema } from "../../../src/training/definition-schema.ts";
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

const totals = { ...emptyTotals(), rollouts: 4, reward_sum: 3, metrics: { perplexity: { sum: 50, count: 4 } } };
const scores = {
  reward_ci95: [0.5, 1] as const,
  pass_at_k: { "1": 0.75, "2": 0.9 },
  pass_all_k: { "2": 0.6 },
  pass_at_k_ci95: { "1": [0.4, 0.9] as const },
  metric_estimates: { perplexity: { n: 4, mean: 12.5, stderr: 1, ci95: [10, 15] as const } },
};

test("the numbers of a run are taken by name, each with its interval where there is one, and a name it has not is left out", () => {
  const names = ["mean_reward", "avg", "pass_rate", "pass@2", "pass^2", "perplexity", "pass@9", "no_such"];
  expect(valuesOfRun({ totals, scores }, names)).toEqual({
    mean_reward: { value: 0.75, ci95: [0.5, 1] },
    avg: { value: 0.75, ci95: [0.5, 1] },
    pass_rate: { value: 0.75, ci95: [0.4, 0.9] },
    "pass@2": { value: 0.9 },
    "pass^2": { value: 0.6 },
    perplexity: { value: 12.5, ci95: [10, 15] },
  });
});

test("a run that failed, was ended, is gone, or whose rollouts all ended in errors is told, and is no number", () => {
  const order = { evaluation: { name: "e", metrics: ["mean_reward", "other"], eval: {} } } as unknown as StepOrder;
  const run: SeenRun = { over: true, status: "COMPLETED", suspended: false, failure: null, rollouts: 2, errored: 0, values: { mean_reward: { value: 1 } } };
  expect(endOf({ order }, run)).toEqual({ kind: "evaluated", values: { mean_reward: { value: 1 } }, missing: ["other"], rollouts: 2, errored: 0 });
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
    expect(batches[0]?.metrics[0]).toEqual({ key: "val/gsm8k/pass_at_1", value: 0.5, timestamp: 1_700_000_000_000, step: 0 });
    expect(mlflowKey("val/e/acc[level=5 %]")).toMatch(/^[\w./-]+$/);
    expect(mlflowKey("val/e/pass^3")).toBe("val/e/pass_all_3");
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

  test.each([
    [{ evaluations: [] }, "evaluations"],
    [{ evaluations: [{ eval: {} }] }, "env_id"],
    [{ evaluations: [{ eval: { env_id: "gsm8k", model: "m" } }] }, "model"],
    [{ evaluations: [given.evaluations[0], given.evaluations[0]] }, "two evaluations"],
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
