import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadataOf, Workplace } from "../../support/cli/cli-process.ts";
import { type PlayedAction, playAction } from "../../support/github-action/run-action.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const ACTION = fileURLToPath(new URL("../../../action.yml", import.meta.url));
const TOKEN = "service-token";
const KEY = "sk-key-of-the-model";
const EXAMPLES = 200;

/** The service, and the runner with its checkout. */
const there = new Workplace();
const runner = new Workplace();
let port = 0;
/** Both have the same questions right, but for ten of the 200 that the second has wrong: five points. */
const SHARE = { good: 0.7, worse: 0.65 };
const servers: ModelServer[] = [];

/** Each run has a server that was never asked before, since what one says depends on how often it was asked the same. */
async function model(kind: keyof typeof SHARE): Promise<ModelServer> {
  const server = await startModelServer({ answer: { text: "\\boxed{4}" }, accuracy: SHARE[kind], api_key: KEY });
  servers.push(server);
  return server;
}

beforeAll(async () => {
  const rows = Array.from({ length: EXAMPLES }, (_, i) => JSON.stringify({ question: `Question ${i}: what is 2 + 2?`, answer: "#### 4" }));
  writeFileSync(join(runner.folder, "rows.jsonl"), `${rows.join("\n")}\n`);
  port = await freePort();
  const serve = there.start(["serve", "--port", String(port)], { EDGEWISE_TOKEN: TOKEN, THEIR_API_KEY: KEY });
  await serve.says("Edgewise listens on", 40_000);
});
afterAll(async () => {
  there.remove();
  runner.remove();
  for (const server of servers) await server.close();
});

function play(inputs: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): Promise<PlayedAction> {
  const temp = join(runner.folder, "temp");
  mkdirSync(temp, { recursive: true });
  return playAction(ACTION, { inputs, workspace: runner.folder, temp, env: { PATH: process.env.PATH ?? "", HOME: temp, ...env } });
}

const atService = (inputs: Readonly<Record<string, string>>): Promise<PlayedAction> =>
  play(inputs, { EDGEWISE_URL: `http://localhost:${port}`, EDGEWISE_TOKEN: TOKEN });

const wish = (model: ModelServer, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  environment: "gsm8k",
  model: "scripted",
  "api-base-url": model.url,
  "api-key-var": "THEIR_API_KEY",
  "num-examples": String(EXAMPLES),
  "rollouts-per-example": "1",
  "eval-args": '--env-args={"dataset":"rows.jsonl"}',
  ...more,
});

describe("a gate in a job", () => {
  it("of two model servers, one five points worse: passes the one, fails the other, and leaves open what few examples do not tell", async () => {
    const first = await atService(wish(await model("good"), { "set-baseline": "main" }));
    expect(first, first.log).toMatchObject({ code: 0, outputs: { verdict: "none", "run-id": expect.stringMatching(/^[0-9a-f]{8}$/) } });
    expect(first.summary).toMatch(/^### Evaluation\n\n {4}[0-9a-f]{8}:\n[\s\S]* {4}reward: avg - 0\.740/);
    const bounds = { baseline: "main", "max-drop": "0.02" };
    const [pass, fail, undecided] = await Promise.all([
      atService(wish(await model("good"), bounds)),
      atService(wish(await model("worse"), bounds)),
      atService(wish(await model("worse"), { ...bounds, "num-examples": "40" })),
    ]);
    expect(pass, pass.log).toMatchObject({ code: 0, outputs: { verdict: "pass" } });
    expect(pass.summary).toMatch(new RegExp(`^### Gate: pass \\(${pass.outputs["run-id"]} against main \\(${first.outputs["run-id"]}\\)\\)\\n`));
    expect(fail, fail.log).toMatchObject({ code: 4, outputs: { verdict: "fail" } });
    expect(fail.summary).toMatch(new RegExp(`\\| reward: difference to the baseline not below -0\\.020 \\| ${EXAMPLES} \\| -0\\.050 \\| .* \\| fail \\|`));
    expect(undecided, undecided.log).toMatchObject({ code: 3, outputs: { verdict: "undecided" } });
    expect(undecided.summary).toMatch(/to decide, if the difference is what was seen: \d+ examples/);
    expect(metadataOf(fail.outputs.results ?? "")).toMatchObject({ num_examples: EXAMPLES, edgewise: { run_id: fail.outputs["run-id"] } });

    const again = await atService({ run: undecided.outputs["run-id"] ?? "", ...bounds, undecided: "pass" });
    expect([again.code, again.outputs.verdict, again.ran]).toEqual([0, "undecided", ["Check the wishes", "Gate"]]);
    for (const { log, summary, outputs } of [first, pass, fail, undecided, again])
      for (const secret of [KEY, TOKEN]) expect(log + summary + JSON.stringify(outputs)).not.toContain(secret);
  });

  it("runs on the runner itself too, with a key of its environment, and tells a baseline that is not there before a model is asked", async () => {
    const good = await model("good");
    const wishes = wish(good, { "num-examples": "40", min: "0.5" });
    const { code, outputs, log, summary } = await play(wishes, { THEIR_API_KEY: KEY });
    expect([code, outputs.verdict], log).toEqual([0, "pass"]);
    expect(summary).toMatch(/^### Gate: pass \([0-9a-f]{8}\)\n/);
    expect(log + summary).not.toContain(KEY);
    const asked = good.ledger.stats().total;
    const nowhere = await play({ ...wishes, baseline: "baselines/main", "max-drop": "0.02" }, { THEIR_API_KEY: KEY });
    expect([nowhere.code, nowhere.ran]).toEqual([2, ["Check the wishes"]]);
    expect(nowhere.log).toContain('"baselines/main" is neither a run id nor a folder that is there');
    expect(good.ledger.stats().total).toBe(asked);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}
