import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EVALUATIONS } from "../../../src/environments/bundled/evaluations/evaluations.ts";
import { listEnvironments } from "../../../src/environments/definition/load.ts";
import { grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import type { ScriptInput } from "../../support/model-server/model-script.ts";

interface Case {
  readonly id: string;
  /** Rows of the data set, for environments that read one. */
  readonly rows?: readonly object[];
  readonly answer: ScriptInput["answer"];
  /** Metrics of every row, and of a right answer. */
  readonly metrics: Readonly<Record<string, number>>;
  /** It needs a sandbox of this machine. */
  readonly walled?: true;
}

const WALL = spawnSync("bwrap", ["--version"]).status === 0;
if (!WALL) console.log("skipped: there is no bubblewrap (bundled environments on sandboxes)");

const questions = (answer: (index: number) => object): object[] =>
  Array.from({ length: 5 }, (_, index) => ({ question: `Question ${index}?`, ...answer(index) }));

const CASES: readonly Case[] = [
  { id: "alphabet-sort", answer: { text: "<alphabetical_sorted>\nNobody\n</alphabetical_sorted>" }, metrics: { exactly_sorted: 0 } },
  { id: "arithmetic", answer: { text: "-1" }, metrics: {} },
  {
    id: "benchmark",
    rows: Array.from({ length: 5 }, (_, at) => ({
      task_id: at,
      instruction: `Say yes to ${at}.`,
      verifier: { kind: "in_process", function: "contains", expected: "yes" },
    })),
    answer: { text: "yes" },
    metrics: { verifier_reward: 1 },
  },
  { id: "gsm8k", rows: questions(() => ({ answer: "9*2=18\n#### 18" })), answer: { text: "It is \\boxed{18}." }, metrics: { correct_answer: 1 } },
  {
    id: "humaneval",
    rows: Array.from({ length: 5 }, (_, at) => ({
      task_id: `Own/${at}`,
      prompt: `def add_${at}(n: int) -> int:\n    """ Adds ${at}. """\n`,
      entry_point: `add_${at}`,
      test: `def check(candidate):\n    assert candidate(1) == ${at + 1}\n`,
    })),
    answer: { text: Array.from({ length: 5 }, (_, at) => `def add_${at}(n):\n    return n + ${at}\n`).join("") },
    metrics: { passed: 1 },
    walled: true,
  },
  { id: "math500", rows: questions(() => ({ answer: "\\frac{1}{2}" })), answer: { text: "It is \\boxed{0.5}." }, metrics: { correct_answer: 1 } },
  {
    id: "mmlu",
    rows: questions((index) => ({ subject: "counting", choices: ["none", "one"], answer: index % 2 })),
    answer: { text: "C" },
    metrics: { reward: 0 },
  },
  {
    id: "python-math",
    rows: questions(() => ({ answer: "18" })),
    answer: { text: "It is \\boxed{18}." },
    metrics: { correct_answer: 1, python_calls: 0 },
    walled: true,
  },
  { id: "reverse-text", answer: "reverse", metrics: { similarity: 1 } },
  { id: "tool-test", answer: { text: "I call nothing." }, metrics: { tool_call_reward_func: 0, total_tool_calls: 0 } },
  {
    id: "truthfulqa-mc",
    rows: questions(() => ({ mc1_targets: { choices: ["right", "wrong"], labels: [1, 0] } })),
    answer: { text: "\\boxed{Z}" },
    metrics: { correct_choice: 0, gave_a_letter: 1 },
  },
  { id: "wordle", answer: { text: "<guess>crane</guess>" }, metrics: { num_turns: 6 } },
];

/** A request that is repeated, and a rollout that is. */
const FAULTS: ScriptInput["faults"] = [
  { when: { nth: 2 }, fault: { kind: "status", status: 503 } },
  { when: { nth: 4 }, fault: { kind: "malformed_json" } },
];

/** All rollouts of an example are scored together: the longest answer wins. */
const RANKED = `
import { defineEnvironment, groupReward, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "ranked", version: "1.0.0", description: "Ranks.", args: z.object({}),
  load: () => new SingleTurnEnv({
    dataset: Array.from({ length: 5 }, (_, index) => ({ question: "Say " + index })),
    rubric: new Rubric([groupReward(function rank({ completions }) { return completions.map((_, index) => index / 10); })]),
  }),
});
`;

/** Its server is a program of its own: another test plays it. */
const ELSEWHERE = ["openenv"];

describe.concurrent("every bundled environment goes through the engine", () => {
  it("and none is left out here, but for evaluations, which are one code: one of them stands for all", () => {
    const others = [...ELSEWHERE, ...EVALUATIONS.map(({ id }) => id).filter((id) => id !== "mmlu")];
    expect(CASES.map(({ id }) => id)).toEqual(
      listEnvironments()
        .map(({ id }) => id)
        .filter((id) => !others.includes(id)),
    );
  });

  it.each(CASES.filter(({ walled }) => WALL || walled === undefined))(
    "$id: rows of groups, retries of requests and rollouts, and a resume",
    { timeout: 120_000 },
    ({ id, rows, answer, metrics }) =>
      inPlace({ answer, faults: FAULTS }, async (bench) => {
        const { place } = bench;
        if (rows !== undefined) writeFileSync(join(place.folder, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
        const data = rows === undefined ? [] : ["-a", '{"dataset": "rows.jsonl"}'];
        const run = ["eval", "run", id, "-m", "scripted", "-b", bench.model.url, ...data];
        const first = await place.run([...run, "-n", "2", "-r", "2", "--max-retries", "1"]);
        expect(first.code, first.stderr).toBe(0);
        const check = (examples: number): void => {
          expect(keysOfRows(bench.rows)).toEqual(grid(examples, 2));
          for (const row of bench.rows) expect(row).toMatchObject({ error: null, ...metrics });
        };
        check(2);
        const grown = await place.run([...run, "-R", place.results, "-n", "3"]);
        expect(grown.stderr).toContain("2 rollouts to do");
        expect(grown.code, grown.stderr).toBe(0);
        check(3);
        expect(bench.metadata).toMatchObject({ env_id: id, num_examples: 3, edgewise: { status: "COMPLETED", errored_rollouts: 0 } });
      })(),
  );

  it(
    "an environment that scores groups: together, and refused with --independent-scoring before the first call",
    { timeout: 120_000 },
    inPlace({}, async (bench) => {
      writeFileSync(join(bench.place.folder, "ranked.ts"), RANKED);
      const run = ["eval", "run", "./ranked.ts", "-m", "scripted", "-b", bench.model.url, "-n", "2", "-r", "3"];
      const refused = await bench.place.run([...run, "-i"]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/independent_scoring: .*ranked.*together/) });
      expect(bench.model.ledger.stats().total).toBe(0);
      expect((await bench.place.run(run)).code).toBe(0);
      expect(bench.rows.map(({ reward }) => reward)).toEqual([0, 0.1, 0.2, 0, 0.1, 0.2]);
    }),
  );
});
