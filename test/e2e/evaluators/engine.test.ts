import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const library = fileURLToPath(new URL("../../../dist/evaluators.js", import.meta.url));

let place: Workplace;
let model: ModelServer;
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer();
});
afterAll(async () => {
  place.remove();
  await model.close();
});

/** A caller's own program, started as a process of its own: `bin/edgewise.js` stands aside for it. */
function program(name: string, lines: readonly string[]): void {
  place.command = join(place.folder, name);
  writeFileSync(place.command, [`import { connectEngine } from ${JSON.stringify(library)};`, ...lines].join("\n"));
}

const asking = (request: string): readonly string[] => [
  'const engine = await connectEngine({ stateDir: ".edgewise" });',
  `const asked = ${request};`,
  "const ended = await engine.runEvaluation(asked);",
  "let rows = 0; for await (const _ of ended.rows()) rows += 1;",
  "console.log(JSON.stringify({ runId: ended.runId, status: ended.status, reward: ended.reward, rows, failure: ended.failure?.code ?? null }));",
  "await engine.close();",
];
const reverse = (more: string): string =>
  `{ environment: "reverse-text", options: { model: "scripted", api_base_url: ${JSON.stringify(model.url)}, num_examples: 12, rollouts_per_example: 1, max_concurrent: 2 }${more} }`;

describe("an evaluation that library code asks for", () => {
  it("is gone on with by who asks again after a kill, as the same run, and is read when it has ended", async () => {
    model.setScript({ latency_ms: 250 });
    program("caller.mjs", asking(reverse(', key: "step 1"')));
    const first = place.start([]);
    await until(() => model.ledger.stats().total >= 4, 30_000);
    first.child.kill("SIGKILL");
    await first.ended;
    model.setScript({});
    const { code, stdout, stderr } = await place.run([]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const told = JSON.parse(stdout) as { runId: string };
    expect(told).toMatchObject({ status: "COMPLETED", reward: 1, rows: 12, failure: null });
    const calls = model.ledger.stats().total;
    // Asked for once more under its key it is the run that has finished.
    expect(JSON.parse((await place.run([])).stdout)).toEqual(told);
    expect(model.ledger.stats().total).toBe(calls);
  }, 90_000);

  it("is refused with a code and a hint for what has to be asked for otherwise", async () => {
    program("wrong.mjs", [
      'const engine = await connectEngine({ stateDir: ".edgewise" });',
      'const asked = (environment, options) => engine.runEvaluation({ environment, options }).then(() => "", ({ name, code }) => name + " " + code);',
      'const none = await asked("no-such-thing", {});',
      'const size = await asked("reverse-text", { model: "scripted", num_examples: "many" });',
      "await engine.close();",
      'const closed = await asked("reverse-text", {});',
      'const nobody = await connectEngine({ url: "http://127.0.0.1:9" }).then(() => "", ({ code }) => code);',
      "console.log(JSON.stringify([none, size, closed, nobody]));",
    ]);
    const { stdout, stderr } = await place.run([]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([
      "EdgewiseError environment_not_found",
      "EdgewiseError invalid_request",
      "EdgewiseError invalid_request",
      "endpoint_unavailable",
    ]);
  }, 60_000);
});
