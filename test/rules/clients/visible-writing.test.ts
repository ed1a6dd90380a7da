import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { ModelRequest, State, Tool } from "../../../src/rollouts/types.ts";
import { streams } from "../../support/clients/client-plays.ts";
import { ask, neverAnswers, type Play, refuses, says, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

const piece = (content: string): JsonObject => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const END: JsonObject = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const refusesStreams: Play = (response, request, body) =>
  (body?.stream === true ? refuses(400, { message: "This server does not stream." }) : says("whole"))(response, request, body);
/** Headers of a stream, and nothing but comments after them. */
const keepsAlive: Play = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": PROCESSING\n\n");
  const timer = setInterval(() => response.write(": PROCESSING\n\n"), 20);
  response.on("close", () => clearInterval(timer));
};
const writesOn: Play = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify(piece("and "))}\n\n`);
};
const headThenNothing: Play = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
};

/** One rollout of 300 ms against a server that plays `play`. */
async function rollout(
  play: Play,
  request: { tools?: readonly Tool[]; sampling_args?: JsonObject } = {},
): Promise<{ state: State; bodies: readonly JsonObject[] }> {
  await using server = await scriptedEndpoint(play);
  const env = new SingleTurnEnv({ dataset: [{ question: "q" }] });
  env.timeoutSeconds = 0.3;
  const { client } = testClient(server.url);
  const input = { example_id: 0, prompt: [{ role: "user" as const, content: "q" }], task: "t" };
  const state = env.initState(input, { client, model: "m", sampling_args: request.sampling_args ?? {}, now: 0 });
  state.tool_defs = [...(request.tools ?? [])];
  await env.rollout(state, { signal: new AbortController().signal, now: Date.now, sleep });
  return { state, bodies: server.seen.map(({ body }) => body) };
}

describe("a rollout whose time is over", () => {
  it.each([
    ["never answers", neverAnswers],
    ["takes the request and keeps it alive", keepsAlive],
  ])("where the server %s: an error of the infrastructure", async (_what, play) => {
    expect((await rollout(play)).state).toMatchObject({ error: { code: "timeout" }, stop_condition: "has_error" });
  });

  it.each([
    ["has begun to write", writesOn],
    ["has sent the head of an answer that comes whole", headThenNothing],
  ])("where the model %s: its outcome", async (_what, play) => {
    expect((await rollout(play)).state).toMatchObject({ error: null, stop_condition: "timeout_reached" });
  });

  it("where the model is given tools, or pieces are not asked for: the answer begins when it is there", async () => {
    const tools: Tool[] = [{ name: "add", description: "adds", parameters: { type: "object", properties: {} } }];
    for (const request of [{ tools }, { sampling_args: { stream: false } }]) {
      const { state, bodies } = await rollout(neverAnswers, request);
      expect(state).toMatchObject({ error: { code: "timeout" } });
      expect(bodies[0]?.stream ?? false).toBe(false);
    }
  });
});

describe("an answer that is to be seen", () => {
  const visible = (changes: Partial<ModelRequest> = {}): ModelRequest => ask({ visibly: true, ...changes });

  it("leaves the arguments of the rollout as they are", async () => {
    const { state, bodies } = await rollout(streams([piece("four"), END]));
    expect(bodies[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(JSON.stringify(state.sampling_args)).not.toContain("stream");
    expect(state.completion).toMatchObject([{ role: "assistant", content: "four" }]);
  });

  it("is asked for whole where the server refuses pieces, which is found out once and told", async () => {
    await using server = await scriptedEndpoint(refusesStreams);
    const onWarning = vi.fn();
    const { client, slept } = testClient(server.url, { ports: { onWarning } });
    for (let asked = 0; asked < 3; asked++) expect((await client.getResponse(visible())).message.content).toBe("whole");
    expect(server.seen.map(({ body }) => body.stream ?? false)).toEqual([true, false, false, false]);
    expect([onWarning.mock.calls.length, slept]).toEqual([1, []]);
  });

  it("stays a refusal where pieces were asked for by the arguments themselves", async () => {
    await using server = await scriptedEndpoint(refusesStreams);
    const { client } = testClient(server.url);
    await expect(client.getResponse(visible({ sampling_args: { stream: true } }))).rejects.toMatchObject({ code: "bad_request" });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ["stream", false],
    ["logprobs", true],
    ["modalities", ["text", "audio"]],
  ] as const)("is asked for whole with %s among its arguments", async (name, value) => {
    await using server = await scriptedEndpoint(says("whole"));
    const { client } = testClient(server.url);
    await client.getResponse(visible({ sampling_args: { [name]: value as never } }));
    await client.getResponse(visible({ sampling_args: { extra_body: { [name]: value as never } } }));
    for (const { body } of server.seen) expect(body.stream ?? false).toBe(false);
  });
});
