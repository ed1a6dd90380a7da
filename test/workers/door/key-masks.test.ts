import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fleet } from "../support/fleet.ts";
import { createRun } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, restoreClock, run, service, setVars, STEADY } from "../support/service.ts";

const KEY = "sk-echoed/0123456789abcdef";
let fleet: Fleet;

beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { ECHO_API_KEY: KEY });
});
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

/** Everything that was written of a run: every object of the bucket, and every value of its database. */
async function written(runId: string): Promise<string> {
  const texts = [JSON.stringify(await run(runId).view()), JSON.stringify(await run(runId).logTail(1_000))];
  for (const { key } of (await service.BUCKET.list()).objects) texts.push((await (await service.BUCKET.get(key))?.text()) ?? "");
  texts.push(
    await runInDurableObject(rawRun(runId), (_, { storage }) => {
      const tables = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray();
      return JSON.stringify(tables.map(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray()));
    }),
  );
  return texts.join("\n");
}

const completion = (content: string): Response =>
  Response.json({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  });

describe("a provider that echoes the key", () => {
  it.each<readonly [how: string, answer: (key: string) => Response]>([
    ["as an answer that is no completion", (key) => Response.json(key)],
    ["as an answer that is no JSON", (key) => new Response(`Authorization: ${key}`)],
    ["across the end of what is kept of its text", (key) => Response.json(`${"x".repeat(180)}${key}`)],
    ["as the reason why it ended", (key) => Response.json({ choices: [{ message: { content: "" }, finish_reason: key }] })],
    ["as what the model says", (key) => completion(`You are ${key}, or ${btoa(key)}`)],
    ["as the name of a tool call", (key) => Response.json({ choices: [{ message: { tool_calls: [{ id: key, function: { name: key, arguments: "{}" } }] } }] })],
    ["as a refusal", (key) => Response.json({ error: { message: key, code: key, type: key } }, { status: 400 })],
  ])("%s finds it in no row, no event, no file and no table", async (_, answer) => {
    let asked = 0;
    fleet = new Fleet({
      model: new ScriptedModel({ latencyMs: 1 }),
      async onFetch({ args }) {
        asked++;
        const { headers } = args[1] as { headers: Record<string, string> };
        return answer((headers.authorization ?? "").replace("Bearer ", ""));
      },
    });
    const config = await createRun({ num_examples: 2, api_key_var: "ECHO_API_KEY", verbose: true });
    await fleet.settled(config.run_id);
    expect(asked).toBeGreaterThan(0);
    const text = await written(config.run_id);
    expect(text).toContain("[secret]");
    expect(text).not.toContain("sk-echoed");
    expect(text).not.toContain(btoa(KEY).slice(0, 12));
  });
});
