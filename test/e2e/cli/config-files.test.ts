import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { metadataOf, rowsOf, until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let models: readonly ModelServer[] = [];
beforeEach(async () => {
  place = new Workplace();
  models = await Promise.all([startModelServer({ latency_ms: 10 }), startModelServer({ latency_ms: 10 })]);
  for (const id of ["alpha", "beta"]) {
    const folder = join(place.folder, "environments", id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${id}.ts`), environment(id));
  }
});
afterEach(async () => {
  place.remove();
  await Promise.all(models.map((model) => model.close()));
});

/** Asks for a word, and gives more for an easy one. */
const environment = (id: string): string => `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "${id}", version: "1.0.0", description: "Words.",
  args: z.object({ difficulty: z.enum(["easy", "hard"]).default("easy"), split: z.string().default("train") }),
  load: ({ difficulty, split }) => new SingleTurnEnv({
    dataset: async function* () { if (split === "gone") throw new Error("there is no split gone"); for (let i = 0; i < 8; i++) yield { question: \`${id} \${split} \${difficulty} \${i}\` }; },
    rubric: new Rubric([function ease() { return difficulty === "easy" ? 1 : 0.25; }]),
  }),
});
`;

const write = (name: string, text: string): void => {
  mkdirSync(join(place.folder, name, ".."), { recursive: true });
  writeFileSync(join(place.folder, name), text);
};

/** Both model servers as replicas of one id, in the registry beside the config file. */
const writeRegistry = (): void =>
  write(
    "configs/endpoints.toml",
    models
      .map(
        ({ url }, index) =>
          `[[endpoint]]\nendpoint_id = "pair"\nmodel = "scripted"\nurl = "${url}"\nkey = "PAIR_API_KEY"\nheaders = { "X-Replica" = "${index}" }\n`,
      )
      .join("\n"),
  );

const foldersOf = (base: string): readonly string[] => {
  const evals = join(place.folder, base, "evals");
  return readdirSync(evals).flatMap((name) => readdirSync(join(evals, name)).map((run) => join(evals, name, run)));
};

/** What the summary says of each evaluation, in one line: what is indented belongs to the name above it. */
function summaryOf(stdout: string): readonly string[] {
  const text = stdout.split("--- Evaluation Summary ---\n")[1]?.trimEnd() ?? "";
  return text.replaceAll(/\n +/g, "  ").split("\n").slice(1);
}

describe("a config file", () => {
  it("sweeps 3 temperatures and 2 difficulties over two environments with two replicas as one command", { timeout: 90_000 }, async () => {
    writeRegistry();
    write(
      "configs/sweep.toml",
      `
endpoint_id = "pair"
endpoints_path = "endpoints.toml"
output_dir = "out"
num_examples = 4
rollouts_per_example = 1

[[ablation]]
env_args = { split = "test" }
[ablation.sweep]
env_id = ["alpha", "beta"]
temperature = [0.0, 0.5, 1.0]
[ablation.sweep.env_args]
difficulty = ["easy", "hard"]
`,
    );
    const { code, stdout, stderr } = await place.run(["eval", "run", "configs/sweep.toml", "-n", "99"], { PAIR_API_KEY: "sk-pair" });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/^warning: -n\/--num-examples has no effect beside a config file: set num_examples in configs\/sweep\.toml\n/);

    const rows = summaryOf(stdout);
    const combinations = ["alpha", "beta"].flatMap((env) =>
      [0, 0.5, 1].flatMap((temperature) => ["easy", "hard"].map((difficulty) => ({ env_id: env, temperature, difficulty }))),
    );
    expect(rows).toHaveLength(12);
    for (const [index, { env_id, temperature, difficulty }] of combinations.entries()) {
      const reward = difficulty === "easy" ? "1.000" : "0.250";
      expect(rows[index]).toMatch(
        new RegExp(
          `^${env_id} difficulty=${difficulty} temperature=${temperature} +${reward} +\\S.* 4 .* COMPLETED +out/evals/${env_id}--scripted/[0-9a-f]{8}$`,
        ),
      );
    }

    const folders = rows.map((row) => join(place.folder, row.split(" ").at(-1) ?? ""));
    expect([...folders].sort()).toEqual([...foldersOf("out")].sort());
    for (const [index, folder] of folders.entries()) {
      const { env_id, temperature, difficulty } = combinations[index] ?? {};
      expect(metadataOf(folder)).toMatchObject({
        env_id,
        model: "scripted",
        env_args: { split: "test", difficulty },
        sampling_args: { temperature, max_tokens: null },
      });
      expect(rowsOf(folder).map(({ example_id }) => example_id)).toEqual([0, 1, 2, 3]);
    }
    // Unit i of each run goes to replica i mod 2, whichever example that is. On a machine under load a request may be made again, at the same one.
    const asked = models.map(({ ledger }) => ledger.entries().map(({ prompt }) => Number(prompt.at(-1))));
    const each = asked.map((examples) => [...new Set(examples)]);
    expect(each.map(({ length }) => length)).toEqual([2, 2]);
    expect(each.flat().sort()).toEqual([0, 1, 2, 3]);
    for (const examples of asked) expect(examples.length).toBeGreaterThanOrEqual(24);
  });

  it("goes on with the others when one fails, says so by its exit code, and keeps all of them within one limit", { timeout: 90_000 }, async () => {
    const url = models[0]?.url ?? "";
    write(
      "evals.toml",
      `
model = "scripted"
api_base_url = "${url}"
num_examples = 8
rollouts_per_example = 2
max_concurrent_total = 3
disable_env_server = true
[[eval]]
env_id = "alpha"
[[eval]]
env_id = "alpha"
env_args = { split = "gone" }
[[eval]]
id = "beta"
args = { difficulty = "hard" }
[eval.sampling]
temperature = 0.5
`,
    );
    const { code, stdout, stderr } = await place.run(["eval", "run", "evals.toml"]);
    expect(code).toBe(1);
    expect(stderr).toContain("warning: evals.toml: disable_env_server has no effect: ");
    expect(stderr).toMatch(/alpha split=gone: error: .*there is no split gone/);
    const rows = summaryOf(stdout);
    expect(rows[0]).toMatch(/^alpha +1\.000 .* 16 .* COMPLETED +environments\/alpha\/outputs\/evals\/alpha--scripted\/[0-9a-f]{8}$/);
    expect(rows[1]).toMatch(/^alpha split=gone .* FAILED /);
    expect(rows[2]).toMatch(/^beta +0\.250 .* 16 .* COMPLETED +.*beta--scripted\/[0-9a-f]{8}$/);
    expect(models[0]?.ledger.stats().peak_in_flight).toBeLessThanOrEqual(3);
  });

  it("is gone on with after Ctrl-C, each evaluation with its own run", { timeout: 90_000 }, async () => {
    models[0]?.setScript({ latency_ms: 400 });
    const text = `
model = "scripted"
api_base_url = "${models[0]?.url}"
output_dir = "out"
num_examples = 8
rollouts_per_example = 1
max_concurrent = 1
[[ablation]]
env_id = "alpha"
sweep = { temperature = [0.0, 0.5, 1.0] }
`;
    write("sweep.toml", text);
    const cli = place.start(["eval", "run", "sweep.toml"]);
    await until(() => (models[0]?.ledger.stats().outcomes.answered ?? 0) >= 6, 30_000);
    cli.interrupt();
    expect(await cli.ended).toBe(130);
    const begun = foldersOf("out");
    expect(begun).toHaveLength(3);
    for (const folder of begun) expect(cli.stdout()).toContain(folder.slice(place.folder.length + 1));

    models[0]?.setScript({ latency_ms: 10 });
    write("sweep.toml", `resume = true\n${text}`);
    const { code, stdout, stderr } = await place.run(["eval", "run", "sweep.toml"]);
    expect(code, stderr).toBe(0);
    expect([...foldersOf("out")].sort()).toEqual([...begun].sort());
    for (const [index, row] of summaryOf(stdout).entries()) {
      const folder = join(place.folder, row.split(" ").at(-1) ?? "");
      expect(metadataOf(folder)).toMatchObject({ sampling_args: { temperature: index / 2 } });
      expect(rowsOf(folder)).toHaveLength(8);
    }
  });

  it("is refused before anything starts, with the place of what is wrong", async () => {
    write("evals.toml", '[[eval]]\nenv_id = "alpha"\n[[eval]]\nenv_id = "beta"\nmax_concurent = 4\n');
    expect(await place.run(["eval", "run", "evals.toml"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("error: evals.toml: [[eval]] #2: Invalid field: max_concurent (did you mean max_concurrent?)"),
    });
    expect(await place.run(["eval", "run", "missing.toml"])).toMatchObject({ code: 2, stderr: expect.stringContaining("missing.toml does not exist") });
  });
});

describe("several environments on one command line", () => {
  it("run side by side, with -m as a name of the registry", { timeout: 60_000 }, async () => {
    writeRegistry();
    const args = ["eval", "run", "alpha,beta", "-m", "pair", "-n", "4", "-r", "1", "-o", "out", "--max-concurrent-total", "1"];
    const { code, stdout, stderr } = await place.run(args, { PAIR_API_KEY: "sk-pair" });
    expect(code, stderr).toBe(0);
    expect(summaryOf(stdout).map((row) => /^(\w+) .* (COMPLETED) /.exec(row)?.slice(1))).toEqual([
      ["alpha", "COMPLETED"],
      ["beta", "COMPLETED"],
    ]);
    for (const { ledger } of models) expect(ledger.stats()).toMatchObject({ peak_in_flight: 1, prompts: 4 });
    expect(await place.run(["eval", "run", "alpha,gamma,delta", "-m", "pair"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no environment "gamma", "delta"'),
    });
  });
});
