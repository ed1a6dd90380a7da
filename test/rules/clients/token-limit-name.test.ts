import { describe, expect, it } from "vitest";
import { TokenLimitName } from "../../../src/clients/openai/token-limit-name.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { ask, completion, json, type Play, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";

/** A server that writes until its limit of tokens, which it knows under these names; what else names one it passes over, or refuses. */
function server(known: readonly string[], refusal: ((name: string) => { readonly status: number; readonly body: JsonObject }) | null = null): Play {
  return (response, request, body = {}) => {
    const foreign = ["max_completion_tokens", "max_tokens"].find((name) => body[name] !== undefined && !known.includes(name));
    if (foreign !== undefined && refusal !== null) return json(refusal(foreign).status, refusal(foreign).body)(response, request, body);
    const limit = Math.min(2_000, ...known.flatMap((name) => (typeof body[name] === "number" ? [body[name]] : [])));
    return json(200, completion("word ".repeat(3), { usage: { prompt_tokens: 1, completion_tokens: limit, total_tokens: limit + 1 } }))(
      response,
      request,
      body,
    );
  };
}

async function asked(play: Play, times = 3, sampling: JsonObject = { max_tokens: 64 }, limitName = new TokenLimitName()) {
  await using endpoint = await scriptedEndpoint(play);
  const warnings: string[] = [];
  const { client } = testClient(endpoint.url, { ports: { onWarning: (_kind, message) => void warnings.push(message), limitName } });
  const tokens: (number | undefined)[] = [];
  for (let time = 0; time < times; time++) tokens.push((await client.getResponse(ask({ sampling_args: sampling }))).usage?.completion_tokens);
  const names = endpoint.seen.map(({ body }) => ["max_completion_tokens", "max_tokens"].filter((name) => body[name] !== undefined).join("+"));
  return { tokens, names, warnings };
}

const NEW = "max_completion_tokens";
const OLD = "max_tokens";

describe("the limit of tokens", () => {
  it("goes under today's name, and stays there where it is kept to", async () => {
    expect(await asked(server([NEW]))).toEqual({ tokens: [64, 64, 64], names: [NEW, NEW, NEW], warnings: [] });
  });

  it("goes under the old name to a server that passes over the new one, from the first answer that is too long, said once", async () => {
    const { tokens, names, warnings } = await asked(server([OLD]));
    expect([tokens, names]).toEqual([
      [2_000, 64, 64],
      [NEW, OLD, OLD],
    ]);
    expect(warnings).toEqual([
      "the server answered 2000 tokens where max_tokens is 64: it does not know max_completion_tokens, and is sent max_tokens from now on",
    ]);
  });

  it("goes at once under the name that a server takes which refuses the other, without an error", async () => {
    const mistral = (name: string) => ({
      status: 422,
      body: { detail: [{ type: "extra_forbidden", loc: ["body", name], msg: "Extra inputs are not permitted", input: 64 }] },
    });
    const old = await asked(server([OLD], mistral));
    expect([old.tokens, old.names]).toEqual([
      [64, 64, 64],
      [NEW, OLD, OLD, OLD],
    ]);
    expect(old.warnings).toEqual(["the server refuses max_completion_tokens, and is sent max_tokens instead from now on"]);

    const openAi = (name: string) => ({
      status: 400,
      body: {
        error: {
          code: "unsupported_parameter",
          param: name,
          message: `Unsupported parameter: '${name}' is not supported with this model. Use '${NEW}' instead.`,
        },
      },
    });
    const back = new TokenLimitName();
    back.ignores(NEW);
    expect(await asked(server([NEW], openAi), 2, { max_tokens: 64 }, back)).toMatchObject({ tokens: [64, 64], names: [OLD, NEW, NEW] });
  });

  it("is said to be of no use where a server passes over both names, and the names do not take turns", async () => {
    const { names, warnings } = await asked(server([]), 4);
    expect(names.slice(0, 2)).toEqual([NEW, OLD]);
    expect(new Set(names.slice(2)).size).toBe(1);
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toContain("it keeps to no limit of tokens");
  });

  it("is no reason for another name when a server merely counts a little otherwise, or was told both", async () => {
    const close: Play = json(200, completion("x", { usage: { prompt_tokens: 1, completion_tokens: 66, total_tokens: 67 } }));
    expect(await asked(close, 2)).toMatchObject({ names: [NEW, NEW], warnings: [] });
    expect((await asked(server([]), 2, { max_tokens: 64, extra_body: { max_tokens: 64 } })).names).toEqual([`${NEW}+${OLD}`, `${NEW}+${OLD}`]);
  });

  it("leaves other refusals as they are", async () => {
    const bad: Play = json(400, { error: { message: "max_completion_tokens is too large: the model allows 32" } });
    await using endpoint = await scriptedEndpoint(bad);
    await expect(testClient(endpoint.url).client.getResponse(ask({ sampling_args: { max_tokens: 64 } }))).rejects.toMatchObject({ code: "bad_request" });
    expect(endpoint.seen).toHaveLength(1);
  });
});
