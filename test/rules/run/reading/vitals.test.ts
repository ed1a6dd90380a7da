import { describe, expect, it } from "vitest";
import { RunVitals } from "../../../../durable-objects/run/reading/vitals.ts";

const said = { in_flight: 2, retries: 1, waiting: 0, paused_until: null };

describe("what executors say of the moment", () => {
  it("is summed over the grants that live, with the oldest request of all", () => {
    const vitals = new RunVitals();
    vitals.said(1, { ...said, finished: 3, oldest_ms: 500 });
    vitals.said(2, { ...said, finished: 4, oldest_ms: 9_000, paused_until: 77 });
    vitals.said(3, said);
    expect(vitals.sum(new Set([1, 2, 3]))).toEqual({ in_flight: 6, retries: 3, waiting: 0, paused_until: 77, finished: 7, oldest_ms: 9_000 });
    expect(vitals.sum(new Set([1]))).toMatchObject({ in_flight: 2, finished: 3, oldest_ms: 500 });
    expect(vitals.sum(new Set([1, 2]))).toMatchObject({ in_flight: 2 });
  });

  it("names the limit that most requests wait for", () => {
    const vitals = new RunVitals();
    const at = (base_url: string) => ({ bound: { kind: "requests", limit: 500, source: "told" }, base_url }) as const;
    vitals.said(1, { ...said, waiting: 2, limited: at("https://a.example/v1") });
    vitals.said(2, { ...said, waiting: 5, limited: at("https://b.example/v1") });
    vitals.said(3, { ...said, waiting: 9 });
    expect(vitals.sum(new Set([1, 2, 3]))).toMatchObject({ waiting: 16, limited: at("https://b.example/v1") });
    expect(vitals.sum(new Set([3]))).not.toHaveProperty("limited");
  });

  it("counts no rollout as finished once it is done, and never goes back", () => {
    const vitals = new RunVitals();
    const live = new Set([1]);
    let done = 0;
    const shown: number[] = [];
    const look = (): void => void shown.push(done + (vitals.sum(live).finished ?? 0));
    for (const [finished, commit] of [
      [3, 2],
      [5, 8],
      [1, 1],
    ] as const) {
      vitals.said(1, { ...said, finished });
      look();
      done += commit;
      vitals.committed(1, commit);
      look();
    }
    expect(shown).toEqual([3, 3, 7, 10, 11, 11]);
  });
});
