import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";
import { testData } from "../../support/results/test-data.ts";

const FILE = testData("humaneval", "HumanEval.jsonl.gz");
const WALL = spawnSync("bwrap", ["--version"]).status === 0;
if (!WALL) console.log("skipped: there is no bubblewrap (HumanEval in sandboxes of this machine)");

interface Problem {
  readonly prompt: string;
  readonly canonical_solution: string;
}

it.runIf(FILE !== null && WALL)(
  "HumanEval in sandboxes of this machine: of each of its 164 problems the canonical solution passes, and a broken one fails",
  { timeout: 600_000 },
  inPlace({}, async ({ place }) => {
    const text = gunzipSync(readFileSync(FILE ?? "")).toString();
    writeFileSync(join(place.folder, "problems.jsonl"), text);
    const problems = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Problem);
    const asked = new Map<Problem, number>();
    // The first answer to a problem is right, the second is not.
    const model = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      request.on("end", () => {
        const prompt = body === "" ? "" : String((JSON.parse(body) as { readonly messages: readonly { readonly content: string }[] }).messages.at(-1)?.content);
        const problem = problems.find((each) => prompt.includes(each.prompt));
        const times = problem === undefined ? 0 : (asked.get(problem) ?? 0);
        if (problem !== undefined) asked.set(problem, times + 1);
        const code = problem === undefined ? "" : problem.prompt + (times === 0 ? problem.canonical_solution : "    return None\n");
        const message = { role: "assistant", content: `Here it is:\n\`\`\`python\n${code}\`\`\`` };
        const answer = { id: "x", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] };
        response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
      const args = ["-a", '{"dataset": "problems.jsonl"}', "-n", "-1", "-r", "2", "-c", "8", "-C", "test_result"];
      const { code, stderr } = await place.run(["eval", "run", "humaneval", "-m", "m", "-b", url, ...args]);
      expect(code, stderr).toBe(0);
      const rows = readFileSync(join(place.results, "results.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly example_id: number; readonly reward: number; readonly error: unknown; readonly test_result: string });
      expect(rows).toHaveLength(328);
      for (let example = 0; example < 164; example++) {
        const own = rows.filter(({ example_id }) => example_id === example);
        expect([example, own.map(({ error }) => error), own.map(({ reward }) => reward).sort()]).toEqual([example, [null, null], [0, 1]]);
        expect(own.filter(({ test_result }) => test_result === "passed")).toHaveLength(1);
      }
      expect(JSON.parse(readFileSync(join(place.results, "metadata.json"), "utf8"))).toMatchObject({ pass_at_k: { 1: 0.5, 2: 1 }, avg_reward: 0.5 });
    } finally {
      model.close();
    }
  }),
);
