import { describe, expect, it, vi } from "vitest";
import type { ClientPorts } from "../../../../src/clients/client.ts";
import { RequestFailed } from "../../../../src/clients/transport/request-failure.ts";
import type { ClientType } from "../../../../src/config/plan/run-config.ts";
import { ANTHROPIC_BATCH_BYTES, ANTHROPIC_BATCH_REQUESTS, BATCH_CREATE_MS, OPENAI_BATCH_BYTES, OPENAI_BATCH_REQUESTS } from "../../../../src/limits.ts";
import { type BatchPlace, batchPlace, fileOf, KEY, TAG } from "../../../support/clients/batch-place.ts";

const TYPES = ["openai_chat_completions", "anthropic_messages"] as const;
/** What OpenAI says by a code of its own. */
const OPENAI_REFUSALS = [
  [429, "insufficient_quota", "insufficient_quota"],
  [404, "model_not_found", "model_not_found"],
] as const;
const HOUR = 3_600_000;

const failure = async (attempt: Promise<unknown>): Promise<RequestFailed["failure"]> => {
  const thrown = await attempt.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => error,
  );
  if (!(thrown instanceof RequestFailed)) throw thrown;
  expect(thrown.message).not.toContain(KEY);
  return thrown.failure;
};

const count = ({ ledger }: BatchPlace, name: string): number => ledger().calls.filter(({ route }) => route === name).length;

/** Looks for the batch of job 1 with two requests, created in the last minute, all of whose ids are ours. */
const search = (over: object = {}) => ({ tag: TAG, file_id: null, requests: 2, since: Date.now() - 60_000, taken: [], isOurs: () => true, ...over });

describe.each(TYPES)("creating a batch of %s", (type) => {
  it("whose answer is lost is not repeated, and the batch is found", async () => {
    await using place = await batchPlace(type, { batches: { takes_ms: null, calls: [{ route: "create", fault: { kind: "answer_lost" } }] } });
    const { route, signal, ledger } = place;
    expect(await failure(place.submit(fileOf(route, type, ["a", "b"])))).toMatchObject({ code: "connection_cut" });
    expect([count(place, "create"), ledger().batches.length]).toEqual([1, 1]);
    const id = ledger().batches[0]?.id;
    // Nothing but its results says whose a batch of Anthropic's is.
    if (type === "anthropic_messages") expect(await route.find(search(), signal)).toBe("undecided");
    await place.tell({ to: "completed" });
    expect(await route.find(search(), signal)).toMatchObject({ batch_id: id, state: "ended", answered: 2 });
  });

  it("which came to nothing is told as none once lists have settled, and not before", async () => {
    const script = { batches: { calls: [{ route: "create" as const, fault: { kind: "cut" as const } }] } };
    await using place = await batchPlace(type, script, { settleMs: HOUR });
    const { route, signal } = place;
    await failure(place.submit(fileOf(route, type, ["a", "b"])));
    expect(await route.find(search(), signal)).toBe("undecided");
    expect(await route.find(search({ since: Date.now() - HOUR - 1 }), signal)).toBeNull();
  });

  it.each([true, false])("that a rule of the scripted server holds goes on when it is told to (after its effect: %s)", async (effect) => {
    await using place = await batchPlace(type, { batches: { takes_ms: null, calls: [{ route: "create", fault: { kind: "hold", effect } }] } });
    const made = place.submit(fileOf(place.route, type, ["a"]));
    await vi.waitFor(() => expect(place.ledger()).toMatchObject({ held: 1, batches: { length: effect ? 1 : 0 } }), { timeout: 10_000 });
    await place.release();
    expect(await made).toMatchObject({ state: "submitted" });
    expect(place.ledger()).toMatchObject({ held: 0, batches: { length: 1 } });
  });

  it("is given up after a while, whatever holds it up, and not sent later", async () => {
    let reached = (): void => undefined;
    const sleep: ClientPorts["sleep"] = (ms) => (ms === BATCH_CREATE_MS ? new Promise<void>((resolve) => (reached = resolve)) : Promise.resolve());
    const never = (_signal?: AbortSignal | null): Promise<void> => new Promise((_, reject) => _signal?.addEventListener("abort", () => reject(_signal.reason)));
    const pause = { until: Date.now() + HOUR, hold: () => 0, wait: never };
    await using place = await batchPlace(type, {}, { ports: { sleep, pause } });
    const { route, signal } = place;
    const made = failure(route.create(fileOf(route, type, ["a"]), "file-1", TAG, signal));
    reached();
    expect(await made).toMatchObject({ code: "request_timeout" });
    expect(place.ledger().calls).toEqual([]);
  });

  it("is found though it comes into the list late", async () => {
    const script = { batches: { calls: [{ route: "create" as const, fault: { kind: "unlisted" as const, ms: 300 } }] } };
    await using place = await batchPlace(type, script, { settleMs: HOUR });
    const { route, signal } = place;
    const { batch_id } = await place.submit(fileOf(route, type, ["a", "b"]));
    expect(await route.find(search(), signal)).toBe("undecided");
    await vi.waitFor(async () => expect(await route.find(search(), signal)).toMatchObject({ batch_id }), { timeout: 10_000, interval: 50 });
  });

  it("is told from others of the account, over all pages of the list", async () => {
    await using place = await batchPlace(type, { batches: { page: 2 } });
    const { route, signal } = place;
    const jobs = [];
    for (const job of [1, 2, 3, 4, 5]) jobs.push((await place.submit(fileOf(route, type, job === 2 ? ["a"] : ["a", `b${job}`]), job)).batch_id);
    const found = await route.find(search({ taken: jobs.slice(2) }), signal);
    expect(found).toMatchObject({ batch_id: jobs[0] });
    expect(count(place, "list")).toBe(3);
    expect(await route.find(search({ taken: jobs }), signal)).toBeNull();
    expect(await route.find(search({ requests: 3, tag: { run_id: "run-2", job: 1 }, isOurs: () => false }), signal)).toBeNull();
    if (type === "anthropic_messages") expect(await route.find(search({ isOurs: () => false }), signal)).toBeNull();
  });

  it.each([
    [401, null, "auth_failed"],
    [429, null, "rate_limited"],
    [404, null, "bad_request"],
    [400, null, "bad_request"],
    [503, null, "provider_error"],
    ...(type === "anthropic_messages" ? [] : OPENAI_REFUSALS),
  ] as const)("that is refused with %i (%s) is %s, and is not repeated", async (status, code, expected) => {
    const fault = { kind: "status" as const, status, code, retry_after_s: 3, message: `no, not with ${KEY}` };
    await using place = await batchPlace(type, { batches: { calls: [{ route: "create", fault }] } });
    expect(await failure(place.submit(fileOf(place.route, type, ["a"])))).toMatchObject({ code: expected, retryAfterMs: 3_000 });
    expect([count(place, "create"), place.ledger().batches.length]).toEqual([1, 0]);
  });

  it("takes as much as the provider does, and refuses more without sending it", async () => {
    await using place = await batchPlace(type, { batches: { takes_ms: null } });
    const { route, signal } = place;
    const isOpenAi = type === "openai_chat_completions";
    const envelope = isOpenAi ? 0 : '{"requests":[]}'.length;
    expect(route.limits).toEqual({
      requests: isOpenAi ? OPENAI_BATCH_REQUESTS : ANTHROPIC_BATCH_REQUESTS,
      bytes: (isOpenAi ? OPENAI_BATCH_BYTES : ANTHROPIC_BATCH_BYTES) - envelope,
    });
    const file = fileOf(route, type, ["a"]);
    for (const over of [{ requests: route.limits.requests + 1 }, { bytes: route.limits.bytes + 1 }]) {
      expect(await failure(route.upload({ ...file, ...over }, signal))).toMatchObject({ code: "bad_request" });
    }
    expect(place.ledger().calls).toEqual([]);
    expect(await place.submit({ ...file, requests: route.limits.requests })).toMatchObject({ state: "submitted" });
  });
});

it("a batch of Anthropic's whose results are gone is nobody's", async () => {
  const type: ClientType = "anthropic_messages";
  await using place = await batchPlace(type, { batches: { calls: [{ route: "results", fault: { kind: "status", status: 404 } }] } });
  await place.submit(fileOf(place.route, type, ["a", "b"]));
  expect(await place.route.find(search(), place.signal)).toBeNull();
  expect(count(place, "results")).toBe(11);
});

describe("a provider's queue that is full", () => {
  it("fails the batch at OpenAI, and says so; a batch that failed is not taken for one that was created", async () => {
    const type: ClientType = "openai_chat_completions";
    await using place = await batchPlace(type, { batches: { takes_ms: null, enqueued: 3 } });
    const { route, signal } = place;
    await place.submit(fileOf(route, type, ["a", "b"]), 1);
    const { batch_id } = await place.submit(fileOf(route, type, ["c", "d"]), 2);
    expect(await route.look(batch_id, signal)).toMatchObject({
      state: "failed",
      full: true,
      problem: expect.stringContaining("token_limit_exceeded: Enqueued token limit"),
    });
    expect(await route.find(search({ tag: { ...TAG, job: 2 } }), signal)).toBeNull();
    await place.tell({ to: "completed" });
    expect(await route.look((await place.submit(fileOf(route, type, ["c", "d"]), 2)).batch_id, signal)).toMatchObject({ state: "submitted" });
  });

  it("is refused at Anthropic", async () => {
    const type: ClientType = "anthropic_messages";
    await using place = await batchPlace(type, { batches: { takes_ms: null, enqueued: 3 } });
    await place.submit(fileOf(place.route, type, ["a", "b"]));
    expect(await failure(place.submit(fileOf(place.route, type, ["c", "d"])))).toMatchObject({ code: "rate_limited" });
    expect(place.ledger().batches.length).toBe(1);
  });
});

describe("a file of requests", () => {
  it("that cannot be used fails the batch at OpenAI, with the line", async () => {
    const type: ClientType = "openai_chat_completions";
    await using place = await batchPlace(type);
    const { route, signal } = place;
    const line = `${route.line("same", { model: "m-1" })}\n`;
    const bytes = new TextEncoder().encode(line + line);
    const { batch_id } = await place.submit({ name: "x", bytes: bytes.length, requests: 2, open: async () => new Blob([bytes]).stream() });
    expect(await route.look(batch_id, signal)).toMatchObject({
      state: "failed",
      full: false,
      problem: expect.stringContaining("duplicate_custom_id (line 2)"),
    });
  });

  it("that cannot be used is refused at Anthropic", async () => {
    await using place = await batchPlace("anthropic_messages");
    const { route } = place;
    const bytes = new TextEncoder().encode(`${route.line("not an id", {})}\n`);
    const file = { name: "x", bytes: bytes.length, requests: 1, open: async () => new Blob([bytes]).stream() };
    expect(await failure(place.submit(file))).toMatchObject({ code: "bad_request", message: expect.stringContaining("custom_id") });
  });

  it("is read anew for each attempt to send it", async () => {
    const type: ClientType = "openai_chat_completions";
    const calls = [1, 2].map((nth) => ({ route: "upload" as const, nth, fault: { kind: "status" as const, status: 500 } }));
    await using place = await batchPlace(type, { batches: { calls } });
    const file = fileOf(place.route, type, ["a", "b"]);
    const open = vi.fn(file.open);
    await place.route.upload({ ...file, open }, place.signal);
    expect([open.mock.calls.length, place.slept]).toEqual([3, [500, 1_000]]);
    expect(place.ledger().files).toEqual([expect.objectContaining({ bytes: file.bytes })]);
  });

  it("that cannot be read is an error, and none of it is taken", async () => {
    await using place = await batchPlace("anthropic_messages", {}, { ports: { maxRequestRetries: 0 } });
    const file = fileOf(place.route, "anthropic_messages", ["a", "b"]);
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("storage is gone")),
    });
    expect((await failure(place.submit({ ...file, open: async () => broken }))).code).toMatch(/^connection_/);
    expect(place.ledger().batches).toEqual([]);
  });
});
