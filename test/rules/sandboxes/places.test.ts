import { describe, expect, it } from "vitest";
import { checkedSpec, secondsOf } from "../../../src/cli/sandboxes/checked-spec.ts";
import { Places } from "../../../src/cli/sandboxes/places.ts";
import { MAX_LOCAL_SANDBOXES } from "../../../src/limits.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";

describe("places for sandboxes", () => {
  it("are so many; who comes later waits in turn, and leaves the line when it is told to", async () => {
    const places = new Places(MAX_LOCAL_SANDBOXES);
    const never = new AbortController().signal;
    const leave = await Promise.all(Array.from({ length: MAX_LOCAL_SANDBOXES }, () => places.enter(never)));
    const order: string[] = [];
    const given = new AbortController();
    const first = places.enter(given.signal);
    const second = places.enter(never).then((out) => {
      order.push("second");
      return out;
    });
    const third = places.enter(never).then(() => order.push("third"));
    given.abort(new Error("over"));
    await expect(first).rejects.toThrow("over");
    leave[0]?.();
    leave[0]?.();
    const out = await second;
    expect(order).toEqual(["second"]);
    out();
    await third;
    expect(order).toEqual(["second", "third"]);
  });
});

it("a spec is what a sandbox can have: numbers at their borders, and nothing that becomes a word of a command", () => {
  expect(checkedSpec({ ...SPEC, memory_gb: 0.1, timeout_minutes: 7 * 24 * 60 })).toMatchObject({ memory_gb: 0.1 });
  for (const [wrong, field] of [
    [{ memory_gb: 0 }, "memory_gb"],
    [{ cpu_cores: Number.POSITIVE_INFINITY }, "cpu_cores"],
    [{ timeout_minutes: 7 * 24 * 60 + 1 }, "timeout_minutes"],
    [{ gpu_count: 0.5 }, "gpu_count"],
    [{ start_command: "a\0b" }, "start_command"],
    [{ environment_vars: { "": "x" } }, "environment_vars"],
    [{ environment_vars: { A: "x".repeat(64 * 1_024 + 1) } }, "environment_vars.A"],
  ] as const)
    expect(() => checkedSpec({ ...SPEC, ...wrong })).toThrow(field);
  // A timer that is told more counts nothing.
  expect([secondsOf(1e12) * 1_000 < 2 ** 31, secondsOf(Number.NaN), secondsOf(0.3)]).toEqual([true, 0, 0.3]);
});
