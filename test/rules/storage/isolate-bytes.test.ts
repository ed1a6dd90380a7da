import { describe, expect, it } from "vitest";
import { type AskedBytes, type ExecutorBytes, type HeldBytes, IsolateBytes } from "../../../src/executor/isolate-bytes.ts";
import { FINALISE_BYTES, ISOLATE_BYTES, ISOLATE_MEMORY, MIB, PREPARE_BYTES, UNKNOWN_ROW_BYTES } from "../../../src/limits.ts";

/** Executors of one isolate whose clock and waits the test moves. */
class Bench {
  readonly isolate: IsolateBytes;
  #now = 0;
  #looks: { wake: () => void; fail: (reason: unknown) => void }[] = [];

  constructor(budget = 100) {
    this.isolate = new IsolateBytes(budget);
  }

  open(): ExecutorBytes {
    return this.isolate.open({
      now: () => this.#now,
      sleep: (_ms, signal) =>
        new Promise((wake, fail) => {
          this.#looks.push({ wake, fail });
          signal?.addEventListener("abort", () => fail(signal.reason));
        }),
    });
  }

  /** Everybody who waits looks once more, `ms` later. */
  async later(ms = 25, order: "in turn" | "last first" = "in turn"): Promise<void> {
    this.#now += ms;
    const looks = this.#looks.splice(0);
    for (const { wake } of order === "in turn" ? looks : looks.reverse()) wake();
    for (let turn = 0; turn < 10; turn++) await null;
  }

  /** As the platform ends an invocation: whoever waits never looks again. */
  forgetLooks(): void {
    this.#looks = [];
  }
}
const never = new AbortController().signal;

/** What becomes of a wait. */
function asked(bytes: ExecutorBytes, size: AskedBytes, signal = never): { held: HeldBytes | null; failed: boolean } {
  const seen: { held: HeldBytes | null; failed: boolean } = { held: null, failed: false };
  bytes.hold(size, signal).then(
    (held) => (seen.held = held),
    () => (seen.failed = true),
  );
  return seen;
}

describe("the bytes of an isolate", () => {
  it("are one budget for all executors: to the byte, and in the order of asking", async () => {
    const bench = new Bench();
    const [a, b] = [bench.open(), bench.open()];
    const first = await a.hold(50, never);
    await b.hold(50, never);
    expect(bench.isolate).toMatchObject({ held: 100, isShort: false });
    const large = asked(b, 30);
    const small = asked(a, 1);
    await bench.later();
    expect(bench.isolate.isShort).toBe(true);
    first.resize(21);
    await bench.later();
    // There would be room for the small one, which asked later.
    expect([large.held, small.held]).toEqual([null, null]);
    first.resize(20);
    await bench.later();
    await bench.later();
    expect([large.held === null, small.held === null]).toEqual([false, true]);
    first.release();
    first.release();
    await bench.later();
    expect(small.held).not.toBeNull();
    expect(bench.isolate).toMatchObject({ held: 81, isShort: false });
  });

  it("are given in one look to all who have room beside those that asked before, whoever looks first", async () => {
    const bench = new Bench();
    const [a, b] = [bench.open(), bench.open()];
    const first = await a.hold(50, never);
    await b.hold(50, never);
    const waiting = [asked(a, 30), asked(b, 20), asked(b, 1)];
    await bench.later();
    first.release();
    await bench.later(25, "last first");
    expect(waiting.map(({ held }) => held !== null)).toEqual([true, true, false]);
  });

  it("are asked for by what is known of them by then", async () => {
    const bench = new Bench();
    const a = bench.open();
    const other = await a.hold(50, never);
    other.resize(90);
    let expected = 40;
    const seen = asked(a, () => expected);
    await bench.later();
    expect([seen.held, bench.isolate.isShort]).toEqual([null, true]);
    expected = 10;
    expect(bench.isolate.isShort).toBe(false);
    await bench.later();
    expect(bench.isolate.held).toBe(100);
  });

  it("are given to nobody beyond half of them, so that one that wants more than there are does not wait for ever", async () => {
    const bench = new Bench();
    const a = bench.open();
    const other = await a.hold(50, never);
    other.resize(51);
    const huge = asked(a, 5_000);
    await bench.later();
    expect(huge.held).toBeNull();
    other.resize(50);
    await bench.later();
    expect(huge.held).not.toBeNull();
    expect(bench.isolate).toMatchObject({ held: 100, isShort: false });
    // What it came to is in memory: the next waits until it is gone.
    huge.held?.resize(5_000);
    expect(bench.isolate.isShort).toBe(true);
  });

  it("wait for nobody who has given up, or whose executor has ended", async () => {
    const bench = new Bench();
    const [a, b, c] = [bench.open(), bench.open(), bench.open()];
    await a.hold(50, never);
    await b.hold(50, never);
    const gives = new AbortController();
    const [first, second] = [asked(b, 50, gives.signal), asked(c, 50)];
    gives.abort(new Error("enough"));
    await bench.later();
    expect(first).toEqual({ held: null, failed: true });
    a.close();
    await bench.later();
    expect(second.held).not.toBeNull();
  });

  it("of an invocation that the platform ended count for some seconds more, and so does its wait", async () => {
    const bench = new Bench();
    const dead = bench.open();
    await dead.hold(50, never);
    await dead.hold(50, never);
    asked(dead, 10);
    await bench.later();
    bench.forgetLooks();
    const waits = asked(bench.open(), 10);
    await bench.later(10_000);
    expect(waits.held).toBeNull();
    await bench.later(1);
    expect(waits.held).not.toBeNull();
    expect(bench.isolate.held).toBe(10);
  });

  it("are counted for a unit as those before it came to", () => {
    const { isolate } = new Bench();
    expect(isolate.expected("run", 3)).toBe(3 * UNKNOWN_ROW_BYTES);
    isolate.learn("run", 800);
    expect(isolate.expected("run", 3)).toBe(800);
    isolate.learn("run", 1_600);
    expect(isolate.expected("run", 3)).toBe(900);
    for (let other = 0; other < 64; other++) isolate.learn(`other ${other}`, 1);
    expect(isolate.expected("run", 3)).toBe(3 * UNKNOWN_ROW_BYTES);
  });

  it("fit into its memory twice, and leave a quarter; what is asked for at once fits into half", () => {
    expect(2 * ISOLATE_BYTES).toBeLessThanOrEqual(0.75 * ISOLATE_MEMORY);
    for (const bytes of [FINALISE_BYTES, PREPARE_BYTES]) expect(bytes).toBeLessThanOrEqual(ISOLATE_BYTES / 2);
    expect(ISOLATE_BYTES / UNKNOWN_ROW_BYTES).toBe(384);
    expect(ISOLATE_BYTES).toBe(48 * MIB);
  });
});
