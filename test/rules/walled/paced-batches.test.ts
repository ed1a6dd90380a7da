import { describe, expect, it } from "vitest";
import { PacedBatches } from "../../../src/environment-protocol/paced-batches.ts";

/** Calls that end when the test says so. */
function calls(most?: number) {
  const made: { readonly batch: readonly unknown[]; readonly end: () => void; readonly fail: (reason: Error) => void }[] = [];
  const failures: unknown[] = [];
  const call = (text: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    made.push({ batch: JSON.parse(text) as unknown[], end: resolve, fail: reject });
    return promise;
  };
  const failed = (thrown: unknown): void => void failures.push(thrown);
  const limits = most === undefined ? {} : { most, full: () => failed("full") };
  return { made, failures, batches: new PacedBatches({ call, failed, ...limits }) };
}

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("batches over calls", () => {
  it("go at once where no call is under way, and else together with the next, in their order", async () => {
    const { made, batches } = calls();
    for (const batch of ["[1]", "[2,3]", "[]", "[4]"]) batches.send(batch);
    expect(made.map(({ batch }) => batch)).toEqual([[1]]);
    made[0]?.end();
    await later();
    expect(made.map(({ batch }) => batch)).toEqual([[1], [2, 3, 4]]);
    made[1]?.end();
    await batches.sent();
    batches.send("[5]");
    expect(made.at(-1)?.batch).toEqual([5]);
  });

  it("share a call up to its size, and one that is larger has its own", async () => {
    const { made, batches } = calls();
    const large = JSON.stringify(["x".repeat(700_000)]);
    const huge = JSON.stringify(["y".repeat(3_000_000)]);
    for (const batch of ["[0]", large, large, huge, "[1]"]) batches.send(batch);
    for (let at = 0; at < made.length; at++) {
      made[at]?.end();
      await later();
    }
    expect(made.map(({ batch }) => batch.map((each) => (typeof each === "string" ? each.length : each)))).toEqual([
      [0],
      [700_000],
      [700_000],
      [3_000_000],
      [1],
    ]);
  });

  it("wait up to their size, and are let go of where whoever they are for does not take them", async () => {
    const { made, failures, batches } = calls(10);
    for (const batch of ["[11]", "[2222]", "[333333]"]) batches.send(batch);
    expect(failures).toEqual([]);
    batches.send("[4]");
    expect(failures).toEqual(["full"]);
    made[0]?.end();
    await batches.sent();
    expect(made).toHaveLength(1);
    for (const batch of ["[55555]", "[66666]"]) batches.send(batch);
    made[1]?.end();
    await later();
    // What was taken does not wait.
    expect(made.map(({ batch }) => batch)).toEqual([[11], [55555], [66666]]);
    batches.send("[7777777777]");
    expect(failures).toEqual(["full"]);
  });

  it("of which one did not arrive are told once, and none follows those that waited", async () => {
    const { made, failures, batches } = calls();
    batches.send("[1]");
    batches.send("[2]");
    made[0]?.fail(new Error("gone"));
    await batches.sent();
    expect(failures).toEqual([new Error("gone")]);
    expect(made).toHaveLength(1);
  });
});
