import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Workplace } from "../../support/cli/cli-process.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/imports");

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.remove());

describe("the built command", () => {
  it("imports archives and lines, and verifies what it made, without a service", async () => {
    const imported = place.start(["import", join(FIXTURES, "inspect/counted-parts.eval"), join(FIXTURES, "openai-evals/match.jsonl"), "-o", "made"]);
    expect(await imported.ended, imported.stderr()).toBe(0);
    expect(imported.stdout().match(/^Imported: made\/evals\//gm)).toHaveLength(2);
    const verified = place.start(["verify", "made"]);
    expect(await verified.ended, verified.stdout()).toBe(0);
    expect(existsSync(place.state)).toBe(false);
  });

  it("hands in to the service what it imported, once: rows without a reward or an example too, and what is refused by its row", async () => {
    const folder = join(place.folder, "old");
    mkdirSync(folder);
    writeFileSync(join(folder, "metadata.json"), JSON.stringify({ env_id: "old env", model: "m" }));
    // Neither reading of their ids holds, so that they are not grouped.
    const rows = ["a", "b", "a", "c"].map((prompt, at) => ({ id: Math.floor(at / 2), prompt, completion: "so", answer: prompt, reward: at === 1 ? null : 1 }));
    writeFileSync(join(folder, "results.jsonl"), `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
    await place.start(["serve", "--port", "0"]).says("Edgewise listens on", 30_000);
    const first = place.start(["import", "old", join(FIXTURES, "promptfoo/one.json"), "-o", "made", "--push"]);
    expect(await first.ended, first.stderr()).toBe(0);
    expect(first.stdout().match(/^Pushed: .*$/gm)).toEqual([
      expect.stringMatching(/COMPLETED, 4 samples, average reward 0\.7500$/) as string,
      expect.stringMatching(/COMPLETED, 3 samples, average reward 0\.3333$/) as string,
      expect.stringMatching(/COMPLETED, 3 samples, average reward 0\.1667$/) as string,
    ]);
    mkdirSync(join(place.folder, "wrong"));
    writeFileSync(join(place.folder, "wrong/metadata.json"), JSON.stringify({ env_id: "e", model: "m" }));
    writeFileSync(join(place.folder, "wrong/results.jsonl"), '{"example_id":0,"reward":1}\n{"example_id":[],"reward":1}\n');
    const refused = place.start(["push", "wrong", join(place.folder, "made")]);
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain("error: wrong is not pushed: row 2.example_id: must be a number, or a text");
    expect(refused.stdout().match(/^Pushed: .* all of them there already/gm)).toHaveLength(3);
  });
});
