import { describe, expect, it } from "vitest";
import { Book } from "../../../durable-objects/limiter/book.ts";
import { type HolderReport, LIMITER_PROTOCOL } from "../../../durable-objects/limiter/limiter-control.ts";
import type { Cap } from "../../../src/endpoint-limits/limit-kinds.ts";
import { sightings } from "../../support/limiting/sightings.ts";

const holder = (id: string, caps: readonly Cap[], waiting: number): HolderReport => ({
  ...{ id, run: id, team: id, kind: "model", priority: 1, caps, most: 8 },
  ...{ in_flight: 1, waiting, allowed: 1, sent: 0, accepted: 0, balance: {}, mean_cost: null },
});

describe("what a holder is told that it waits for", () => {
  it("is its own bound, and no other's at the same executor", () => {
    const book = new Book({ stored: null, life: "l", now: 0 });
    const common = [{ id: "command/a/c-1", limits: { concurrent: 1 } }];
    const given = [{ id: "given/b", limits: { concurrent: 1 } }];
    const holders = [holder("a", common, 3), holder("b", given, 3), holder("c", [], 3), holder("d", common, 0)];
    const exchange = (seq: number, now: number) =>
      book.exchange(
        {
          protocol: LIMITER_PROTOCOL,
          ...{ executor: "x", boot: "b", runtime: "r", seq },
          place: { base_url: "http://127.0.0.1:9/v1", api_key_var: "K", model_class: "m" },
          holders,
          seen: sightings(),
        },
        now,
      );
    exchange(1, 0);
    const { shares, bound } = exchange(2, 500);
    expect(shares.map((share) => share.bound ?? null)).toEqual([
      { kind: "concurrent", limit: 1, source: "common" },
      { kind: "concurrent", limit: 1, source: "given" },
      null,
      null,
    ]);
    expect(bound).toEqual({ kind: "concurrent", limit: 1, source: "common" });
  });
});
