import { describe, expect, it } from "vitest";
import { Turns } from "../../../src/embedded-api/turns.ts";

/** A clock that computing moves on, and a list of what happened in which order. */
function stage() {
  const log: string[] = [];
  let clock = 0;
  const turns = new Turns({
    now: () => clock,
    pause: async () => {
      log.push("pause");
    },
  });
  /** `steps` values, each of `ms` milliseconds of computing. */
  function* work(name: string, steps: number, ms: number): Generator<string, string> {
    for (let step = 0; step < steps; step++) {
      clock += ms;
      log.push(name);
      yield `${name}${step}`;
    }
    return `${name} done`;
  }
  const run = async (job: Generator<string, string>): Promise<{ readonly slices: readonly (readonly string[])[]; readonly end: string }> => {
    const slices: (readonly string[])[] = [];
    const running = turns.slices(job);
    for (;;) {
      const { done, value } = await running.next();
      if (done === true) return { slices, end: value };
      slices.push(value);
    }
  };
  return { log, turns, work, run };
}

describe("requests that compute on one thread", () => {
  it("give every value in order, in slices of a few milliseconds, and their end", async () => {
    const { run, work } = stage();
    expect(await run(work("a", 5, 2))).toEqual({ slices: [["a0", "a1"], ["a2", "a3"], ["a4"]], end: "a done" });
  });

  it("take turns, with a pause after each slice", async () => {
    const { log, run, work } = stage();
    await Promise.all([run(work("a", 2, 4)), run(work("b", 2, 4))]);
    expect(log.join(" ")).toBe("a pause b pause a pause b pause");
  });

  it("pause once for many short ones, not after each", async () => {
    const { log, run, work } = stage();
    await Promise.all(Array.from({ length: 8 }, (_, i) => run(work(String(i), 1, 1))));
    expect(log.join(" ")).toBe("0 1 2 3 pause 4 5 6 7 pause");
  });

  it("are not held up by one that fails, or that nobody reads any more", async () => {
    const { run, turns, work } = stage();
    const failing = run(
      (function* (): Generator<string, string> {
        yield "one";
        throw new Error("broken");
      })(),
    );
    const abandoned = turns.slices(work("x", 10, 4));
    await abandoned.next();
    await abandoned.return("left");
    await expect(failing).rejects.toThrow("broken");
    expect((await run(work("c", 1, 1))).end).toBe("c done");
  });
});
