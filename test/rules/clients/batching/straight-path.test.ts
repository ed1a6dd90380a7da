import { describe, expect, it } from "vitest";
import type { ClientType } from "../../../../src/config/plan/run-config.ts";
import { createBatchRoute } from "../../../../src/clients/batching/create-batch-route.ts";
import { batchPlace, fileOf } from "../../../support/clients/batch-place.ts";

const TYPES: readonly ClientType[] = ["openai_chat_completions", "openai_completions", "openai_responses", "anthropic_messages"];

describe.each(TYPES)("a batch of %s", (type) => {
  it.each(["\n", ""])("is created, ends, and answers each of its requests (end of the file: %j)", async (end) => {
    await using place = await batchPlace(type, { batches: { takes_ms: null } });
    const { route, signal, ledger } = place;
    const file = fileOf(route, type, ["abc", "dé\nf", "ghi"], end);

    const created = await place.submit(file);
    expect(created).toMatchObject({ state: "submitted", answered: 0, failed: 0, problem: null, full: false });
    expect(created.expires_at).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect(await route.look(created.batch_id, signal)).toEqual(created);
    await place.tell({ to: "completed" });
    expect(await route.look(created.batch_id, signal)).toMatchObject({ state: "ended", answered: 3, failed: 0 });

    const lines = await place.results(created.batch_id);
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(["u2-r0-q", "u1-r0-q", "u0-r0-q"]);
    const [, second] = lines;
    expect(second).toMatchObject({ kind: "answer", status: 200 });
    expect(second?.kind === "answer" ? second.text : "").toContain("f\\néd");
    expect(ledger()).toMatchObject({ batches: [{ requests: 3 }], paid: 3 });
    expect(ledger().files.map(({ bytes, filename }) => ({ bytes, filename }))).toEqual(
      type === "anthropic_messages" ? [] : [{ bytes: file.bytes, filename: "job-1.jsonl" }],
    );
  });
});

it("other clients have no batches", () => {
  const endpoint = { base_url: "http://127.0.0.1:1/v1", api_key: "k", api_key_var: "K", headers: {} };
  expect([createBatchRoute("workers_ai", endpoint), createBatchRoute("openai_chat_completions_token", endpoint)]).toEqual([null, null]);
});
