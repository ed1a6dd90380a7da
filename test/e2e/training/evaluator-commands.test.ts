import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ScriptedMlflow, startScriptedMlflow } from "../../support/clients/scripted-mlflow.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

/** What a user of `edgewise evaluator` sees, against a service that runs. */

let place: Workplace;
let model: ModelServer;
let mlflow: ScriptedMlflow;
let served: Served;
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer({ accuracy: 1 });
  mlflow = await startScriptedMlflow();
  served = new Served(place);
  await served.start(null, { MLFLOW_API_KEY: "hush" });
});
afterAll(async () => {
  await served.end("SIGKILL");
  place.remove();
  await Promise.all([model.close(), mlflow.close()]);
});

/** What it prints, a command that is to end with `code`; `told`: what it says beside it. */
const cli = async (args: readonly string[], code = 0): Promise<{ readonly out: string; readonly told: string }> => {
  const ended = await runInProcess(["evaluator", ...args], { cwd: place.folder, env: { EDGEWISE_URL: served.url }, columns: 160 });
  const out = ended.out.map((line) => `${line}\n`).join("");
  expect(ended.code, out + ended.err).toBe(code);
  return { out, told: ended.err };
};
const out = async (...args: string[]): Promise<string> => (await cli(args)).out;
const table = (name: string, more = ""): string => `
[[evaluator]]
name = "${name}"
run_every = 5
${more}
[evaluator.eval]
api_base_url = "${model.url}"
num_examples = 2
rollouts_per_example = 1
[[evaluator.evaluations]]
name = "words"
metrics = ["mean_reward"]
eval = { env_id = "reverse-text" }
`;
const file = (text: string): void => writeFileSync(join(place.folder, "evaluators.toml"), text);

it("a file of evaluators is shown and applied once, changes nothing the second time, and takes away what it no longer has", { timeout: 60_000 }, async () => {
  file(table("a") + table("b"));
  expect(await out("apply", "evaluators.toml", "--dry-run")).toBe("+ a: new\n+ b: new\n");
  expect((await cli(["list"])).told).toMatch(/^There are no evaluators/);
  expect(await out("apply", "evaluators.toml")).toBe("+ a: new\n+ b: new\n");
  expect(await out("apply", "evaluators.toml")).toBe("= a: unchanged\n= b: unchanged\n");

  file(table("a", 'on_older = "queue"') + table("c"));
  const plan = "~ a: on_older changed\n+ c: new\n";
  expect(await out("apply", "evaluators.toml", "--dry-run")).toBe(`${plan}? b: not in the file, left as it is (--prune deletes it)\n`);
  expect(JSON.parse(await out("apply", "evaluators.toml", "--dry-run", "--prune", "-o", "json"))).toEqual({
    dry_run: true,
    changes: [
      { name: "a", change: "change", fields: ["on_older"] },
      { name: "c", change: "add", fields: [] },
    ],
    deleted: ["b"],
    left: [],
  });
  expect(await out("apply", "evaluators.toml", "--prune")).toBe(`${plan}- b: deleted, its runs stay\n`);
  expect(await out("list")).toMatch(/^EVALUATOR +DUE +OPEN +LAST\na +words every 5 +0 +-\nc +words every 5 +0 +-\n$/);

  // What is wrong with one keeps all of them from being changed.
  file(table("a") + table("d", 'on_older = "drop"\nrun_evry = 3'));
  const refused = await cli(["apply", "evaluators.toml", "--prune"], 2);
  expect(refused.told).toContain("[[evaluator]] #2 (d): on_older: ");
  expect(refused.told).toContain("[[evaluator]] #2 (d): unknown key run_evry (did you mean run_every?)");
  file("");
  expect((await cli(["apply", "evaluators.toml", "--prune"], 2)).told).toContain("has no [[evaluator]]");
  file("evaluator = []\n");
  expect(await out("apply", "evaluators.toml", "--prune")).toBe("- a: deleted, its runs stay\n- c: deleted, its runs stay\n");
});

it("a step is posted, evaluated, followed into a file, listed, shown and deleted, in words and as JSON", { timeout: 60_000 }, async () => {
  file(table("loop"));
  expect(await out("put", "loop", "evaluators.toml")).toBe("Evaluator loop is kept: npx edgewise evaluator show loop\n");
  expect((await cli(["put", "other", "evaluators.toml"], 2)).told).toContain("has no [[evaluator]] called other: it has loop");
  expect(await out("show", "loop")).toMatch(/Best +none yet\nNo step was due\.\n$/);

  expect(await out("run", "loop", "--step", "3", "-m", "scripted")).toBe("Step 4: nothing is due.\n");
  expect(await out("run", "loop", "--step", "4", "-m", "scripted")).toMatch(/^Step 5: words is due\.\n {2}words: \S/);
  const again = JSON.parse(await out("run", "loop", "--step", "4", "-m", "another", "-o", "json")) as { data: object };
  expect(again.data).toMatchObject({ step: 5, due: ["words"], served: true, records: [{ step: 5, evaluation: "words", model: "scripted" }] });

  const point = { name: "val/words/mean_reward", step: 5, value: 1, model: "scripted", rollouts: 2, errored: 0 };
  expect(JSON.parse(await out("follow", "loop", "--until-idle"))).toMatchObject(point);
  expect(await out("follow", "loop", "--until-idle", "--sink", "points.jsonl")).toBe("");
  expect(await out("show", "loop", "--sink", "points.jsonl")).toMatch(
    /val\/words\/mean_reward: ▅ 1\.000 to 1\.000, steps 5 to 5\n.*\n5 +words +[0-9a-f]{8} +mean_reward 1\.000/,
  );
  expect(JSON.parse(readFileSync(join(place.folder, "points.jsonl"), "utf8"))).toMatchObject(point);
  expect(await out("list")).toMatch(/\nloop +words every 5 +0 +step 5 words: mean_reward 1\.000/);
  expect(JSON.parse(await out("list", "-o", "json"))).toMatchObject({ data: [{ name: "loop", open: 0, last: { step: 5, outcome: "evaluated" } }] });
  const shown = JSON.parse(await out("show", "loop", "-o", "json")) as { data: object };
  expect(shown.data).toMatchObject({
    records: [{ step: 5, outcome: "evaluated", values: { mean_reward: { value: 1 } } }],
    series: { "val/words/mean_reward": [point] },
    advice: { best: { step: 5, value: 1, model: "scripted" }, stop: false, stop_at: null },
  });

  expect(JSON.parse(await out("delete", "loop", "-o", "json"))).toEqual({ message: "Evaluator deleted; its runs stay." });
  for (const args of [
    ["show", "loop"],
    ["follow", "loop", "--until-idle"],
    ["run", "loop", "--step", "4", "-m", "scripted"],
    ["delete", "loop"],
  ])
    expect((await cli(args, 1)).told).toContain("Evaluator not found");
  expect((await cli(["show", "a b"], 2)).told).toContain('"a b" is no name of an evaluator');
});

it("points reach MLflow when it is back; while it fails or hangs steps are evaluated all the same, and what waits is shown", { timeout: 60_000 }, async () => {
  const to = `[evaluator.mlflow]\ntracking_uri = "${mlflow.url}"\nrun_id = "abc"\ntoken_var = "MLFLOW_API_KEY"\n`;
  // Another definition has what waits posted at once, and not after the growing waits.
  const put = async (patience: number): Promise<void> => {
    file(`${table("posted")}${to}[evaluator.early_stopping]\npatience = ${patience}\n`);
    await out("put", "posted", "evaluators.toml");
  };
  const evaluated = async (step: number): Promise<void> => {
    await out("run", "posted", "--step", String(step - 1), "-m", "scripted");
    await out("follow", "posted", "--until-idle");
    expect(await out("show", "posted")).toMatch(new RegExp(`\\n${step} +words +[0-9a-f]{8} +mean_reward 1\\.000`));
  };
  const sees = (what: RegExp): Promise<void> =>
    until(
      async () => what.test(await out("show", "posted")),
      20_000,
      () => `${what} in what is shown`,
    );
  mlflow.answer(500);
  await put(1);
  await evaluated(5);
  await sees(/\nMLflow +waits: http:\S+ answered with status 500\n/);

  mlflow.answer("hang");
  const before = mlflow.requests.length;
  await put(2);
  await until(
    () => mlflow.requests.length > before,
    20_000,
    () => "a request that hangs",
  );
  await evaluated(10);
  expect([mlflow.kept.size, mlflow.hanging()]).toEqual([0, mlflow.requests.length - before]);

  mlflow.answer(200);
  await put(3);
  await until(
    () => mlflow.kept.size === 2,
    20_000,
    () => `both points in ${[...mlflow.kept].join(" ")}`,
  );
  await sees(/^(?!.*MLflow)/s);
  const { method, path, headers, body } = mlflow.requests.at(-1) ?? {};
  expect([method, path, headers?.authorization]).toEqual(["POST", "/api/2.0/mlflow/runs/log-batch", "Bearer hush"]);
  expect(body).toMatchObject({
    run_id: "abc",
    metrics: [
      { key: "val/words/mean_reward", value: 1, step: 5 },
      { key: "val/words/mean_reward", value: 1, step: 10 },
    ],
  });
  expect(JSON.stringify(await cli(["show", "posted", "-o", "json"]))).not.toContain("hush");
});

it("an evaluator is paused with a reason that lists and answers show, evaluates what is wanted now, and goes on", { timeout: 60_000 }, async () => {
  file(table("held"));
  await out("apply", "evaluators.toml");
  expect(await out("pause", "held", "--reason", "no GPU")).toBe("Evaluator held is paused: steps are passed over, and what is at work goes on.\n");
  expect(await out("run", "held", "--step", "4", "-m", "ckpt-5")).toMatch(
    /^Step 5: nothing is evaluated, since the evaluator is paused by \w+: no GPU\. --now evaluates it all the same\.\n$/,
  );
  expect(await out("list")).toMatch(/held +paused by \w+: no GPU/);
  expect(await out("show", "held")).toMatch(/State +paused by \w+: no GPU/);
  expect(await out("run", "held", "--step", "2", "-m", "ckpt-3", "--now")).toMatch(/^Step 3: words is due\.\n/);
  expect(JSON.parse(await out("resume", "held", "-o", "json"))).toMatchObject({ data: { name: "held", paused: null } });
  expect(await out("run", "held", "--step", "4", "-m", "ckpt-5")).toMatch(/^Step 5: words is due\.\n/);
  expect((await cli(["pause", "gone"], 1)).told).toContain("Evaluator not found.");
  await out("delete", "held");
});
