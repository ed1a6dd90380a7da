import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEarly } from "../../../../src/cli/eval-run/early-rows.ts";
import type { EvalWish } from "../../../../src/cli/eval-run/wish/eval-wish.ts";
import { rememberFolder } from "../../../../src/cli/state/state-folder.ts";
import { resumeBench, ROW, RUN } from "../../../support/results/resume-bench.ts";

const { root, folder } = resumeBench();

describe("rows that are read while the service starts", () => {
  const wish = (given: object): EvalWish => ({ given }) as EvalWish;
  const read = (given: object, env: NodeJS.ProcessEnv = {}): readonly string[] => [...readEarly([wish(given), wish(given)], root(), env).keys()];

  it("are those of a folder whose run the state does not know, or is to be without", async () => {
    const path = folder(RUN);
    const early = readEarly([wish({ resume: path })], root(), {});
    expect((await early.get(path))?.counts).toEqual({ rows: 1, infrastructure: 0, scorer: 0 });
    expect(read({ resume: path })).toEqual([path]);
    for (const given of [{}, { resume: true }, { resume: "0badcafe" }]) expect(read(given)).toEqual([]);
    // Only a service elsewhere can say what it knows.
    expect(read({ resume: path }, { EDGEWISE_URL: "http://127.0.0.1:1" })).toEqual([]);
    rememberFolder(join(root(), ".edgewise"), RUN, path);
    expect(read({ resume: path })).toEqual([]);
    expect(read({ resume: path, fresh_state: true })).toEqual([path]);
  });

  it("end nothing where they cannot be read: that is said by whoever needs them", async () => {
    const path = folder(RUN, { rows: `{}\n${ROW}` });
    await expect(readEarly([wish({ resume: path })], root(), {}).get(path)).rejects.toThrow(/line 1 has no example_id/);
  });
});
