import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { likelyBases } from "../../../src/clients/endpoint-advice.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { VOICES } from "../../support/clients/client-voices.ts";
import { portsFor } from "../../support/clients/client-plays.ts";
import { ask, json, refuses, says, type ScriptedEndpoint, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

const HTTP_VOICES = VOICES.filter(({ type }) => type !== "workers_ai");
const unknown = json(404, { error: { message: "The model does not exist" } });

async function refusal(server: ScriptedEndpoint, base = server.url, voice = HTTP_VOICES[0]): Promise<EdgewiseError> {
  const { client } = testClient(base, { ...(voice === undefined ? {} : { type: voice.type, ports: portsFor(voice, base) }) });
  const thrown = await client.getResponse(ask({ model: "gpt-4.1-mni" })).catch((error: unknown) => error);
  if (!(thrown instanceof EdgewiseError)) throw new Error("it was not refused");
  return thrown;
}

describe.each(HTTP_VOICES.map((voice) => [voice.type, voice] as const))("a model that %s's server does not know", (_type, voice) => {
  it("comes with those that it offers, and the one that was meant", async () => {
    await using server = await scriptedEndpoint(unknown);
    server.offers = ["gpt-4.1", "gpt-4.1-mini", "o3"];
    expect(await refusal(server, server.url, voice)).toMatchObject({
      code: "model_not_found",
      hint: "did you mean -m gpt-4.1-mini? It offers gpt-4.1-mini, gpt-4.1, o3",
    });
  });
});

describe("a refusal that may be the address's fault", () => {
  it("finds the API under /v1, and says what to add", async () => {
    await using server = await scriptedEndpoint(json(404, { detail: "Not Found" }));
    server.offers = ["m"];
    const bare = server.url.replace("/v1", "");
    expect(await refusal(server, bare)).toMatchObject({ code: "model_not_found", hint: `its API is at ${server.url}: add -b ${server.url}` });
    expect(await refusal(server, `${server.url}/chat/completions`)).toMatchObject({ hint: expect.stringContaining(`add -b ${server.url}`) });
  });

  it("also where a page answers", async () => {
    await using server = await scriptedEndpoint(json(404, "<html><h1>Not Found</h1></html>", { "content-type": "text/html" }));
    server.offers = ["m"];
    expect(await refusal(server, server.url.replace("/v1", ""))).toMatchObject({ code: "web_page", hint: expect.stringContaining(`add -b ${server.url}`) });
  });

  it("keeps the plain advice where the server says nothing, and asks it once for all that meet it", async () => {
    await using server = await scriptedEndpoint(unknown);
    const { client } = testClient(server.url);
    const thrown = await Promise.all([1, 2, 3].map(() => client.getResponse(ask()).catch((error: unknown) => error)));
    for (const error of thrown) expect(error).toMatchObject({ hint: "check the model's name (-m) and the endpoint (-b)" });
    expect(server.looks).toEqual(["/v1/models"]);
  });

  it.each([
    ["http://h:8000", ["http://h:8000/v1"]],
    ["http://h:8000/", ["http://h:8000/v1"]],
    ["http://h:8000/v1", []],
    ["https://h/v1/chat/completions", ["https://h/v1"]],
    ["https://h/api/v4", []],
    ["https://h/chat/completions", ["https://h", "https://h/v1"]],
  ])("of %s may mean %j", (base, bases) => {
    expect(likelyBases(base)).toEqual(bases);
  });
});

describe("an evaluation in a script", () => {
  const environment = () =>
    new SingleTurnEnv({
      dataset: [1, 2, 3].map((n) => ({ question: `q${n}`, answer: "ok" })),
      rubric: new Rubric([{ name: "right", fn: () => 1 }]),
    });
  const evaluate = (api_base_url: string) =>
    environment().evaluate({ api_base_url, api_key_var: "NO_SUCH_KEY" }, "m", { rolloutsPerExample: 2, maxConcurrent: 1 });

  it("throws within seconds where nothing listens, instead of a reward of 0", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const begin = performance.now();
    await expect(evaluate(`http://127.0.0.1:${port}/v1`)).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("ECONNREFUSED"),
      hint: expect.stringContaining("api_base_url"),
    });
    // Ten retries would take some fifty seconds.
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  it("throws for a page, and for a model that is not offered, with what to type", async () => {
    await using page = await scriptedEndpoint(json(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" }));
    await expect(evaluate(page.url)).rejects.toMatchObject({ code: "web_page", message: expect.stringContaining('"Sign in"') });
    await using server = await scriptedEndpoint(unknown);
    server.offers = ["m-large"];
    await expect(evaluate(server.url)).rejects.toMatchObject({ code: "model_not_found", hint: "It offers m-large" });
  });

  it("keeps its rows when an endpoint fails after an answer, and when requests themselves are bad", async () => {
    await using failing = await scriptedEndpoint(says("ok"), refuses(429, { message: "slow down" }, { "x-should-retry": "false" }));
    const { outputs } = await evaluate(failing.url);
    expect(outputs.filter(({ error }) => error === null)).toHaveLength(1);
    await using bad = await scriptedEndpoint(refuses(400, { message: "no such parameter" }));
    expect((await evaluate(bad.url)).outputs).toHaveLength(6);
  });
});
