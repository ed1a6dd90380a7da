import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { Message, TrajectoryStep } from "../../../src/rollouts/types.ts";
import { ask, completion, json, type Play, refuses, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

/** Ids of a template that writes `<role> text <end> newline`: 1 begins, 2 ends, 3 is the newline. */
const idsOf = (messages: readonly JsonObject[], generation: boolean): number[] => [
  ...messages.flatMap(({ content }) => [1, ...[...String(content)].map((letter) => letter.charCodeAt(0)), 2, 3]),
  ...(generation ? [1] : []),
];

const tokenises: Play = (response, request, body = {}) => {
  json(200, { tokens: idsOf(body.messages as JsonObject[], body.add_generation_prompt === true) })(response, request);
};

const FIRST: Message[] = [{ role: "user", content: "q" }];
const ANSWER: Message = { role: "assistant", content: null, tool_calls: [{ id: "c1", name: "add", arguments: "{}" }] };
const TAIL: Message[] = [{ role: "tool", tool_call_id: "c1", content: "t" }];

const step = (changes: Partial<TrajectoryStep["tokens"] & object> = {}): Partial<TrajectoryStep> => ({
  prompt: FIRST,
  completion: [ANSWER],
  tokens: {
    prompt_ids: [1, 113, 2, 3, 1],
    prompt_mask: [],
    completion_ids: [50, 51, 2],
    completion_mask: [],
    completion_logprobs: [],
    overlong_prompt: false,
    is_truncated: false,
    routed_experts: null,
    ...changes,
  },
});

async function turn(trajectory: readonly Partial<TrajectoryStep>[], prompt: Message[], tokenise: Play = tokenises) {
  const route: Play = (response, request, body) => (request.url === "/tokenize" ? tokenise : json(200, completion("ok")))(response, request, body);
  await using server = await scriptedEndpoint(route);
  const warnings: string[] = [];
  const ports = { maxRequestRetries: 0, onWarning: (_kind: string, message: string) => void warnings.push(message) };
  const { client } = testClient(server.url, { type: "openai_chat_completions_token", ports });
  await client.getResponse(ask({ prompt, state: { example_id: 1, trajectory } }));
  return { paths: server.seen.map(({ path }) => path), last: server.seen.at(-1)?.body ?? {}, warnings };
}

describe("openai_chat_completions_token", () => {
  it("sends a first turn as messages, asking for ids and log-probabilities", async () => {
    const { paths, last } = await turn([], FIRST);
    expect(paths).toEqual(["/v1/chat/completions"]);
    expect(last).toMatchObject({ logprobs: true, return_token_ids: true });
  });

  it("sends a later turn as the tokens before it and those of what has come since, with what the template writes between", async () => {
    const { paths, last, warnings } = await turn([step()], [...FIRST, { ...ANSWER, content: "" }, ...TAIL]);
    expect(warnings).toEqual([]);
    expect(paths).toEqual(["/tokenize", "/tokenize", "/v1/chat/completions/tokens"]);
    expect(last.tokens).toEqual([1, 113, 2, 3, 1, 50, 51, 2, 3, 1, 116, 2, 3, 1]);
  });

  it.each<[string, readonly Partial<TrajectoryStep>[], Message[], Play]>([
    ["nothing of it was said before", [step()], [{ role: "user", content: "other" }, ANSWER, ...TAIL], tokenises],
    ["the turn before was cut to fit", [step({ is_truncated: true })], [...FIRST, ANSWER, ...TAIL], tokenises],
    ["more follows than answers of tools", [step()], [...FIRST, ANSWER, { role: "user", content: "a" }, { role: "user", content: "b" }], tokenises],
    ["the server does not tokenise", [step()], [...FIRST, ANSWER, ...TAIL], refuses(404)],
    ["the turn before did not end as the template ends one", [step({ completion_ids: [50, 51] })], [...FIRST, ANSWER, ...TAIL], tokenises],
  ])("sends it as messages when %s, and tells why", async (_why, trajectory, prompt, tokenise) => {
    const { paths, warnings } = await turn(trajectory, prompt, tokenise);
    expect(paths.at(-1)).toBe("/v1/chat/completions");
    expect(warnings).toHaveLength(1);
  });

  it("sends what holds pictures as messages, without a word", async () => {
    const picture: Message = { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] };
    expect(await turn([step()], [...FIRST, ANSWER, picture])).toMatchObject({ paths: ["/v1/chat/completions"], warnings: [] });
  });
});
