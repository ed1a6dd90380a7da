import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MAX_ROLLOUTS_PER_EXAMPLE } from "../../../src/config/options/options.ts";
import { Slice } from "../../../src/executor/slice.ts";
import * as limits from "../../../src/limits.ts";
import { packUnit } from "../../../r2-layout/done-codec.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { summary } from "../../support/run/rule-run.ts";

const wrangler = readFileSync(new URL("../../../wrangler.toml", import.meta.url), "utf8");
const setting = (name: string): number => {
  const found = new RegExp(`^${name} = "?([\\d_]+)"?$`, "m").exec(wrangler)?.[1];
  if (found === undefined) throw new Error(`wrangler.toml has no ${name}`);
  return Number(found.replaceAll("_", ""));
};

/** The local runtime enforces none of these: what keeps to them is our own code and these numbers. */
describe("the numbers of a deployment", () => {
  it("leave one connection of an executor to storage", () => {
    expect(setting("EXECUTOR_REQUESTS")).toBe(limits.MAX_CONNECTIONS - 1);
  });

  it("let an executor beat at least twice in a lease before it stops itself", () => {
    expect(setting("LEASE_MS") - setting("LEASE_MARGIN_MS")).toBeGreaterThanOrEqual(2 * setting("BEAT_MS"));
    expect(setting("GRACE_MS")).toBeGreaterThan(0);
  });

  it("end slices and units before the platform ends the consumer", () => {
    expect(setting("SLICE_MS")).toBe(limits.SLICE_MS);
    expect(limits.SLICE_MS).toBeLessThan(limits.CONSUMER_WALL_MS);
    expect(limits.UNIT_DEADLINE_MS).toBeLessThan(limits.CONSUMER_WALL_MS);
    expect(setting("subrequests")).toBe(limits.MAX_SUBREQUESTS);
    expect(limits.SLICE_SUBREQUESTS).toBe(0.8 * limits.MAX_SUBREQUESTS);
  });

  it("name a consumer for each queue, and make the ceiling that the page names", () => {
    const [producers, consumers] = [/^binding = "ROLLOUTS_(\d+)"\nqueue = "rollouts-\1"$/gm, /^queue = "rollouts-(\d+)"\nmax_batch_size = 1\n/gm].map(
      (pattern) => [...wrangler.matchAll(pattern)].map(([, number]) => Number(number)),
    );
    expect(producers).toEqual([0, 1, 2, 3]);
    expect(consumers).toEqual(producers);
    const executors = (producers?.length ?? 0) * limits.QUEUE_CONSUMERS;
    const number = (value: number): string => value.toLocaleString("en-US");
    const page = readFileSync(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
    expect(page).toContain(
      `4 × ${limits.QUEUE_CONSUMERS} = ${number(executors)} executors, ${number(executors * setting("EXECUTOR_REQUESTS"))} requests at once`,
    );
    expect(page).toContain(`(${number(executors * setting("EXECUTOR_REQUESTS") * limits.STREAMS_PER_CONNECTION)} streamed ones`);
  });

  it("make parts that R2 takes, and buffers that add up to sixteen megabytes", () => {
    expect(limits.PART_BYTES).toBeGreaterThanOrEqual(limits.MIN_PART_BYTES);
    expect(3 * limits.SEGMENT_BYTES + limits.INPUT_CACHE_BYTES).toBeLessThanOrEqual(16 * limits.MIB);
    expect(limits.INPUT_CHUNK_BYTES).toBeLessThanOrEqual(limits.INPUT_CACHE_BYTES);
  });
});

describe("a slice", () => {
  const budget = {
    requests: 5,
    connections: null,
    margin: 0,
    poll: 0,
    slice: 1_000,
    wanted: 200,
    wall: 2_000,
    rollouts: 10,
    held: 0,
    subrequests: 20,
    outage: 0,
    firstAnswer: 0,
    storm: 0,
    keepTurns: 10_000,
    unitDeadline: null,
  };
  let now = 0;
  const begin = (): Slice => {
    now = 5_000;
    return new Slice(budget, () => now);
  };

  it("ends at its time, to the millisecond", () => {
    const slice = begin();
    now += 999;
    expect(slice.isOver).toBe(false);
    now += 1;
    expect(slice.isOver).toBe(true);
  });

  it("ends earlier while runs want lanes, and only then", () => {
    const slice = begin();
    now += 200;
    expect(slice.isOver).toBe(false);
    slice.lanesWanted = true;
    expect(slice.isOver).toBe(true);
    slice.lanesWanted = false;
    expect(slice.isOver).toBe(false);
  });

  it("ends at its subrequests and at its rollouts", () => {
    const calls = begin();
    calls.spend(19);
    expect(calls.isOver).toBe(false);
    calls.spend();
    expect(calls.isOver).toBe(true);
    const work = begin();
    work.startRollouts(9);
    expect(work.isOver).toBe(false);
    work.startRollouts(1);
    expect(work.isOver).toBe(true);
  });

  it("knows how long the invocation may still go on", () => {
    const slice = begin();
    now += 1_500;
    expect(slice.wallLeft).toBe(500);
    now += 1_000;
    expect(slice.wallLeft).toBe(0);
  });
});

describe("one row of the ledger", () => {
  it("holds the largest unit that can be asked for: all rollouts, all metrics, every number of full length", () => {
    const long = -Math.PI * 1e-300;
    expect(String(long).length).toBeGreaterThan(20);
    const metrics = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`metric ${index}`, long]));
    const unit = Array.from({ length: MAX_ROLLOUTS_PER_EXAMPLE }, () =>
      summary({
        reward: long,
        metrics,
        error: "rate_limited",
        truncated: true,
        input_tokens: 1e9,
        output_tokens: 1e9,
        final_input_tokens: 1e9,
        final_output_tokens: 1e9,
      }),
    );
    const packed = packUnit(unit, []);
    expect(packed).toMatchObject({ ok: true });
    expect(packed.ok && packed.value.text.length).toBeLessThan(limits.MAX_ROW_BYTES);
  });
});

describe("a key of R2", () => {
  it("is as long as R2 allows, in bytes, and no longer", () => {
    const length = (model: string): number => new TextEncoder().encode(outputKey("gsm8k", model, "0000abcd", "results.jsonl")).byteLength;
    const room = limits.MAX_R2_KEY_BYTES - length("m") + 1;
    expect(length("m".repeat(room))).toBe(limits.MAX_R2_KEY_BYTES);
    expect(() => length("m".repeat(room + 1))).toThrow(RangeError);
    expect(() => length("漢".repeat(Math.ceil((room + 1) / 3)))).toThrow(RangeError);
  });
});
