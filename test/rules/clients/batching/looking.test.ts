import { describe, expect, it, vi } from "vitest";
import { batchPlace, fileOf } from "../../../support/clients/batch-place.ts";

const TYPES = ["openai_chat_completions", "anthropic_messages"] as const;
const FOUR = ["a", "b", "c", "d"];

describe.each(TYPES)("a batch of %s that is under way", (type) => {
  it("is asked to stop, stops after a while, and gives what was answered", async () => {
    await using place = await batchPlace(type, { batches: { takes_ms: null, cancelling_ms: 300 } });
    const { route, signal } = place;
    const { batch_id } = await place.submit(fileOf(route, type, FOUR));
    await place.tell({ done: 0.5 });
    expect(await route.cancel(batch_id, signal)).toMatchObject({ state: "cancelling" });
    await vi.waitFor(async () => expect(await route.look(batch_id, signal)).toMatchObject({ state: "ended", answered: 2 }), { timeout: 10_000, interval: 50 });
    const lines = await place.results(batch_id);
    expect(lines.filter(({ kind }) => kind === "answer").map(({ custom_id }) => custom_id)).toEqual(["u1-r0-q", "u0-r0-q"]);
    const lost = lines.filter((line) => line.kind === "lost");
    expect(lost.map(({ why }) => why)).toEqual(["cancelled", "cancelled"]);
    expect(place.ledger().paid).toBe(2);
  });

  it("is not harmed by being asked to stop when it has ended, or twice", async () => {
    await using place = await batchPlace(type, { batches: { takes_ms: null, cancelling_ms: 3_600_000 } });
    const { route, signal } = place;
    const { batch_id } = await place.submit(fileOf(route, type, FOUR));
    await route.cancel(batch_id, signal);
    expect(await route.cancel(batch_id, signal)).toMatchObject({ state: "cancelling" });
    await place.tell({ to: "completed" });
    expect(await route.cancel(batch_id, signal)).toMatchObject({ state: "ended", answered: 4 });
    expect(place.slept).toEqual([]);
  });

  it("ends when its time is over, with what was answered by then", async () => {
    await using place = await batchPlace(type, { batches: { takes_ms: null } });
    const { route, signal } = place;
    const { batch_id } = await place.submit(fileOf(route, type, FOUR));
    await place.tell({ to: "expired", done: 0.25 });
    expect(await route.look(batch_id, signal)).toMatchObject({ state: "ended", answered: 1 });
    const lines = await place.results(batch_id);
    expect(lines.map((line) => [line.custom_id, line.kind === "lost" ? line.why : line.kind]).sort()).toEqual([
      ["u0-r0-q", "answer"],
      ["u1-r0-q", "expired"],
      ["u2-r0-q", "expired"],
      ["u3-r0-q", "expired"],
    ]);
  });

  it("is looked for again where the provider does not know it yet", async () => {
    const calls = [{ route: "look" as const, nth: [1, 2], fault: { kind: "status" as const, status: 404 } }];
    await using place = await batchPlace(type, { batches: { takes_ms: null, calls } });
    const { batch_id } = await place.submit(fileOf(place.route, type, FOUR));
    expect(await place.route.look(batch_id, place.signal)).toMatchObject({ batch_id, state: "submitted" });
    expect(place.slept).toEqual([500, 1_000]);
  });

  it("is missing where the provider does not know it at all", async () => {
    await using place = await batchPlace(type, {});
    for (const seen of [await place.route.look("batch_99", place.signal), await place.route.cancel("batch_99", place.signal)])
      expect(seen).toMatchObject({ batch_id: "batch_99", state: "missing", full: false, problem: expect.stringContaining("batch_99") });
  });

  it("is looked at again after failures of the way there, but not with a key that is refused", async () => {
    const calls = [
      { route: "look" as const, nth: 1, fault: { kind: "status" as const, status: 502 } },
      { route: "look" as const, nth: 2, fault: { kind: "answer_lost" as const } },
      { route: "look" as const, nth: 4, fault: { kind: "status" as const, status: 401 } },
    ];
    await using place = await batchPlace(type, { batches: { takes_ms: null, calls } });
    const { route, signal } = place;
    const { batch_id } = await place.submit(fileOf(route, type, FOUR));
    expect(await route.look(batch_id, signal)).toMatchObject({ state: "submitted" });
    await expect(route.look(batch_id, signal)).rejects.toMatchObject({ failure: { code: "auth_failed" }, attempts: 1 });
  });

  it("is not waited for by whoever has gone", async () => {
    await using place = await batchPlace(type, { batches: { calls: [{ route: "look", fault: { kind: "hold", effect: false } }] } });
    const { batch_id } = await place.submit(fileOf(place.route, type, FOUR));
    const gone = new AbortController();
    const look = place.route.look(batch_id, gone.signal);
    await vi.waitFor(() => expect(place.ledger().held).toBe(1), { timeout: 10_000 });
    gone.abort(new Error("gone"));
    await expect(look).rejects.toThrow("gone");
  });
});
