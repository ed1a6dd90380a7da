import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keysOf, metadataOf, Workplace } from "../../support/cli/cli-process.ts";
import { grid } from "../../support/cli/in-place.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const TOKEN = "hosted-token";

/** Its loader fails, as environments of others do: after the run was created. */
const BROKEN = `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "broken", version: "1.0.0", description: "Fails.", args: z.object({}),
  load: () => new SingleTurnEnv({
    dataset: async function* () { throw new Error("no module named pandas"); },
    rubric: new Rubric([function nothing() { return 0; }]),
  }),
});
`;

let there: Workplace;
let here: Workplace;
let model: ModelServer;
let url = "";
beforeAll(async () => {
  [there, here] = [new Workplace(), new Workplace()];
  model = await startModelServer();
  writeFileSync(join(there.folder, "broken.ts"), BROKEN);
  const serve = there.start(["serve", "--port", "0", "--env", "./broken.ts"], { EDGEWISE_TOKEN: TOKEN, THEIR_API_KEY: "right" });
  await serve.says("Edgewise listens on", 40_000);
  url = /listens on (\S+)/.exec(serve.stdout())?.[1] ?? "";
}, 60_000);
afterAll(async () => {
  there.remove();
  here.remove();
  await model.close();
});

const hosted = (environment: string, ...args: readonly string[]) =>
  here.run(["eval", "run", environment, "-m", "scripted", "-b", model.url, "-n", "2", "-r", "2", "--hosted", ...args], {
    EDGEWISE_URL: url,
    EDGEWISE_TOKEN: TOKEN,
  });
const runOf = async (
  id: string,
): Promise<{ readonly status: string; readonly name: string; readonly tags: readonly string[]; readonly error_message: string | null }> => {
  const response = await fetch(`${url}/api/v1/evaluations/${id}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return (await response.json()) as { status: string; name: string; tags: string[]; error_message: string | null };
};

describe("a hosted run", () => {
  it("is created and left to itself, or followed to its end with its folder here", { timeout: 60_000 }, async () => {
    const left = await hosted("reverse-text", "--eval-name", "of the night", "--tag", "nightly,v2", "--tag", "tried");
    const [, id = ""] = /^Evaluation ID: ([0-9a-f]{8})$/m.exec(left.stdout) ?? [];
    expect(left).toMatchObject({ code: 0, stderr: "" });
    expect(left.stdout).toContain(`${url}/dashboard/evaluations/${id}`);
    expect(await runOf(id)).toMatchObject({ name: "of the night", tags: ["nightly", "v2", "tried"] });
    expect(here.resultsFolders()).toEqual([]);
    const listed = async (...filter: readonly string[]): Promise<string> =>
      (await here.run(["eval", "list", ...filter], { EDGEWISE_URL: url, EDGEWISE_TOKEN: TOKEN, COLUMNS: "240" })).stdout;
    expect(await listed("--tag", "v2", "--by", "edgewise")).toContain(id);
    expect(await listed("--tag", "v3")).not.toContain(id);
    expect(await listed("--tag", "v2", "-o", "json")).toContain('"created_by": "edgewise"');

    const followed = await hosted("reverse-text", "--follow", "--poll-interval", "0.2");
    expect([followed.code, followed.stdout]).toEqual([0, expect.stringContaining("reward: avg - 1.000")]);
    expect(keysOf(here.results)).toEqual(grid(2, 2));
    expect(metadataOf(here.results)).toMatchObject({ edgewise: { status: "COMPLETED" } });
  });

  it.each([
    [
      "of an environment whose code fails",
      "broken",
      [],
      "environment_failed",
      /no module named pandas \(broken\.ts:\S*6:41\) Mend the environment's code, and begin again\. What came before it is in the log: npx edgewise eval logs/,
    ],
    ["of a data set that cannot be read", "gsm8k", ["-a", '{"dataset": "rows.jsonl"}'], "dataset_unreadable", /row 0: .*env_args/],
    ["whose model is not there", "reverse-text", [], "model_not_found", /it lists the model scripted: the key may not use it/],
    ["whose key is refused", "reverse-text", ["-k", "THEIR_API_KEY"], "auth_failed", /check THEIR_API_KEY, or name another/],
    ["whose account is empty", "reverse-text", [], "insufficient_quota", /raise the quota of the account/],
    ["whose model answers nothing but errors", "reverse-text", [], "all_rollouts_failed", /bad_request \(4\)\. .*read the errors in the results/],
  ] as const)("%s has FAILED, and says with which code and what to do", { timeout: 60_000 }, async (_, environment, args, code, next) => {
    writeFileSync(join(here.folder, "rows.jsonl"), '{"unrelated": 1}\n');
    if (code === "model_not_found" || code === "insufficient_quota") model.setScript({ faults: [{ fault: { kind: code } }] });
    else if (code === "all_rollouts_failed") model.setScript({ faults: [{ fault: { kind: "status", status: 400 } }] });
    else model.setScript(code === "auth_failed" ? { api_key: "another" } : {});
    const followed = await hosted(environment, "--follow", ...args);
    const [, id = ""] = /^Run ([0-9a-f]{8})/m.exec(followed.stderr) ?? [];
    expect([followed.code, followed.stderr]).toEqual([1, expect.stringContaining(`error: run ${id} ended FAILED`)]);
    const { status, error_message } = await runOf(id);
    expect(status).toBe("FAILED");
    expect(error_message).toMatch(new RegExp(`^${code}: `));
    expect(error_message).toMatch(next);
  });

  it("whose key the service lacks is not created, and says which", async () => {
    const { code, stderr } = await hosted("reverse-text", "-b", "https://api.openai.com/v1", "-k", "OPENAI_API_KEY");
    expect([code, stderr]).toEqual([1, expect.stringContaining("OPENAI_API_KEY is not set")]);
  });
});
