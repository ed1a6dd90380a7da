import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createBatchRoute } from "../../../../src/clients/batching/create-batch-route.ts";
import type { BatchLine } from "../../../../src/clients/batching/batch-route.ts";
import type { ScriptInput } from "../../../support/model-server/model-script.ts";
import { MAX_ANSWER_BYTES, MAX_BATCH_LINE_BYTES, MIB } from "../../../../src/limits.ts";
import { batchPlace, fileOf } from "../../../support/clients/batch-place.ts";

const TYPES = ["openai_chat_completions", "anthropic_messages"] as const;
type Type = (typeof TYPES)[number];
type LineRules = NonNullable<NonNullable<ScriptInput["batches"]>["lines"]>;

/** What became of the requests `a`, `b` and `c` by rules for their lines: the lines by id, and how many warnings there were. */
async function endOf(type: Type, lines: LineRules) {
  await using place = await batchPlace(type, { batches: { lines, order: "as_sent" } });
  const { batch_id } = await place.submit(fileOf(place.route, type, ["a", "b", "c"]));
  await place.route.look(batch_id, place.signal);
  const found = await place.results(batch_id);
  const of = (unit: number): BatchLine[] => found.filter(({ custom_id }) => custom_id === `u${unit}-r0-q`);
  return { found, of, warnings: place.warnings.length, paid: place.ledger().paid };
}

describe.each(TYPES)("results of a batch of %s", (type) => {
  it.each([400, 429, 500])("have a refusal with %i as its answer would have been", async (status) => {
    const { of } = await endOf(type, [{ when: { nth: 2 }, fault: { kind: "status", status, message: "not this one" } }]);
    const [line] = of(1);
    expect(line).toMatchObject({ kind: "answer", status });
    expect(JSON.parse(line?.kind === "answer" ? line.text : "")).toMatchObject({ error: { message: "not this one" } });
  });

  it.each(["expired", "cancelled"] as const)("tell a request that was %s as lost", async (kind) => {
    const { of, paid } = await endOf(type, [{ when: { nth: 2 }, fault: { kind } }]);
    expect(of(1)).toEqual([{ kind: "lost", custom_id: "u1-r0-q", why: kind, message: expect.stringMatching(/./) }]);
    expect(paid).toBe(2);
  });

  it("may lack a line", async () => {
    const { found } = await endOf(type, [{ when: { nth: 2 }, fault: { kind: "lost" } }]);
    expect(found.map(({ custom_id }) => custom_id)).toEqual(["u0-r0-q", "u2-r0-q"]);
  });

  it("with a line that breaks off are read on after it, with a warning", async () => {
    const { found, warnings } = await endOf(type, [{ when: { nth: 2 }, fault: { kind: "broken" } }]);
    expect([found.map(({ custom_id }) => custom_id), warnings]).toEqual([["u0-r0-q", "u2-r0-q"], 1]);
  });

  it("are given on as they are, with what comes twice and what nobody asked", async () => {
    const { found } = await endOf(type, [
      { when: { nth: 1 }, fault: { kind: "twice" } },
      { when: { nth: 3 }, fault: { kind: "stranger" } },
    ]);
    expect(found.map(({ custom_id }) => custom_id)).toEqual(["u0-r0-q", "u0-r0-q", "u1-r0-q", "stranger", "u2-r0-q"]);
  });

  it("have answers as large as direct ones may be; what is larger is told by name and passed over", async () => {
    const { of, found } = await endOf(type, [
      { when: { nth: 1 }, fault: { kind: "large", bytes: MAX_ANSWER_BYTES } },
      { when: { nth: 2 }, fault: { kind: "large", bytes: 20 * MIB } },
    ]);
    const [first] = of(0);
    expect(first?.kind === "answer" ? first.text.length : 0).toBeGreaterThan(MAX_ANSWER_BYTES);
    expect(of(1)).toEqual([{ kind: "large", custom_id: "u1-r0-q", bytes: expect.toSatisfy((bytes: number) => bytes > 20 * MIB) }]);
    expect(found.length).toBe(3);
  });

  it("whose connection breaks off throw, and come whole when they are asked for again", async () => {
    await using place = await batchPlace(type, { batches: { calls: [{ route: "results", nth: 1, fault: { kind: "half_body" } }] } });
    const { batch_id } = await place.submit(fileOf(place.route, type, ["a", "b", "c"]));
    await place.route.look(batch_id, place.signal);
    await expect(place.results(batch_id)).rejects.toMatchObject({ failure: { code: "connection_cut" } });
    expect((await place.results(batch_id)).length).toBe(3);
  });

  it("are let go of by whoever has enough, or has gone", async () => {
    await using place = await batchPlace(type, { batches: { lines: [{ fault: { kind: "large", bytes: MIB } }] } });
    const { batch_id } = await place.submit(fileOf(place.route, type, ["a", "b", "c"]));
    await place.route.look(batch_id, place.signal);
    const gone = new AbortController();
    let seen = 0;
    const read = async (): Promise<void> => {
      for await (const _line of place.route.results(batch_id, gone.signal)) if (++seen === 1) gone.abort(new Error("gone"));
    };
    await expect(read()).rejects.toThrow("gone");
    expect(seen).toBe(1);
    for await (const line of place.route.results(batch_id, place.signal)) {
      expect(line.kind).toBe("answer");
      break;
    }
  });
});

describe("an error that is of no answer", () => {
  it("is a loss at OpenAI", async () => {
    const { of } = await endOf("openai_chat_completions", [{ when: { nth: 2 }, fault: { kind: "error", message: "it went wrong" } }]);
    expect(of(1)).toEqual([{ kind: "lost", custom_id: "u1-r0-q", why: "error", message: "it went wrong" }]);
  });

  it.each([
    ["overloaded_error", 529],
    ["api_error", 500],
    ["something_new", 500],
    ["invalid_request_error", 400],
    ["not_found_error", 404],
  ])("has at Anthropic the status that goes with %s", async (type, status) => {
    const { of } = await endOf("anthropic_messages", [{ when: { nth: 2 }, fault: { kind: "status", status: 418, type } }]);
    expect(of(1)).toMatchObject([{ kind: "answer", status }]);
  });
});

/** A server whose results are `text`, in pieces of a few bytes or as they are. */
async function serving(text: string, piece = text.length): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    if (!request.url?.endsWith("/content")) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ id: "b", status: "completed", output_file_id: "out" }));
    }
    const bytes = Buffer.from(text);
    const next = (at: number): void => {
      if (at >= bytes.length) response.end();
      else response.write(bytes.subarray(at, at + piece), () => next(at + piece));
    };
    next(0);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readFrom(text: string, piece?: number): Promise<BatchLine[]> {
  await using server = await serving(text, piece);
  const route = createBatchRoute("openai_chat_completions", { base_url: server.url, api_key: "k", api_key_var: "K", headers: {} });
  return await Array.fromAsync(route?.results("b", new AbortController().signal) ?? []);
}

describe("the lines of results", () => {
  const line = (id: string, body: unknown): string => JSON.stringify({ id: "x", custom_id: id, response: { status_code: 200, body }, error: null });

  it("may come in pieces of any size, with characters cut in two, ends of either kind, blank ones, and no end after the last", async () => {
    const text = `${line("a", "é€😀")}\r\n\n  \n${line("b", { c: "ü" })}`;
    const expected = [
      { kind: "answer", custom_id: "a", status: 200, text: "é€😀" },
      { kind: "answer", custom_id: "b", status: 200, text: '{"c":"ü"}' },
    ];
    for (const piece of [1, 3, 1_000]) expect(await readFrom(text, piece)).toEqual(expected);
  });

  it.each([
    "null",
    "[]",
    "7",
    '{"custom_id": 7}',
    '{"custom_id": "a"}',
    '{"custom_id": "a", "response": {"status_code": "200"}}',
    `{"custom_id":"a","x":${"[".repeat(200)}`,
  ])("that are none are passed over: %s", async (bad) => expect(await readFrom(`${bad}\n${line("b", 1)}\n`)).toMatchObject([{ custom_id: "b" }]));

  it("are held up to their limit to the byte", async () => {
    const bare = line("a", "").length;
    const [fits, exceeds] = [line("a", "x".repeat(MAX_BATCH_LINE_BYTES - bare)), line("b", "x".repeat(MAX_BATCH_LINE_BYTES - bare + 1))];
    expect((await readFrom(`${fits}\n${exceeds}\n`, 64 * 1024)).map(({ kind }) => kind)).toEqual(["answer", "large"]);
  });

  it("that are too long are nobody's where their id is not at the front", async () => {
    const hidden = JSON.stringify({ response: { body: { custom_id: "u0-r0-q" } }, x: "x".repeat(MAX_BATCH_LINE_BYTES), custom_id: "u1-r0-q" });
    expect(await readFrom(`${hidden}\n${line("b", 1)}\n`, 64 * 1024)).toMatchObject([{ custom_id: "b" }]);
  });
});

it("the key goes to the endpoint's own origin only, wherever the provider says that results are", async () => {
  const asked: string[] = [];
  const elsewhere = async (url: string, init?: RequestInit): Promise<Response> => {
    asked.push(new URL(url).origin);
    const response = await fetch(url, init);
    const text = await response.text();
    return new Response(text.replace(/"results_url":"[^"]*"/, '"results_url":"https://elsewhere.invalid/file"'), response);
  };
  await using place = await batchPlace("anthropic_messages", {}, { ports: { fetch: elsewhere } });
  const { batch_id } = await place.submit(fileOf(place.route, "anthropic_messages", ["a"]));
  expect((await place.results(batch_id)).length).toBe(1);
  expect(new Set(asked).size).toBe(1);
});
