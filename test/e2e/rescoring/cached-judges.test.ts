import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";
import { jsonRows, readText } from "../../support/results/results-check.ts";

const KEY = { JUDGE_KEY: "sk-judge" };
const folderOf = (stdout: string): string => /Results: (\S+)/.exec(stdout)?.[1] ?? "";

/** An environment of one's own, whose answers a judge at the scripted server looks at. */
const judged = (url: string): string => `
import { defineEnvironment, JudgeRubric, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "numbers", version: "1.0.0", description: "Numbers.", args: z.object({}), keys: ["JUDGE_KEY"],
  load: (_, { client }) => new SingleTurnEnv({
    dataset: Array.from({ length: 3 }, (_, n) => ({ question: "number " + n, answer: String(n) })),
    rubric: new Rubric([function half() { return 0.5; }]),
    rubrics: {
      judged: new JudgeRubric([async function asked({ judge, prompt, completion, answer, state }) { return (await judge(prompt, completion, answer, state)).length > 0 ? 1 : 0; }], {
        judgeClient: client({ base_url: ${JSON.stringify(url)}, api_key_var: "JUDGE_KEY" }), judgeModel: "judge",
      }),
    },
  }),
});
`;

it(
  "rescore with --cache read-write asks each judge once: again it makes no call, and an environment of one's own is answered from the cache too",
  { timeout: 120_000 },
  inPlace({}, async ({ place, model }) => {
    writeFileSync(join(place.folder, "numbers.ts"), judged(model.url));
    const total = (): number => model.ledger.stats().total;
    const cached = ["--cache", "read-write"];
    const run = () => place.run(["eval", "run", "./numbers.ts", "--no-preflight", "-m", "scripted", "-b", model.url, "-n", "3", "-r", "2", ...cached], KEY);
    const made = await run();
    expect(made.code, made.stderr).toBe(0);
    expect(total()).toBe(6);
    const repeated = await run();
    expect(repeated.stdout, repeated.stderr).toContain("cached: 6 of 6 calls");
    expect(total()).toBe(6);
    const rescore = () => place.run(["rescore", folderOf(made.stdout), "--env", "./numbers.ts", "--rubric", "judged", ...cached], KEY);
    const first = await rescore();
    expect(first.code, first.stderr).toBe(0);
    expect(total()).toBe(12);
    expect(first.stdout).toContain("cached: 0 of 6 calls of judges");
    const second = await rescore();
    expect(second.stdout, second.stderr).toContain("cached: 6 of 6 calls of judges");
    expect(total()).toBe(12);
    const scored = (stdout: string) =>
      jsonRows(readText(join(place.folder, folderOf(stdout)), "results.jsonl")).map(({ reward, judge_usage }) => ({ reward, judge_usage }));
    expect(scored(second.stdout)).toEqual(scored(first.stdout));
  }),
);
