import { describe, expect, it } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { rawFields } from "../../../src/rollouts/rows/raw-fields.ts";
import { summariseRow } from "../../../src/rollouts/rows/row.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import type { KeptRollout } from "../../../src/environments/unit/stored-rollout.ts";
import { scoreAgain, type ScoreAgainOptions } from "../../../src/environments/unit/score-again.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { Client, RolloutInput, State } from "../../../src/rollouts/types.ts";
import { JudgeRubric } from "../../../src/rubrics/judge-rubric.ts";
import { groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

const input: RolloutInput = { example_id: 4, prompt: [{ role: "user", content: "2+2" }], task: "t", answer: "4", info: { level: 1 }, difficulty: "easy" };
const textOf = ({ completion }: RewardContext): string => String(completion.at(-1)?.content);

const fixed = { name: "correct", fn: (context: RewardContext) => (textOf(context) === context.answer ? 1 : 0.5) };
const broken = {
  name: "correct",
  fn: (): number => {
    throw new Error("a slip of the pen");
  },
};

class Board extends SingleTurnEnv {
  override async setupState(state: State): Promise<void> {
    state.board = { x: 1.5 };
  }
}
const environment = (...functions: ConstructorParameters<typeof Rubric>[0] & unknown[]): Board =>
  new Board({ dataset: async function* () {}, rubric: new Rubric(functions) });

/** Answers of a model, in turn; what is asked beyond them is a fault of the test. */
function model(...answers: string[]): Client & { calls: number } {
  return {
    type: "scripted",
    calls: 0,
    async getResponse() {
      const content = answers[this.calls++];
      if (content === undefined) throw new Error("the model was asked again");
      const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, reasoning_tokens: 0 };
      return { id: "r", created: 0, model: "m", usage, message: { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null } };
    },
  };
}

let time = 1_000_000;
const common = {
  model: "m",
  sampling_args: { max_tokens: null },
  independent: false,
  stateColumns: [] as string[],
  signal: new AbortController().signal,
  deadlineMs: null,
  now: () => (time += 7),
  sleep,
};

/** Rows as a run stored them. */
async function stored(env: SingleTurnEnv, answers: string[], options: Partial<Parameters<typeof runUnit>[2]> = {}): Promise<KeptRollout[]> {
  const count = answers.length;
  const rollouts = answers.map((_, index) => index);
  const played = { ...common, unit: 0, rollouts, kept: [], rolloutsPerExample: count, client: model(...answers), maxRetries: 0, random: () => 0.5, ...options };
  const { lines } = await runUnit(inProcess(env), input, played);
  return lines.map((line, index) => ({ index, line, summary: summariseRow(JSON.parse(line) as JsonObject) }));
}
const again = (env: SingleTurnEnv, rows: readonly KeptRollout[], options: Partial<ScoreAgainOptions> = {}) =>
  scoreAgain(inProcess(env), input, rows, { ...common, client: model(), ...options });
const parsed = ({ line }: KeptRollout): JsonObject => JSON.parse(line) as JsonObject;

const SCORES = ["reward", "error", "metrics", "correct", "timing", "error_chain", "long_error_chain"];

describe("a rollout whose reward function was mended", () => {
  it("is scored from its row: what was generated is there byte for byte, and the model is not asked", async () => {
    const rows = await stored(environment(broken), ["4", 'é 5 \u2028 \\ " }'], { stateColumns: ["board"] });
    expect(rows.map(({ summary }) => summary.error)).toEqual(["scorer_error", "scorer_error"]);
    const { rows: scored, unscored } = await again(environment(fixed), rows, { stateColumns: ["board"] });
    expect(unscored).toBeNull();
    expect(scored.map(({ summary }) => [summary.reward, summary.error, summary.metrics])).toEqual([
      [1, null, { correct: 1, num_turns: 1 }],
      [0.5, null, { correct: 0.5, num_turns: 1 }],
    ]);
    for (const [at, { line }] of scored.entries()) {
      const before = new Map(rawFields(rows[at]?.line ?? ""));
      const after = new Map(rawFields(line));
      for (const [name, text] of after) if (!SCORES.includes(name)) expect(text, name).toBe(before.get(name));
      expect([...after.keys()]).toEqual([...(await stored(environment(fixed), ["4"], { stateColumns: ["board"] })).flatMap((row) => Object.keys(parsed(row)))]);
      const [old, fresh] = [parsed({ ...rows[at], line: rows[at]?.line ?? "" } as KeptRollout).timing, parsed({ line } as KeptRollout).timing] as JsonObject[];
      expect(fresh).toMatchObject({ start_time: old?.start_time, generation_ms: old?.generation_ms, scoring_ms: expect.any(Number) });
      expect(fresh?.total_ms).toBe(Number(fresh?.generation_ms) + Number(fresh?.scoring_ms));
    }
  });

  it("keeps the text of rows that another program wrote, and the nested times of the newer shape", async () => {
    const line =
      '{"example_id": 4, "prompt": [{"role": "user", "content": "2+2"}], "completion": [{"role": "assistant", "content": "\\u00e9 4"}], "answer": "4", "reward": 0.0, "error": {"error": "ScorerError", "code": "scorer_error"}, ' +
      '"timing": {"start_time": 1.5, "setup": {"start": 0.0, "end": 0.0, "duration": 0.0}, "generation": {"start": 1.5, "end": 3.0, "duration": 1.50}, "scoring": {"start": 3.0, "end": 5.0, "duration": 2.0}, "total": 3.5, "overhead": 0.0}, ' +
      '"is_completed": true, "is_truncated": false, "stop_condition": "max_turns_reached", "metrics": {"num_turns": 1.0}, "tool_defs": [], "token_usage": {"input_tokens": 5.0, "output_tokens": 1e0}, "error_chain": "ScorerError()", "num_turns": 1.0, "rollout_index": 0}';
    const { rows } = await again(environment({ ...fixed, fn: (context: RewardContext) => (textOf(context) === "é 4" ? 0.25 : 0) }), [
      { index: 0, line, summary: summariseRow(JSON.parse(line) as JsonObject) },
    ]);
    const fields = new Map(rawFields(rows[0]?.line ?? ""));
    expect(fields.get("completion")).toBe('[{"role": "assistant", "content": "\\u00e9 4"}]');
    expect(fields.get("token_usage")).toBe('{"input_tokens": 5.0, "output_tokens": 1e0}');
    expect([...fields.keys()].slice(-3)).toEqual(["correct", "num_turns", "rollout_index"]);
    expect(fields.has("error_chain")).toBe(false);
    const row = JSON.parse(rows[0]?.line ?? "") as JsonObject;
    expect(row).toMatchObject({ reward: 0.25, error: null, metrics: { correct: 0.25, num_turns: 1 } });
    expect(fields.get("timing")).toContain('"generation": {"start": 1.5, "end": 3.0, "duration": 1.50}');
    const { scoring, total } = row.timing as { scoring: { duration: number }; total: number };
    expect(total).toBeCloseTo(1.5 + scoring.duration, 9);
    expect(rows[0]?.line.startsWith('{"example_id": 4, "prompt": ')).toBe(true);
  });

  it("carries the digest of the code that scored it, where rows carry one", async () => {
    const rows = await stored(environment(broken), ["4"]);
    const once = await again(environment(fixed), rows, { envDigest: "v2:a" });
    expect(parsed(once.rows[0] as KeptRollout)).toMatchObject({ env_digest: "v2:a", reward: 1 });
    const twice = await again(environment(fixed), once.rows, { envDigest: "v2:b" });
    expect(rawFields(twice.rows[0]?.line ?? "").filter(([name]) => name === "env_digest")).toEqual([["env_digest", '"v2:b"']]);
  });

  it("sees what rows hold: prompt, answer, info, columns of the data set, state columns, usage, stop condition, number of turns", async () => {
    const seen: unknown[] = [];
    const looks = {
      name: "correct",
      fn: ({ state, info, task }: RewardContext) => {
        seen.push(
          state.example_id,
          state.answer,
          info.level,
          task,
          state.input.difficulty,
          state.board,
          state.usage,
          state.stop_condition,
          state.trajectory.length,
        );
        return 1;
      },
    };
    const rows = await stored(environment(broken), ["4"], { stateColumns: ["board"] });
    const { unscored } = await again(environment(looks), rows, { stateColumns: ["board"] });
    expect(unscored).toBeNull();
    expect(seen).toEqual([4, "4", 1, "t", "easy", { x: 1.5 }, { input_tokens: 5, output_tokens: 1 }, "max_turns_reached", 1]);
  });

  it("that is not mended has the new error, which is told once", async () => {
    const rows = await stored(environment(broken), ["4", "4"]);
    const other = { ...broken, fn: () => Number.NaN };
    const { rows: scored, firstErrors } = await again(environment(other), rows);
    expect(firstErrors).toEqual([{ code: "scorer_error", message: expect.stringContaining("NaN") }]);
    expect(scored.map(({ summary }) => summary.error)).toEqual(["scorer_error", "scorer_error"]);
    expect(scored[0]?.line).not.toContain("slip of the pen");
  });
});

describe("a row that does not suffice", () => {
  const reads = (fn: (state: State) => unknown) => ({ name: "correct", fn: ({ state }: RewardContext) => (fn(state) === undefined ? 0 : 1) });

  it.each([
    ["reads a key", (state: State) => (state.board as { x: number }).x, "board"],
    [
      "swallows what that throws",
      (state: State) => {
        try {
          return (state.board as { x: number }).x;
        } catch {
          return undefined;
        }
      },
      "board",
    ],
    ["asks whether it is there", (state: State) => ("board" in state ? 1 : undefined), "board"],
    ["asks so by its own name", (state: State) => (Object.hasOwn(state, "board") ? 1 : undefined), "board"],
    ["copies the state", (state: State) => ({ ...state }).board, "*"],
    ["looks into the calls of the model", (state: State) => state.trajectory[0]?.response, "trajectory"],
    ["goes through them", (state: State) => [...state.trajectory].length, "trajectory"],
    ["reads the last answer of the environment", (state: State) => state.final_env_response ?? 1, "final_env_response"],
  ])("stays as it was, and what it lacks is named, when the function %s", async (_what, fn, key) => {
    const rows = await stored(environment(broken), ["4"]);
    const { rows: left, unscored } = await again(environment(reads(fn)), rows);
    expect(unscored).toEqual({ rollouts: 1, state: [key] });
    expect(left).toEqual(rows);
  });

  it("does not keep the others of its example from their scores", async () => {
    const rows = await stored(environment(broken), ["4", "5"]);
    const sometimes = { name: "correct", fn: (context: RewardContext) => (textOf(context) === "5" ? Number(context.state.board) : 1) };
    const { rows: scored, unscored } = await again(environment(sometimes), rows);
    expect(unscored).toEqual({ rollouts: 1, state: ["board"] });
    expect(scored.map(({ summary }) => summary.error)).toEqual([null, "scorer_error"]);
    expect(scored[1]).toEqual(rows[1]);
  });

  it("is none for lack of what scoring itself makes: functions see what others before them wrote, a judge's answers are kept", async () => {
    const first = { name: "first", fn: ({ state }: RewardContext) => Object.assign(state, { parsed: 2 }).parsed };
    const second = { name: "second", fn: ({ state }: RewardContext) => Number(state.parsed) };
    const rows = await stored(environment(broken), ["4"]);
    expect((await again(environment(first, second), rows)).rows[0]?.summary).toMatchObject({ reward: 4, error: null });
    const judged = new Board({
      dataset: async function* () {},
      rubric: new JudgeRubric(
        [
          async function approved({ judge, prompt, completion, answer, state }) {
            return (await judge(prompt, completion, answer, state)) === "yes";
          },
        ],
        {
          judgeClient: model("yes"),
          judgeModel: "judge",
        },
      ),
    });
    const { rows: scored } = await again(judged, rows, { stateColumns: ["judge_response"] });
    expect(scored[0]?.summary).toMatchObject({ reward: 1, error: null });
  });
});

describe("rollouts that are judged together", () => {
  const best = (score: (texts: string[]) => number[]) => ({
    name: "best",
    fn: groupReward(({ completions }) => score(completions.map((completion) => String(completion[0]?.content)))),
  });

  it("are scored together again, all from their rows", async () => {
    const rows = await stored(environment(best(() => [1])), ["a", "bbb", "cc"]);
    expect(rows.map(({ summary }) => summary.error)).toEqual(["scorer_error", "scorer_error", "scorer_error"]);
    const longest = best((texts) => texts.map((text) => Number(text.length === Math.max(...texts.map(({ length }) => length)))));
    const { rows: scored } = await again(environment(longest), rows);
    expect(scored.map(({ summary }) => [summary.reward, summary.error])).toEqual([
      [0, null],
      [1, null],
      [0, null],
    ]);
  });

  it("stay all as they were when one row lacks what a function reads", async () => {
    const rows = await stored(
      environment(
        broken,
        best((texts) => texts.map(() => 1)),
      ),
      ["a", "b"],
    );
    const sometimes = { name: "correct", fn: (context: RewardContext) => (textOf(context) === "b" ? Number(context.state.board) : 1) };
    const { rows: left, unscored } = await again(
      environment(
        sometimes,
        best((texts) => texts.map(() => 1)),
      ),
      rows,
    );
    expect(unscored).toEqual({ rollouts: 2, state: ["board"] });
    expect(left).toEqual(rows);
  });
});

describe("scoring again that is ended", () => {
  const endless = { name: "correct", fn: () => new Promise<number>(() => undefined) };

  it("by the executor leaves the work to another", async () => {
    const rows = await stored(environment(broken), ["4"]);
    const controller = new AbortController();
    const outcome = again(environment(endless), rows, { signal: controller.signal });
    controller.abort(new Error("fenced"));
    expect(await outcome).toMatchObject({ aborted: true, rows: [] });
  });
});
