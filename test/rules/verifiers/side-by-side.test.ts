import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Difference, differencesOf } from "../../support/side-by-side/differences.ts";
import { ENVIRONMENTS } from "../../support/side-by-side/environments.ts";
import { LISTED, type Listed, listedAs } from "../../support/side-by-side/listed.ts";
import { type Folder, playedHere } from "../../support/side-by-side/played.ts";
import { startScriptServer } from "../../support/side-by-side/script-server.ts";

/** What Python's verifiers 0.1.14 made of the same environments and answers (tools/verifiers-side-by-side.ts --record). */
const FIXTURES = join(import.meta.dirname, "../../fixtures/side-by-side");
const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/verifiers-compatibility.md"), "utf8");

let server: Awaited<ReturnType<typeof startScriptServer>>;
beforeAll(async () => {
  server = await startScriptServer();
});
afterAll(() => server.close());

function theirs(name: string): Folder {
  const [rows = "", metadata = ""] = ["results.jsonl", "metadata.json"].map((file) => readFileSync(join(FIXTURES, name, file), "utf8"));
  return { rows: rows.split("\n").slice(0, -1), metadata };
}

describe("the Python library and this one on the same scripted model", () => {
  const used = new Set<Listed>();

  it.each(Object.keys(ENVIRONMENTS))("%s: rows and metadata differ in nothing that the compatibility page does not list", async (name) => {
    const folder = theirs(name);
    expect(folder.rows.length).toBeGreaterThan(0);
    const found = differencesOf(folder, await playedHere(name, server.url));
    const unlisted: Difference[] = [];
    for (const difference of found) {
      const listed = listedAs(name, difference);
      if (listed === undefined) unlisted.push(difference);
      else used.add(listed);
    }
    expect(unlisted).toEqual([]);
  });

  it("lists no difference that is none any more, each in a row of the page", () => {
    expect(LISTED.filter((listed) => !used.has(listed)).map(({ row }) => row)).toEqual([]);
    for (const { row } of LISTED) expect(PAGE).toContain(`\n| ${row} |`);
  });

  it("has played every environment there", () => {
    expect(readdirSync(FIXTURES).sort()).toEqual(Object.keys(ENVIRONMENTS).sort());
  });
});

describe("a difference", () => {
  const folder = (row: string): Folder => ({ rows: [row], metadata: "{}" });
  it.each([
    ["in a value", '{"a":[1,{"b":"x"}]}', '{"a":[1,{"b":"y"}]}', "row 0.a.1.b"],
    ["between an integer and a float", '{"reward": 1.0}', '{"reward":1}', "row 0.reward"],
    ["in the order of keys", '{"a":1,"b":2}', '{"b":2,"a":1}', "row 0(keys)"],
    ["in the keys of an error other than ours", '{"error":{"error":"E"}}', '{"error":{"error":"E","code":"c","more":1}}', "row 0.error(keys)"],
    ["in the kind of a time", '{"timing":{"total":0.5}}', '{"timing":{"total":null}}', "row 0.timing.total"],
    ["in the number of rows", '{"a":1}', "", "row 0"],
  ])("%s is found", (_what, a, b, path) => {
    expect(differencesOf(folder(a), b === "" ? { rows: [], metadata: "{}" } : folder(b)).map((found) => found.path)).toEqual([path]);
  });

  it("is not what no two runs share, nor what is ours", () => {
    const a = { rows: ['{"a":1,"timing":{"total":0.5}}'], metadata: '{"base_url":"a","time":1.5,"version_info":{"vf_version":"0.1.14"}}' };
    const b = { rows: ['{"a":1,"timing":{"total":0.75},"rollout_index":0}'], metadata: '{"base_url":"b","time":2.5,"version_info":{},"edgewise":{}}' };
    expect(differencesOf(a, b)).toEqual([]);
  });
});
