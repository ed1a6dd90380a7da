import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rememberFolder } from "../../../../src/cli/state/state-folder.ts";
import { evaluation, METADATA, resumeBench, RUN } from "../../../support/results/resume-bench.ts";
import type { FakeRequest } from "../../../support/cli/cli-fake-service.ts";

const { root, folder, start, posted, asked, there } = resumeBench();
const NEW = "00000ace";
const row = (example: number, rollout: number, code: string | null = null): string =>
  `${JSON.stringify({ example_id: example, rollout_index: rollout, reward: 1, error: code === null ? null : { error: "ModelError", code } })}\n`;

/** A service that knows the run, at rest, and takes creations. */
function knowing({ method, path }: FakeRequest): readonly [number, unknown] {
  if (method === "PUT" || method === "HEAD") return [method === "PUT" ? 201 : 404, {}];
  if (path.endsWith("/resume")) return [200, { evaluation_id: RUN, owed_rollouts: 1, warnings: [] }];
  if (path.endsWith("/hosted-evaluations")) return [200, { evaluation_id: NEW }];
  return [200, evaluation(path.endsWith(NEW) ? NEW : RUN, { phase: "settled", settled: true })];
}
const wrote = (path: string, position: object): void =>
  writeFileSync(join(path, ".edgewise.json"), JSON.stringify({ version: 1, run_id: RUN, seq: 7, final: false, ...position }));

describe("a folder and a service that both have rows of a run", () => {
  it("that the service has all of is written again from it, which is said where it lacks some", async () => {
    there.rows = row(0, 0) + row(0, 1) + row(1, 0);
    const behind = await start({ resume: folder(RUN, { rows: row(0, 0) + row(1, 0) }) }, knowing);
    expect(behind).toMatchObject({
      how: "resumed",
      said: expect.stringMatching(/has 2 rollouts of run 1a2b3c4d, and the service 3, .* written again from the service/),
    });
    expect(behind.evaluation.evaluation_id).toBe(RUN);
  });

  it("that are alike need no word", async () => {
    there.rows = row(1, 0) + row(0, 0);
    expect((await start({ resume: folder(RUN, { rows: row(0, 0) + row(1, 0) }) }, knowing)).said).toBeNull();
  });

  it("where the folder has all of the service's and more, the folder is gone on with as a new run, which is said", async () => {
    there.rows = row(0, 0);
    const path = folder(RUN, { rows: `${row(0, 0)}${row(0, 1)}${row(1, 0)}{"cut` });
    const started = await start({ resume: path }, knowing);
    expect(started).toMatchObject({ folder: path, said: expect.stringMatching(/has 3 rollouts, and the service 1 of run 1a2b3c4d, .* as a new run/) });
    expect(started.evaluation.evaluation_id).toBe(NEW);
    expect(posted("/hosted-evaluations")).toMatchObject([{ resume_from: { run_id: expect.not.stringMatching(RUN) } }]);
    expect(posted("/resume")).toEqual([]);
  });

  it("where one has an answer to what failed on the way in the other, the answer counts", async () => {
    there.rows = row(0, 0) + row(0, 1, "connection_failed");
    expect((await start({ resume: folder(RUN, { rows: row(0, 0) + row(0, 1) }) }, knowing)).evaluation.evaluation_id).toBe(NEW);
  });

  it("where each has what the other lacks, nothing is changed, and both ways out are named", async () => {
    there.rows = row(0, 0) + row(0, 1);
    const refused = start({ resume: folder(RUN, { rows: row(0, 0) + row(1, 0) + row(1, 1) }) }, knowing);
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(/disagree on run 1a2b3c4d: 2 rollouts are in the folder alone, 1 in the service alone/),
      hints: [expect.stringContaining(`-R ${RUN}`), expect.stringContaining("--fresh-state")],
    });
    expect([posted("/resume"), posted("/hosted-evaluations")]).toEqual([[], []]);
  });

  it("of the same history are not compared row by row", async () => {
    there.rows = "";
    const path = folder(RUN, { rows: row(0, 0) });
    wrote(path, { bytes: row(0, 0).length, mark: there.mark });
    expect((await start({ resume: path }, knowing)).said).toBeNull();
    expect(asked("/rows")).toBe(1);
    there.mark = "1.other";
    expect((await start({ resume: path }, knowing)).evaluation.evaluation_id).toBe(NEW);
  });

  it("also where the id alone is named; a folder that is another run's by now is not written over", async () => {
    there.rows = row(0, 0);
    const path = folder(RUN, { rows: row(0, 0) + row(0, 1) });
    const state = join(root(), "state");
    rememberFolder(state, RUN, path);
    expect((await start({ resume: RUN }, knowing, { stateFolder: state })).evaluation.evaluation_id).toBe(NEW);
    folder(RUN, { rows: row(0, 0), metadata: { ...METADATA, edgewise: { ...METADATA.edgewise, run_id: NEW } } });
    await expect(start({ resume: RUN }, knowing, { stateFolder: state })).rejects.toMatchObject({
      message: expect.stringContaining(`holds those of run ${NEW} now`),
      hints: expect.arrayContaining([expect.stringContaining(`-R ${NEW}`)]),
    });
  });

  it("without its rows is written again, and the id is said that does so too", async () => {
    const started = await start({ resume: folder(RUN, { rows: null }) }, knowing);
    expect(started).toMatchObject({ how: "resumed", said: expect.stringMatching(new RegExp(`results.jsonl is missing.*-R ${RUN}`)) });
    const unknown = start({ resume: folder(RUN, { rows: null }) }, () => [404, { detail: "No such run.", code: "not_found" }]);
    await expect(unknown).rejects.toThrow(`it has no results.jsonl, and the service does not know run ${RUN}`);
  });
});
