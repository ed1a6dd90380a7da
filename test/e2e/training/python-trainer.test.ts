import { spawn, spawnSync } from "node:child_process";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";

/** The trainer of docs/evaluators.md, in Python without a package, and a model server whose quality follows the step: best at 25. */

const python = spawnSync("python3", ["--version"]).status === 0;
if (!python) console.log("skipped: there is no python3 (the trainer of docs/evaluators.md)");

const EXAMPLES = 8;
const DUE = [5, 10, 15, 20, 25, 30, 35, 40];
const rightAt = (step: number): number => EXAMPLES - Math.abs(step - 25) / 5;

let place: Workplace;
let served: Served;
let model: Server;
let door: Server;
/** Steps that the service has answered. */
const posted: number[] = [];

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text;
};
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listening = (server: Server): Promise<void> => new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve));

/** Each prompt has its place: the first so many are answered right. */
const places = new Map<string, number>();
function answerOf(body: string): object {
  const asked = JSON.parse(body) as { model: string; messages: { content: string }[] };
  const prompt = asked.messages.at(-1)?.content ?? "";
  if (!places.has(prompt)) places.set(prompt, places.size);
  const right = (places.get(prompt) ?? 0) < rightAt(Number(asked.model.replace("ckpt-", "")));
  const content = right ? `<reversed_text>${[...prompt].reverse().join("")}</reversed_text>` : "?";
  return {
    id: "1",
    object: "chat.completion",
    created: 1,
    model: asked.model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
  };
}

beforeAll(async () => {
  place = new Workplace();
  served = new Served(place);
  model = createServer((request, response) => {
    void textOf(request).then((body) => response.setHeader("content-type", "application/json").end(JSON.stringify(answerOf(body))));
  });
  // The service has another port after each start; a trainer has one address of it.
  door = createServer((request, response) => {
    void (async () => {
      try {
        const body = await textOf(request);
        const sent = request.method === "POST" ? { method: "POST", headers: { "content-type": "application/json" }, body } : {};
        const answer = await fetch(served.url + (request.url ?? ""), sent);
        if (answer.status === 202) posted.push((JSON.parse(body) as { step: number }).step);
        const text = await answer.text();
        response.writeHead(answer.status).end(text);
      } catch {
        response.writeHead(502).end();
      }
    })();
  });
  await Promise.all([listening(model), listening(door), served.start()]);
});
afterAll(async () => {
  await served.end("SIGKILL");
  model.close();
  door.close();
  place.remove();
});

interface Shown {
  readonly records: readonly { readonly step: number; readonly outcome: string; readonly run_id: string | null }[];
  readonly series: Record<string, readonly { readonly step: number; readonly value: number; readonly ci95?: readonly number[] }[]>;
  readonly advice: { readonly best: object | null; readonly stop: boolean; readonly stop_at: number | null };
}
const cli = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await place.run(["evaluator", ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
};

it.skipIf(!python)(
  "a trainer in Python posts forty steps to a service that is killed twice: the right ones are evaluated, once, and the best is found",
  { timeout: 180_000 },
  async () => {
    writeFileSync(
      join(place.folder, "evaluators.toml"),
      `[[evaluator]]
name = "loop"
run_every = 5
[evaluator.eval]
api_base_url = "${urlOf(model)}/v1"
num_examples = ${EXAMPLES}
rollouts_per_example = 1
[[evaluator.evaluations]]
name = "words"
metrics = ["mean_reward"]
eval = { env_id = "reverse-text" }
[evaluator.early_stopping]
patience = 2
`,
    );
    expect(await cli("put", "loop", "evaluators.toml")).toContain("Evaluator loop is kept");
    const [, code = ""] = /```python\n([\s\S]*?)```/.exec(readFileSync(new URL("../../../docs/evaluators.md", import.meta.url), "utf8")) ?? [];
    const trainer = `${code.replace(/^SERVICE = .*$/m, `SERVICE = "${urlOf(door)}/api/v1/evaluators/loop"`)}
import time
for step in range(40):
    after_step(step, f"ckpt-{step + 1}")
    time.sleep(0.05)
while untold:
    time.sleep(0.2)
    try:
        tell_all()
    except OSError:
        pass
`;
    writeFileSync(join(place.folder, "train.py"), trainer);
    const child = spawn("python3", ["train.py"], { cwd: place.folder, stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve));
    let said = "";
    child.stderr.on("data", (piece) => (said += String(piece)));
    for (const many of [12, 27]) {
      await until(
        () => Promise.resolve(posted.length >= many),
        60_000,
        () => `${many} posted steps; ${said}`,
      );
      await served.end("SIGKILL");
      served = new Served(place);
      await served.start();
    }
    expect(await ended, said).toBe(0);
    expect(new Set(posted).size).toBe(40);
    const shown = async (): Promise<Shown> => ((await (await served.ask("/evaluators/loop")).json()) as { data: Shown }).data;
    await until(
      async () => (await shown()).records.every(({ outcome }) => outcome !== "open"),
      120_000,
      () => "the end of all steps",
    );
    const { records, series, advice } = await shown();
    expect(records.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(DUE.map((step) => `${step} evaluated`));
    const all = (await (await served.ask("/evaluations/?limit=100")).json()) as { evaluations: { evaluation_id: string }[] };
    expect(all.evaluations.map(({ evaluation_id }) => evaluation_id).toSorted()).toEqual(records.map(({ run_id }) => run_id ?? "").toSorted());
    const values = (series["val/words/mean_reward"] ?? []).map(({ value }) => value);
    expect(values[4]).toBe(1);
    for (const [index, value] of values.entries()) expect(value).toBeCloseTo(rightAt(DUE[index] ?? 0) / EXAMPLES, 1);
    expect(advice).toMatchObject({ best: { step: 25, value: 1, model: "ckpt-25" }, stop: true, stop_at: 35 });

    const table = await cli("show", "loop", "--sink", "points.jsonl");
    expect(table).toContain("step 25 (ckpt-25)");
    expect(table).toMatch(/val\/words\/mean_reward: [▁-█]{8} /);
    await cli("show", "loop", "--sink", "points.jsonl");
    const lines = readFileSync(join(place.folder, "points.jsonl"), "utf8").trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { step: number }).step).toSorted((a, b) => a - b)).toEqual(DUE);
  },
);
