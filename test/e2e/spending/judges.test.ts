import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";

/** An environment with a judge at the scripted server that is told no limit of tokens. */
const judged = (url: string): string => `
import { defineEnvironment, JudgeRubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "judged", version: "1.0.0", description: "Judged.", args: z.object({}), keys: ["JUDGE_KEY"],
  load: (_, { client }) => new SingleTurnEnv({
    dataset: Array.from({ length: 8 }, (_, n) => ({ question: "number " + n, answer: String(n) })),
    rubric: new JudgeRubric([async function asked({ judge, prompt, completion, answer, state }) { return (await judge(prompt, completion, answer, state)).length > 0 ? 1 : 0; }], {
      judgeClient: client({ base_url: ${JSON.stringify(url)}, api_key_var: "JUDGE_KEY" }), judgeModel: "judge",
    }),
  }),
});
`;

describe.concurrent("a run with --max-cost whose judge has no limit of tokens", () => {
  it(
    "ends by that name, asks the judge nothing, and has no rollout that counts as a fault of its reward function",
    { timeout: 120_000 },
    inPlace({}, async ({ place, model }) => {
      mkdirSync(join(place.folder, "configs"), { recursive: true });
      writeFileSync(join(place.folder, "configs", "endpoints.toml"), '[[price]]\nmodel = "*"\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = 1000\n');
      writeFileSync(join(place.folder, "judged.ts"), judged(model.url));
      const args = ["eval", "run", "./judged.ts", "-m", "scripted", "-b", model.url, "-t", "10", "-n", "8", "-r", "1", "-c", "2", "--max-cost", "5"];
      const { code, stdout, stderr } = await place.run(args, { JUDGE_KEY: "sk-judge" });
      expect(code, stdout).toBe(1);
      expect(stderr).toContain('ended FAILED: nothing bounds what a request of "judge" costs (it has no limit of tokens), and a budget holds for it');
      expect(stdout + stderr).not.toContain("scorer_error");
      expect(model.ledger.entries().filter((entry) => entry.model === "judge")).toEqual([]);
    }),
  );
});
