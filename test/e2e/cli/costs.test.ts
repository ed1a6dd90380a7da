import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Bench, inPlace } from "../../support/cli/in-place.ts";
import { NEWEST_TABLE } from "../../../src/prices/tables.ts";

const LONG = { timeout: 120_000 };
/** Of each answer, the model's and the judge's. */
const USAGE = { prompt_tokens: 20, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 8 } };

/** An environment with a judge at the scripted server. */
const judged = (url: string): string => `
import { defineEnvironment, JudgeRubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "judged", version: "1.0.0", description: "Judged.", args: z.object({}), keys: ["JUDGE_KEY"],
  load: (_, { client }) => new SingleTurnEnv({
    dataset: Array.from({ length: 4 }, (_, n) => ({ question: "number " + n, answer: String(n) })),
    rubric: new JudgeRubric([async function asked({ judge, prompt, completion, answer, state }) { return (await judge(prompt, completion, answer, state)).length > 0 ? 1 : 0; }], {
      judgeClient: client({ base_url: ${JSON.stringify(url)}, api_key_var: "JUDGE_KEY" }), judgeModel: "judge",
    }),
  }),
});
`;
const KEY = { JUDGE_KEY: "sk-judge" };

function price(bench: Bench, ...rows: readonly string[]): string {
  const folder = join(bench.place.folder, "configs");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "endpoints.toml");
  writeFileSync(file, rows.map((row) => `[[price]]\n${row}\n`).join("\n"));
  return file;
}
const OWN = (url: string): string =>
  `model = "scripted"\nurl = "${url}"\ninput_usd_per_mtok = 2000\noutput_usd_per_mtok = 8000\ncached_input_usd_per_mtok = 500`;
const JUDGE = 'model = "jud*"\ninput_usd_per_mtok = 100\noutput_usd_per_mtok = 1000';

// By hand, for one answer: 12 tokens at $2,000, 8 at $500 and 10 at $8,000 a million; of the judge's 20 at $100 and 10 at $1,000.
const ANSWER = { input_usd: 0.028, output_usd: 0.08, total_usd: 0.108 };
const VERDICT = { requests: 1, input_usd: 0.002, output_usd: 0.01, total_usd: 0.012 };

const gotten = async ({ place }: Bench, id: string) => {
  const { stdout, stderr, code } = await place.run(["eval", "get", id, "-o", "json"]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as { readonly edgewise: Readonly<Record<string, unknown>>; readonly eval_config: Readonly<Record<string, unknown>> };
};

describe.concurrent("what a run costs", () => {
  it(
    "is in rows, metadata, report, get and list by the prices of the registry, its judges' apart; a resume that grows keeps the prices that the run began with",
    LONG,
    inPlace({ usage: USAGE, latency_ms: 2 }, async (bench) => {
      const { place, model } = bench;
      writeFileSync(join(place.folder, "judged.ts"), judged(model.url));
      const registry = price(bench, OWN(model.url), JUDGE);
      const made = await place.run(["eval", "run", "./judged.ts", "-m", "scripted", "-b", model.url, "-n", "3", "-r", "2"], KEY);
      expect(made.code, made.stderr).toBe(0);
      expect(made.stdout).toContain("cost (all): $0.6480\njudges' cost (all): $0.0720\n");
      expect(made.stdout).toContain("judges: 6 requests, 120 tokens input, 60 output, $0.0720");
      for (const row of bench.rows)
        expect(row).toMatchObject({
          token_usage: { input_tokens: 20, output_tokens: 10 },
          usage_cost: ANSWER,
          judge_usage: { requests: 1, input_tokens: 20, output_tokens: 10, cost: VERDICT },
        });
      const given = [
        { model: "scripted", url: model.url, input_usd_per_mtok: 2000, output_usd_per_mtok: 8000, cached_input_usd_per_mtok: 500 },
        { model: "jud*", input_usd_per_mtok: 100, output_usd_per_mtok: 1000 },
      ];
      expect(bench.metadata).toMatchObject({
        cost: { input_usd: 0.168, output_usd: 0.48, total_usd: 0.648 },
        edgewise: {
          prices: { version: 1, table: NEWEST_TABLE.date, given },
          judges_total: { requests: 6, cost: { requests: 6, input_usd: 0.012, output_usd: 0.06, total_usd: 0.072 } },
        },
      });
      expect(bench.metadata.edgewise).not.toHaveProperty("unpriced_rollouts");
      const id = String(bench.metadata.edgewise.run_id);
      expect((await gotten(bench, id)).edgewise).toMatchObject({
        cost: { input_usd: 0.168, output_usd: 0.48, total_usd: 0.648 },
        judges: { requests: 6, cost: { requests: 6, total_usd: 0.072 } },
      });
      const shown = await place.run(["eval", "get", id]);
      expect(shown.stdout).toMatch(/^Cost +\$0\.6480: \$0\.1680 input, \$0\.4800 output$/m);
      expect(shown.stdout).toMatch(/^Judges +6 requests, .*, \$0\.0720$/m);
      const list = await place.run(["eval", "list", "-o", "json"]);
      expect(JSON.parse(list.stdout).evaluations[0].edgewise).toMatchObject({ cost: { total_usd: 0.648 }, judges_cost_usd: 0.072 });

      // What the file says later is for other runs.
      rmSync(registry);
      price(bench, 'model = "*"\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = 1');
      const grown = await place.run(["eval", "run", "./judged.ts", "-m", "scripted", "-b", model.url, "-n", "4", "-r", "2", "-R", id], KEY);
      expect(grown.code, grown.stderr).toBe(0);
      expect(bench.rows.map(({ usage_cost }) => usage_cost)).toEqual(Array.from({ length: 8 }, () => ANSWER));
      expect(bench.metadata).toMatchObject({ cost: { total_usd: 0.864 }, edgewise: { judges_total: { cost: { requests: 8, total_usd: 0.096 } } } });
    }),
  );

  it(
    "is unknown where nobody gave a price, also to a model that a provider of another host has one for: no file has a word of it",
    LONG,
    inPlace({ usage: USAGE, latency_ms: 2 }, async (bench) => {
      const { place, model } = bench;
      price(bench, `model = "gpt-4.1-mini"\nurl = "https://other.example/v1"\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = 1`);
      const made = await place.run(["eval", "run", "reverse-text", "-m", "gpt-4.1-mini", "-b", model.url, "-n", "2", "-r", "1"]);
      expect(made.code, made.stderr).toBe(0);
      expect(made.stdout).not.toMatch(/cost/i);
      for (const row of bench.rows) expect(JSON.stringify(row)).not.toMatch(/cost|_usd/);
      expect(JSON.stringify(bench.metadata)).not.toMatch(/"cost"|prices|_usd/);
      const id = String(bench.metadata.edgewise.run_id);
      expect((await gotten(bench, id)).edgewise).toMatchObject({ cost: null });
      expect((await place.run(["eval", "get", id])).stdout).toMatch(/^Cost +unknown: there is no price of gpt-4\.1-mini there; a \[\[price\]\]/m);
    }),
  );

  it(
    "a price that is wrong is an error by name, before anything is sent",
    LONG,
    inPlace({}, async (bench) => {
      price(bench, 'model = "scripted"\ninput_usd_per_mtok = 1\nouput_usd_per_mtok = 1');
      const made = await bench.place.run(bench.reverse("-n", "1", "-r", "1"));
      expect(made.code).toBe(2);
      expect(made.stderr).toContain(`[[price]] #1 (model "scripted"): output_usd_per_mtok is missing`);
      expect(bench.model.ledger.stats().total).toBe(0);
    }),
  );
});
