import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { similarity } from "../../bundled/similarity.ts";
import type { Environment } from "../../kinds/environment.ts";
import { environmentDigest, findEnvironment, listEnvironments, loadEnvironment } from "../../definition/load.ts";
import { memoryDatasets } from "../../../../test/support/environments/memory-datasets.ts";
import { cpuMsOf } from "../../../../test/support/run/cpu-time.ts";

const nothing = { datasets: memoryDatasets() };
const load = (args: JsonObject = {}): Promise<Environment> => loadEnvironment("reverse-text", args, nothing);
const texts = async (args: JsonObject, count: number): Promise<string[]> =>
  (await Array.fromAsync((await load(args)).examples(count))).map(({ question }) => String(question));

/** Longest common subsequence, from its definition. */
const slow = (a: string, b: string): number =>
  a === "" || b === "" ? 0 : a[0] === b[0] ? 1 + slow(a.slice(1), b.slice(1)) : Math.max(slow(a.slice(1), b), slow(a, b.slice(1)));

describe("similarity", () => {
  it("is twice the longest common subsequence over both lengths", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 7 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(similarity(a, b)).toBeCloseTo(a === b ? 1 : (2 * slow(a, b)) / (a.length + b.length), 12);
        expect(similarity(a, b)).toBe(similarity(b, a));
      }),
    );
  });

  it("counts characters, not halves of them, and is 1 only for equal texts", () => {
    expect(similarity("😀a", "😃a")).toBe(0.5);
    expect(similarity("abc", "abd")).toBeLessThan(1);
    expect(similarity("", "abc")).toBe(0);
  });

  it("of a text that runs away is found in time", async () => {
    expect(await cpuMsOf(() => expect(similarity("ab".repeat(500_000), "x".repeat(500))).toBe(0))).toBeLessThan(2_000);
  });
});

describe("the rows", () => {
  it("are 1,000 unless more are asked for, and a longer run begins with the rows of a shorter one", async () => {
    const all = await texts({}, -1);
    expect(all).toHaveLength(1_000);
    const more = await texts({}, 1_500);
    expect(more.slice(0, 1_000)).toEqual(all);
    expect(await texts({}, 5)).toEqual(all.slice(0, 5));
    expect(new Set(more).size).toBeGreaterThan(1_450);
  });

  it("depend on the seed and keep to the number of words", async () => {
    expect(await texts({ seed: 1 }, 20)).not.toEqual(await texts({ seed: 2 }, 20));
    expect(await texts({ seed: 2 ** 32 }, 20)).not.toEqual(await texts({ seed: 0 }, 20));
    const counts = (await texts({ min_words: 2, max_words: 4 }, 300)).map((text) => text.split(" ").length);
    expect(new Set(counts)).toEqual(new Set([2, 3, 4]));
    expect(new Set((await texts({ min_words: 6, max_words: 6 }, 20)).map((text) => text.split(" ").length))).toEqual(new Set([6]));
  });

  it("have not changed: results of two runs can be compared", async () => {
    expect(await texts({}, 2)).toEqual(["Friend snow west.", "Main middle king middle."]);
  });

  it("may come from a data set, whatever its column is called", async () => {
    const lines = ['{"text": "abc", "level": 1}', '{"prompt": "déf"}', '{"question": "g😀"}'].join("\n");
    const environment = await loadEnvironment("reverse-text", { dataset: `sha256:${"0".repeat(64)}` }, { datasets: memoryDatasets(lines) });
    const inputs = await Array.fromAsync(environment.examples(-1));
    expect(inputs.map(({ question, answer }) => [question, answer])).toEqual([
      ["abc", "cba"],
      ["déf", "féd"],
      ["g😀", "😀g"],
    ]);
    expect(inputs[0]).toMatchObject({ level: 1 });
  });
});

describe("the reward", () => {
  it("is the same for an answer in tags and a bare one, and falls with every error", async () => {
    const environment = await load();
    const [input] = await Array.fromAsync(environment.examples(1));
    if (input === undefined) throw new Error("no row");
    const answer = String(input.answer);
    expect(answer).toBe(Array.from(String(input.question)).reverse().join(""));
    const reward = async (content: string): Promise<number> => {
      const state = environment.initState(input, { client: null, model: "m", sampling_args: {}, now: 0 });
      state.completion = [{ role: "assistant", content }];
      await environment.rubric.scoreGroup([state], { now: () => 0 });
      return state.reward ?? Number.NaN;
    };
    expect(await reward(answer)).toBe(1);
    expect(await reward(` ${answer}\n`)).toBe(1);
    expect(await reward(`Here: <reversed_text>\n${answer}\n</reversed_text> done`)).toBe(1);
    const wrong = await reward(`${answer.slice(1)}X`);
    expect(wrong).toBeGreaterThan(0.5);
    expect(wrong).toBeLessThan(1);
    expect(await reward("")).toBe(0);
    expect(environment.metricNames()).toEqual(["similarity", "num_turns"]);
  });
});

describe("arguments of environments", () => {
  it("are checked by name", async () => {
    const environment = findEnvironment("reverse-text");
    expect(await environment?.checkArgs({ seeds: 3 })).toMatch(/unknown argument seeds/);
    expect(await environment?.checkArgs({ seed: "3" })).toMatch(/argument seed: /);
    expect(await environment?.checkArgs({ min_words: 0 })).toMatch(/argument min_words: /);
    expect(await environment?.checkArgs({ min_words: 9, max_words: 2 })).toMatch(/min_words \(9\) is above max_words \(2\)/);
    expect(await environment?.checkArgs({ seed: 3 })).toBeNull();
    await expect(load({ seeds: 3 })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(loadEnvironment("reverse_text_", {}, nothing)).rejects.toMatchObject({
      code: "environment_not_found",
      hint: expect.stringContaining("reverse-text"),
    });
  });

  it("decide the digest with their defaults filled in, whatever their order", async () => {
    const environment = listEnvironments().find(({ id }) => id === "reverse-text");
    if (environment === undefined) throw new Error("not listed");
    const digest = await environmentDigest(environment, {});
    expect(digest).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(await environmentDigest(environment, { max_words: 10, seed: 0 })).toBe(digest);
    expect(await environmentDigest(environment, { seed: 0, max_words: 10 })).toBe(digest);
    expect(await environmentDigest(environment, { seed: 1 })).not.toBe(digest);
  });

  it("are kept on the loaded environment, with id and version", async () => {
    expect(await load({ seed: 4 })).toMatchObject({ id: "reverse-text", version: "1.0.0", args: { seed: 4 }, passThreshold: 0.5 });
  });
});
