import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Bench, inPlace } from "../../support/cli/in-place.ts";

/** An environment with a judge at the scripted server, which is told such limits of tokens; of its own rubrics one asks it, the other nobody. */
const judged = (url: string, limits: object): string => `
import { defineEnvironment, JudgeRubric, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "judged", version: "1.0.0", description: "Judged.", args: z.object({}), keys: ["JUDGE_KEY"],
  load: (_, { client }) => new SingleTurnEnv({
    dataset: Array.from({ length: 8 }, (_, n) => ({ question: "number " + n, answer: String(n) })),
    rubrics: { plain: new Rubric([function half() { return 0.5; }]) },
    rubric: new JudgeRubric([async function asked({ judge, prompt, completion, answer, state }) { return (await judge(prompt, completion, answer, state)).length > 0 ? 1 : 0; }], {
      judgeClient: client({ base_url: ${JSON.stringify(url)}, api_key_var: "JUDGE_KEY" }), judgeModel: "judge", judgeSamplingArgs: ${JSON.stringify(limits)},
    }),
  }),
});
`;

const PRICES = '[[price]]\nmodel = "*"\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = 1000\n';
const KEY = { JUDGE_KEY: "sk-judge" };
/** With its registry and its environment. */
function placed({ place, model }: Bench, limits: object): void {
  mkdirSync(join(place.folder, "configs"), { recursive: true });
  writeFileSync(join(place.folder, "configs", "endpoints.toml"), PRICES);
  writeFileSync(join(place.folder, "judged.ts"), judged(model.url, limits));
}
const folderOf = (stdout: string): string => /Results: (\S+)/.exec(stdout)?.[1] ?? "";
const askedJudge = ({ model }: Bench): number => model.ledger.entries().filter((entry) => entry.model === "judge").length;
const run = ({ place, model }: Bench, ...more: readonly string[]) =>
  place.run(["eval", "run", "./judged.ts", "--no-preflight", "-m", "scripted", "-b", model.url, "-t", "10", "-r", "1", ...more], KEY);

describe.concurrent("a run with --max-cost whose judge has no limit of tokens", () => {
  it(
    "ends by that name, asks the judge nothing, and has no rollout that counts as a fault of its reward function",
    { timeout: 120_000 },
    inPlace({}, async (bench) => {
      placed(bench, {});
      const { code, stdout, stderr } = await run(bench, "-n", "8", "-c", "2", "--max-cost", "5");
      expect(code, stdout).toBe(1);
      expect(stderr).toContain('ended FAILED: nothing bounds what a request of "judge" costs (it has no limit of tokens), and a budget holds for it');
      expect(stdout + stderr).not.toContain("scorer_error");
      expect(askedJudge(bench)).toBe(0);
    }),
  );

  it(
    "ends by that name where it scores another's rollouts again, with no row that counts as a fault of its reward function",
    { timeout: 120_000 },
    inPlace({}, async (bench) => {
      placed(bench, {});
      // Without a budget nothing has to be bounded.
      const made = await run(bench, "-n", "4");
      expect(made.code, made.stderr).toBe(0);
      expect(askedJudge(bench)).toBe(4);
      const again = await bench.place.run(["rescore", folderOf(made.stdout), "--env", "./judged.ts", "--max-cost", "5"], KEY);
      expect([again.code, askedJudge(bench)], again.stdout).toEqual([1, 4]);
      expect(again.stderr).toContain('ended FAILED: nothing bounds what a request of "judge" costs');
      expect(again.stdout + again.stderr).not.toMatch(/scorer_error|unbounded_cost [1-9]/);
    }),
  );
});

describe.concurrent("a run with --max-cost that is spent when its judges are asked", () => {
  it(
    "ends in order at once, says so, keeps what is generated, and scores it once there is more",
    { timeout: 120_000 },
    inPlace({}, async (bench) => {
      // An answer of the model costs a cent, one of its judge may cost half a dollar.
      placed(bench, { max_tokens: 500 });
      const first = await run(bench, "-n", "8", "-c", "2", "--max-cost", "0.3");
      expect(first.code, first.stdout).toBe(1);
      expect(first.stderr).toMatch(/ended CANCELLED: max_cost \$0\.3000 is spent: \$0\.\d{4} settled; results so far are kept/);
      expect(first.stderr).toContain("What is generated is not all scored: nothing is left of the budget for its judges; a resume scores the rest");
      expect(askedJudge(bench)).toBe(0);
      const generated = bench.model.ledger.entries().length;
      const again = await bench.place.run(["eval", "run", "./judged.ts", "-R", folderOf(first.stdout), "--max-cost", "20"], KEY);
      expect(again.code, again.stderr).toBe(0);
      // What was generated is not asked for again.
      expect([generated > 0, bench.model.ledger.entries().length, askedJudge(bench)]).toEqual([true, 16, 8]);
    }),
  );
});
