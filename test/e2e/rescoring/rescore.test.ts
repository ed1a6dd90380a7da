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

const write = (text: string, name = "numbers.ts"): void => writeFileSync(join(place.folder, name), text);
const rowsIn = (folder: string) => jsonRows(readText(join(place.folder, folder), "results.jsonl"));
const folderOf = (stdout: string): string => /Results: (\S+)/.exec(stdout)?.[1] ?? "";

/** An environment of one's own: its reward, and a judge at the scripted server beside it. */
const numbers = (reward: string): string => `
import { defineEnvironment, JudgeRubric, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "numbers", version: "1.0.0", description: "Numbers.", args: z.object({}), keys: ["JUDGE_KEY"],
  load: (_, { client }) => new SingleTurnEnv({
    dataset: Array.from({ length: 3 }, (_, n) => ({ question: "number " + n, answer: String(n), level: n })),
    rubric: new Rubric([function read({ answer, completion, state, level }) { ${reward} }]),
    rubrics: {
      judged: new JudgeRubric([async function asked({ judge, prompt, completion, answer, state }) { return (await judge(prompt, completion, answer, state)).length > 0 ? 1 : 0; }], {
        judgeClient: client({ base_url: ${JSON.stringify("URL")}, api_key_var: "JUDGE_KEY" }), judgeModel: "judge",
      }),
    },
  }),
});
`;
const environment = (reward: string): string => numbers(reward).replace('"URL"', JSON.stringify(model.url));
const KEY = { JUDGE_KEY: "sk-judge" };
const rescore = (...args: string[]) => place.run(["rescore", ...args], KEY);

async function first(): Promise<{ readonly folder: string; readonly id: string }> {
  write(environment("return 0.5;"));
  const made = await place.run(["eval", "run", "./numbers.ts", "-m", "scripted", "-b", model.url, "-n", "3", "-r", "2"], KEY);
  expect(made.code, made.stderr).toBe(0);
  const folder = folderOf(made.stdout);
  return { folder, id: folder.split("/").at(-1) ?? "" };
}

describe("npx edgewise rescore", () => {
  it("scores a run, and a folder that is all there is of one, by the mended environment and by a judge: no model is called, compare says that it is on purpose, and keys that rows lack are told", async () => {
    const { folder, id } = await first();
    const before = readFileSync(join(place.folder, folder, "results.jsonl"), "utf8");
    const asked = model.ledger.stats().total;
    write(environment("return answer === '1' ? 0.5 : level;"));
    const ofRun = await rescore(id, "--env", "./numbers.ts");
    expect(ofRun.code, ofRun.stderr).toBe(0);
    expect(ofRun.stderr).toContain(`numbers scores the rollouts of run ${id} again`);
    expect(ofRun.stdout).toContain(`rollouts of run ${id}, whose reward was 0.500; 2 of 3 examples have other scores now`);
    const again = folderOf(ofRun.stdout);
    expect(rowsIn(again).map(({ reward }) => reward)).toEqual([0, 0, 0.5, 0.5, 2, 2]);
    const compared = await place.run(["compare", folder, again]);
    expect(compared.code, compared.stderr).toBe(0);
    expect(compared.stdout + compared.stderr).toContain("the scorers differ on purpose");
    const ofFolder = await rescore(folder, "--env", "./numbers.ts");
    expect(ofFolder.code, ofFolder.stderr).toBe(0);
    expect(rowsIn(folderOf(ofFolder.stdout)).map(({ reward }) => reward)).toEqual([0, 0, 0.5, 0.5, 2, 2]);
    expect(readFileSync(join(place.folder, folder, "results.jsonl"), "utf8")).toBe(before);
    expect(ofFolder.stdout).toContain(`(npx edgewise compare ${folder} `);
    expect(model.ledger.stats().total).toBe(asked);

    const judged = await rescore(id, "--env", "./numbers.ts", "--rubric", "judged");
    expect(judged.code, judged.stderr).toBe(0);
    expect(model.ledger.stats().total).toBe(asked + 6);
    const rows = rowsIn(folderOf(judged.stdout));
    expect(rows.map(({ reward, judge_usage: usage }) => [reward, (usage as { requests: number }).requests])).toEqual(Array.from({ length: 6 }, () => [1, 1]));

    write(environment("return state.board.score;"));
    const lacks = await rescore(id, "--env", "./numbers.ts");
    expect(lacks.code).toBe(1);
    expect(lacks.stderr).toContain("The scorer reads what stored rows do not hold: board.");
    expect(model.ledger.stats().total).toBe(asked + 6);
  });
});
