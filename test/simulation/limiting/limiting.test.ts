import { describe, expect, it } from "vitest";
import { CASES } from "./cases.ts";
import { brokenByKills, brokenIn, seedsFrom } from "./hostile-plays.ts";
import { playBeside, playCase } from "./play.ts";
import { isLate, missedBy } from "./targets.ts";

describe("a limit that runs of one key share, under faults", () => {
  it("is never exceeded, is all used again within a lease, and stops no run, with the Limiter killed at one step in seven of its life", {
    timeout: 120_000,
  }, async () => {
    const { steps, broken } = await brokenByKills(7);
    expect(broken).toEqual([]);
    expect(steps).toBeGreaterThan(300);
  });

  it("keeps every invariant over 30 schedules of kills, outages, and messages that are lost, late and doubled", { timeout: 120_000 }, async () => {
    expect(await brokenIn(seedsFrom(1, 30))).toEqual([]);
  });
});

const caseOf = (name: string) => {
  const found = CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no case ${name}`);
  return found;
};

describe("a limit that nobody tells, and that runs of one key share", () => {
  it.each([
    ["requests, sliding minute", 1],
    ["requests, sliding minute", 16],
    ["a limit that is halved", 16],
    ["tokens as reserved, sliding minute", 4],
    ["requests, bucket of a minute", 4],
    ["tokens as used, bucket", 1],
    ["requests and tokens, headers of OpenAI", 16],
    ["concurrent", 4],
    ["concurrent, long answers", 1],
    ["requests, refusals name it", 16],
    ["a storm of 429 with retry-after", 1],
  ] as const)(
    "%s, runs: %i; nine tenths of it are used, less than one request in a hundred is refused, and all get alike, from a minute on",
    { timeout: 120_000 },
    async (name, runs) => {
      const { worst } = await playCase(caseOf(name), runs);
      expect(missedBy(worst)).toEqual([]);
    },
  );

  it.each(["requests, sliding minute", "requests, fixed minute"])(
    "does not keep a run of five examples from its first result for more than twice the time that it takes alone: %s",
    { timeout: 120_000 },
    async (name) => {
      const first = await playBeside(caseOf(name));
      expect(isLate(first), JSON.stringify(first)).toBe(false);
    },
  );
});
