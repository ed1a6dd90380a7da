import { describe, expect, it } from "vitest";
import { debtOf } from "../../../durable-objects/run/course/repair.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { PythonEnv } from "../../../src/environments/sandbox/python-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { rescore } from "../../../src/environments/unit/rescore.ts";
import type { KeptRollout } from "../../../src/environments/unit/stored-rollout.ts";
import { notedJudges } from "../../../src/executor/endpoints/noted-judges.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { MAX_RESULT_ROW_BYTES } from "../../../src/rollouts/rows/row.ts";
import { groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { response, scripted } from "../../support/walled/units.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

type Scores = ConstructorParameters<typeof Rubric>[0];
type Columns = RewardContext & Readonly<Record<string, unknown>>;

const ROW = {
  example_id: 4,
  prompt: [{ role: "user", content: "2+2" }],
  completion: [{ role: "assistant", content: "4" }],
  answer: "4",
  reward: 0.5,
  error: null,
  metrics: { old: 0.5 },
  judge_response: { asked: "yes" },
  old: 0.5,
  rollout_index: 0,
};
const keptOf = (row: object): KeptRollout => ({ index: 0, line: JSON.stringify(row), summary: summaryOfRow(row as never) });

const scored = (functions: Scores, row: object = ROW, rowOnly = true) =>
  scoredBy(new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric(functions) }), row, rowOnly);

const scoredBy = (environment: Environment, row: object, rowOnly: boolean) =>
  rescore(inProcess(environment), { example_id: 4, prompt: [{ role: "user", content: "2+2" }], task: "t", answer: "4" }, [keptOf(row)], {
    client: null,
    model: "m",
    sampling_args: {},
    independent: false,
    stateColumns: ["judge_response"],
    rowOnly,
    signal: new AbortController().signal,
    deadlineMs: null,
    now: () => 1,
    sleep,
  });

describe("what judges saw and said", () => {
  const judge = notedJudges(
    { state_columns: ["judge_response"] },
    scripted(() => response("no")),
  );
  const asks = (content: string) => ({
    name: "asks",
    fn: async ({ state }: RewardContext) => {
      await judge.getResponse({ prompt: [{ role: "user", content }], model: "j", sampling_args: {}, tools: [], state, signal: null });
      return 1;
    },
  });
  const { judge_response: _, ...unasked } = ROW;
  const keptBy = async (scores: Scores, row: object) => JSON.parse((await scored(scores, row)).rows[0]?.line ?? "").judge_response;

  it("is what this scoring's judge was asked, and nothing of an earlier one, in rows that did not keep it too", async () => {
    expect(await keptBy([asks("asked")], ROW)).toEqual({ asked: "no" });
    expect(await keptBy([asks("anew")], ROW)).toEqual({ anew: "no" });
    expect(await keptBy([asks("anew")], unasked)).toEqual({ anew: "no" });
    expect(await keptBy([{ name: "asks_nobody", fn: () => 1 }], ROW)).toBeNull();
    expect(await keptBy([{ name: "asks_nobody", fn: () => 1 }], unasked)).toBeNull();
  });

  it("leaves a row its new scores where there is no room for it", async () => {
    const full = { ...unasked, completion: [{ role: "assistant", content: "4".repeat(MAX_RESULT_ROW_BYTES - 2_000) }] };
    const { rows } = await scored([asks("p".repeat(3_000))], full);
    expect(rows[0]?.summary).toMatchObject({ reward: 1, error: null });
    expect(JSON.parse(rows[0]?.line ?? "").judge_response).toBeNull();
  });
});

describe("a rollout of which there is its row alone", () => {
  it("has what its row holds of the example, and names what a function asks for beyond that", async () => {
    const knows = await scored([
      { name: "exact", fn: ({ completion, answer, prompt }) => Number(completion.at(-1)?.content === answer && prompt.length === 1) },
    ]);
    expect(knows).toMatchObject({ lacks: [], changed: true, rows: [{ summary: { reward: 1, metrics: { exact: 1 } } }] });
    expect(JSON.parse(knows.rows[0]?.line ?? "")).not.toHaveProperty("old");
    const asks = async (fn: (context: Columns) => unknown) =>
      (await scored([{ name: "asks", fn: (context: RewardContext) => Number(fn(context as Columns)) }])).lacks;
    expect(await asks(({ level }) => level)).toEqual(["level"]);
    expect(await asks(({ info }) => info.level)).toEqual(["info"]);
    expect(await asks(({ state }) => state.info?.level)).toEqual(["info"]);
    expect(await asks(({ state }) => state.input.level)).toEqual(["level"]);
    expect(await asks(({ state }) => state.board)).toEqual(["board"]);
    expect(await asks(({ state }) => state.judge_response === undefined)).toEqual([]);
    const { answer: _, ...unanswered } = ROW;
    expect((await scored([{ name: "asks", fn: groupReward(({ answers }) => answers.map(() => 1)) }], unanswered, false)).lacks).toEqual([]);
  });

  it("is told by name where a function takes all columns, or lists them", async () => {
    const lists = async (fn: (context: Columns) => unknown) =>
      (await scored([{ name: "lists", fn: (context: RewardContext) => Number(fn(context as Columns)) }])).lacks;
    expect(await lists(({ completion: _, ...columns }) => Object.keys(columns).length)).toEqual(["input.*"]);
    expect(await lists(({ state }) => Object.keys(state.input).length)).toEqual(["input.*"]);
  });

  it("that ended in an error is scored as far as its row goes, keeps its error, and no lack is held against it", async () => {
    const error = { error: "ModelError", error_chain_repr: "", error_chain_str: "", code: "rate_limited" };
    const result = await scored([{ name: "board", fn: ({ state }) => Number(state.board) }], { ...ROW, completion: null, error });
    expect(result).toMatchObject({ lacks: [], rows: [{ summary: { reward: 0, error: "rate_limited" } }] });
    expect(debtOf({ ...keptOf(ROW).summary, error: "rate_limited" }, { keepErrors: false, scoreAgain: true, runsNone: true })).toBeNull();
    expect(debtOf({ ...keptOf(ROW).summary, error: "scorer_error" }, { keepErrors: false, scoreAgain: true, runsNone: true })).toBe("scores");
  });

  it("keeps what monitors measured of its sandbox, which is no more; a rubric that asks for the sandbox itself lacks it", async () => {
    const env = (score: (context: RewardContext) => unknown): PythonEnv =>
      new PythonEnv({
        dataset: [{ question: "q" }],
        sandbox: new ScriptedSandbox(),
        rubric: new Rubric([{ name: "read", fn: (context: RewardContext) => Number(score(context)) }]),
      });
    const measured = { sandbox_ready_wait_time: 1.5, sandbox_command_execution_time: 0.25, python_ready_wait_time: 2 };
    const row = { ...ROW, metrics: { old: 0.5, num_turns: 2, ...measured } };
    for (const rowOnly of [true, false]) {
      const { lacks, rows } = await scoredBy(
        env(() => 1),
        row,
        rowOnly,
      );
      expect(lacks).toEqual([]);
      expect(rows[0]?.summary).toMatchObject({ reward: 1, metrics: { read: 1, num_turns: 2, ...measured } });
    }
    expect(
      (
        await scoredBy(
          env(({ state }) => state.sandbox_id === "x"),
          row,
          false,
        )
      ).lacks,
    ).toEqual(["sandbox_id"]);
    expect(
      (
        await scoredBy(
          env(() => 1),
          ROW,
          false,
        )
      ).lacks,
    ).toEqual(["sandbox_state", "python_state"]);
  });
});
