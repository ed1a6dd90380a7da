import { describe, expect, it } from "vitest";
import { Book } from "../../../durable-objects/limiter/book.ts";
import type { HolderReport, Sightings } from "../../../durable-objects/limiter/limiter-control.ts";
import type { ToldLimits } from "../../../src/endpoint-limits/limit-kinds.ts";
import { Caller } from "../../support/limiting/caller.ts";

const PUBLIC = { base_url: "https://api.example.com/v1", api_key_var: "K", model_class: "m" };
const STEP_MS = 500;

/** One executor that sends as its shares allow, each request taken and answered at once with what `answers` says of it; how many were. */
function taken(book: Book, minutes: number, answers: { readonly used: number; readonly told?: ToldLimits; readonly lie?: number }): number {
  const caller = new Caller("a", PUBLIC);
  const { used, told = null, lie = 0 } = answers;
  let isTold = lie === 0;
  let [balance, total, sent] = [{} as HolderReport["balance"], 0, 0];
  for (let now = 0; now < minutes * 60_000; now += STEP_MS) {
    const seen: Partial<Sightings> = {
      ...{ over_ms: STEP_MS, sent, accepted: sent, used: { input_tokens: 0, output_tokens: sent * used }, told: sent > 0 ? told : null },
    };
    const mean_cost = total === 0 ? null : { input_tokens: 0, output_tokens: (lie + used * total) / total };
    if (!isTold && sent > 0) balance = { tokens: (balance.tokens ?? 0) - lie };
    isTold ||= sent > 0;
    const answer = book.exchange(caller.says([{ balance, mean_cost, sent, accepted: sent, allowed: null }], seen), now);
    const [share] = answer.shares;
    const had = balance;
    balance = Object.fromEntries(
      Object.entries(share?.adds ?? {}).map(([kind, added]) => [kind, Math.min(share?.most[kind as "tokens"] ?? 0, (had[kind as "tokens"] ?? 0) + added)]),
    );
    for (sent = 0; sent < Math.min(10, share?.concurrent ?? 10) && Object.values(balance).every((left) => left > 0); sent++) {
      balance = Object.fromEntries(Object.entries(balance).map(([kind, left]) => [kind, left - (kind === "requests" ? 1 : used)]));
    }
    total += sent;
  }
  return total;
}
const fresh = () => new Book({ stored: null, life: "b r", now: 0 });
const told = (limit: number, kind: "requests" | "tokens"): ToldLimits => ({ [kind]: { limit, remaining: null, reset_ms: null } });

describe("an endpoint whose numbers are absurd", () => {
  it.each([Number.POSITIVE_INFINITY, Number.NaN, 1e308, -1, 0, 1e-9, 1] as const)("and that says that its limit is %s stops nobody for good", (limit) => {
    for (const kind of ["requests", "tokens"] as const) expect(taken(fresh(), 30, { used: 1_000, told: told(limit, kind) })).toBeGreaterThan(100);
  });

  it.each([1e7, Number.MAX_SAFE_INTEGER])("and that says once that an answer took %s tokens stops nobody for good, whoever gave a limit", (lie) => {
    const book = fresh();
    book.give(null, { tokens: 100_000 });
    expect(taken(book, 120, { used: 1_000, lie })).toBeGreaterThan(1_000);
  });
});
