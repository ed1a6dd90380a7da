import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";
import { jsonRows, readText } from "../../support/results/results-check.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

const write = (name: string, text: string): void => writeFileSync(join(place.folder, name), text);
const rowsIn = (folder: string) => jsonRows(readText(join(place.folder, folder), "results.jsonl"));
const endpoint = (): string[] => ["-m", "scripted", "-b", model.url];
const run = (...args: string[]) => place.run(["eval", "run", "./slips.ts", ...args]);

/** An environment of one's own, with a reward function of a few words. */
const slips = (reward: string): string => `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "slips", version: "1.0.0", description: "Numbers.", args: z.object({}),
  load: () => new SingleTurnEnv({
    dataset: Array.from({ length: 3 }, (_, n) => ({ question: "number " + n, answer: String(n) })),
    rubric: new Rubric([function read({ answer, completion, state }) { ${reward} }]),
  }),
});
`;
/** What no rescoring may change. */
const GENERATED = ["prompt", "completion", "token_usage", "stop_condition"] as const;

describe("a run whose reward function has a slip", () => {
  it("says what to mend, and then scores its rollouts again: no request, right rewards, code 0; with the slip still there it says so, and fails", async () => {
    write("slips.ts", slips("return anwser;"));
    const first = await run(...endpoint(), "-n", "3", "-r", "2");
    expect(first.code).toBe(1);
    expect(first.stderr).toMatch(/Every rollout ended in an error: scorer_error \(6\)/);
    expect(first.stderr).toContain("Mend the reward function, then resume: 6 rollouts are scored again, and none is generated.");
    const [, folder = ""] = /Results: (\S+)/.exec(first.stdout) ?? [];
    expect(first.stdout).toContain(
      `Resume once the reward function is mended (6 rollouts are scored again, none is generated): npx edgewise eval run ./slips.ts -R ${folder}`,
    );
    const before = rowsIn(folder);
    const asked = model.ledger.stats().total;

    const same = await run("-R", folder);
    expect(same.code).toBe(1);
    expect(same.stderr).toMatch(/ended FAILED, and a resume can do nothing about that/);
    expect(same.stderr).toMatch(/6 rollouts that ended in scorer errors stay as they are: the environment's code has not changed/);

    write("slips.ts", slips("return Number(answer) + 0.5;"));
    const mended = await run("-R", folder);
    expect(mended.stderr).toContain("goes on (6 rollouts to score again, none to generate)");
    expect(mended.code, mended.stderr).toBe(0);
    expect(mended.stdout).not.toContain("Resume");
    const rows = rowsIn(folder);
    expect(rows.map(({ reward, read, error }) => [reward, read, error])).toEqual([0, 0, 1, 1, 2, 2].map((n) => [n + 0.5, n + 0.5, null]));
    for (const [at, row] of rows.entries()) for (const name of GENERATED) expect(row[name]).toEqual(before[at]?.[name]);
    expect(model.ledger.stats().total).toBe(asked);
    expect((await place.run(["eval", "list"])).stdout).toContain("COMPLETED");
  });

  it("keeps rows that lack what the mended function reads, and names it", async () => {
    write("slips.ts", slips("return anwser;"));
    const first = await run(...endpoint(), "-n", "1", "-r", "1");
    const [, folder = ""] = /Results: (\S+)/.exec(first.stdout) ?? [];
    const rows = readFileSync(join(place.folder, folder, "results.jsonl"), "utf8");
    write("slips.ts", slips("return state.board.score;"));
    const again = await run("-R", folder);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("1 rollout could not be scored again, since the reward functions read state.board, which stored rows do not hold");
    expect(again.stdout).not.toContain("Resume");
    expect(readFileSync(join(place.folder, folder, "results.jsonl"), "utf8")).toBe(rows);
  });
});

describe("a run that ended before its first rollout", () => {
  it("takes the data set that was mended; -R without a folder begins a new run", async () => {
    const run = (...args: string[]) => place.run(["eval", "run", "gsm8k", ...args]);
    write("rows.jsonl", '{"question": "a", "answer": "#### 1"}\n{"question": \n');
    const data = ["-a", '{"dataset": "rows.jsonl"}'];
    const first = await run(...endpoint(), ...data, "-n", "-1", "-r", "1");
    expect(first.code).toBe(1);
    const [, command = ""] = /^Resume once that is mended: npx edgewise (.*)$/m.exec(first.stdout) ?? [];
    expect(command).toMatch(/^eval run gsm8k -a '\{"dataset":"rows\.jsonl"\}' -R \S+$/);
    const [, folder = ""] = / -R (\S+)$/.exec(command) ?? [];
    const anew = await run(...endpoint(), ...data, "-n", "-1", "-r", "1", "-R");
    expect(anew.stderr).toMatch(/this is a new one .*it ended FAILED before its first rollout, and would again/);
    write("rows.jsonl", '{"question": "a", "answer": "#### 1"}\n{"question": "b", "answer": "#### 2"}\n');
    const mended = await run(...data, "-R", folder);
    expect(mended.code, mended.stderr).toBe(0);
    expect(rowsIn(folder)).toHaveLength(2);
  });
});
