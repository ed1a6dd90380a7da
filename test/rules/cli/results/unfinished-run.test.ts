import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GivenOptions } from "../../../../src/cli/command-line/flags.ts";
import { foldersOfEnvironment, isUnfinished, readFolder } from "../../../../src/cli/results/resume-folder.ts";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { evaluation, INFRA_ROW, METADATA, MODEL_ROW, resumeBench, ROW, RUN } from "../../../support/results/resume-bench.ts";

const { root, folder, start, posted, close } = resumeBench();
/** What the runs here were asked for. */
const SAME: GivenOptions = { model: "org/m", num_examples: 2 };

describe("-R without a path", () => {
  it("looks at the folders of the environment, newest first, whatever their model", () => {
    const old = folder("aaaaaaaa", { age: 1 });
    const young = folder("bbbbbbbb", { age: 3 });
    const other = folder("cccccccc", { age: 2, metadata: { ...METADATA, model: "other" } });
    folder("dddddddd", { age: 9, metadata: "{broken" });
    expect(foldersOfEnvironment(join(root(), "outputs"), "gsm8k").map(({ path }) => path)).toEqual([young, other, old]);
    expect(foldersOfEnvironment(join(root(), "nowhere"), "gsm8k")).toEqual([]);
  });

  it("takes a run for unfinished when rows are missing or would be run again", async () => {
    const unfinished = async (rows: string, given: GivenOptions = {}): Promise<boolean> => {
      const found = readFolder(folder(RUN, { rows }));
      if (typeof found === "string") throw new Error(found);
      return await isUnfinished(found, given);
    };
    expect(await unfinished(ROW.repeat(3))).toBe(true);
    expect(await unfinished(ROW.repeat(4))).toBe(false);
    expect(await unfinished(ROW.repeat(4), { num_examples: 3 })).toBe(true);
    expect(await unfinished(ROW.repeat(3) + INFRA_ROW)).toBe(true);
    expect(await unfinished(ROW.repeat(3) + INFRA_ROW, { keep_errors: true })).toBe(false);
    expect(await unfinished(ROW.repeat(3) + MODEL_ROW)).toBe(false);
    expect(await unfinished(`${ROW.repeat(3)}{"half`)).toBe(true);
  });

  it("resumes the newest unfinished run of equal settings, and passes over the finished", async () => {
    folder("aaaaaaaa", { age: 1 });
    folder("bbbbbbbb", { age: 2, rows: ROW.repeat(4) });
    const started = await start({ resume: true, ...SAME }, ({ method, path }) => {
      if (path.endsWith("/bbbbbbbb")) return [200, evaluation("bbbbbbbb", { settled: true, phase: "settled", owed_rollouts: 0 })];
      if (method === "POST") return [200, { evaluation_id: "aaaaaaaa", owed_rollouts: 3, warnings: ["careful"] }];
      return [200, evaluation("aaaaaaaa", { suspended: true })];
    });
    expect(started).toMatchObject({ how: "resumed", owed: 3, after: 12, warnings: ["careful"], evaluation: { evaluation_id: "aaaaaaaa" } });
    expect(started.folder).toContain("aaaaaaaa");
    expect(posted("/resume")).toEqual([{ expect: { env_id: "gsm8k", model: "org/m" }, num_examples: 2 }]);
  });

  /** What becomes of `-R` with these settings beside one unfinished run of those. */
  const against = async (stored: { metadata?: JsonObject; settings?: JsonObject; edgewise?: JsonObject }, given: GivenOptions = SAME): Promise<string> => {
    folder(RUN, { metadata: { ...METADATA, ...stored.metadata, edgewise: { ...METADATA.edgewise, settings: stored.settings ?? {}, ...stored.edgewise } } });
    const {
      how,
      evaluation: run,
      passedOver,
    } = await start({ resume: true, ...given }, ({ method, path }) => {
      if (method === "POST") return [200, path.endsWith("/resume") ? { evaluation_id: RUN, owed_rollouts: 3, warnings: [] } : { evaluation_id: "0000000f" }];
      return [200, evaluation(path.split("/").at(-1) ?? "", { suspended: true }, stored.metadata)];
    });
    await close();
    return `${how} ${run.evaluation_id}${passedOver ? ` ${passedOver}` : ""}`;
  };

  it.each<[string, JsonObject, GivenOptions, string]>([
    ["model", {}, {}, 'model: the run has "org/m", this command "openai/gpt-4.1-mini"'],
    ["rollouts", { rollouts_per_example: 8 }, SAME, "rollouts_per_example: the run has 8, this command 2"],
    [
      "sampling",
      { sampling_args: { n: 1, max_tokens: null, temperature: 5 } },
      SAME,
      'sampling_args: the run has {"max_tokens":null,"temperature":5}, this command',
    ],
    ["arguments", { env_args: { difficulty: "hard" } }, SAME, 'env_args: the run has {"difficulty":"hard"}, this command {}'],
    [
      "address",
      { base_url: "https://elsewhere.example/v1" },
      SAME,
      'base_url: the run has "https://elsewhere.example/v1", this command "http://127.0.0.1:1/v1"',
    ],
    ["columns", { state_columns: ["x"] }, SAME, 'state_columns: the run has ["x"], this command []'],
    ["fewer examples", { num_examples: 400 }, SAME, "num_examples: the run has 400, this command 2"],
    ["examples by default", { num_examples: 400 }, { model: "org/m" }, "num_examples: the run has 400, this command 5"],
    ["options typed", {}, { ...SAME, extra_env_kwargs: { max_turns: 2 } }, 'extra_env_kwargs: the run has {}, this command {"max_turns":2}'],
    ["client typed", {}, { ...SAME, api_client_type: "openai_responses" }, 'api_client_type: the run has "openai_chat_completions"'],
    ["headers typed", {}, { ...SAME, headers: { "X-A": "1" } }, 'headers: the run has {}, this command {"X-A":"1"}'],
    ["shuffling typed", {}, { ...SAME, shuffle: true }, "shuffle_seed: the run has null, this command 0"],
    ["scoring typed", {}, { ...SAME, independent_scoring: true }, "independent_scoring: the run has false, this command true"],
  ])("takes no run that differs by %s, given or by default, and names it with the difference", async (_, metadata, given, difference) => {
    const outcome = await against({ metadata }, given);
    expect(outcome).toContain(`created 0000000f the nearest is ${RUN}: `);
    expect(outcome).toContain(difference);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["scoring", { independent_scoring: true }, {}],
    ["client", { api_client_type: "openai_responses" }, {}],
    ["headers", { headers: { "X-A": "1" } }, {}],
    ["version", {}, { env_version: "0.9.0" }],
    ["options", {}, { extra_env_kwargs: { max_turns: 2 } }],
    ["seed", {}, { shuffle_seed: 3 }],
  ])("takes no run that was asked for with another %s than the default", async (_, settings, edgewise) => {
    expect(await against({ settings, edgewise })).toContain(`created 0000000f the nearest is ${RUN}: `);
  });

  it("takes one with fewer examples, and limits, displays and keys as they are asked for now", async () => {
    const given: GivenOptions = { model: "org/m", max_concurrent: 3, verbose: true, api_key_var: "PRIME_API_KEY" };
    expect(await against({}, given)).toBe(`resumed ${RUN}`);
    expect(posted("/resume")).toEqual([
      { expect: { env_id: "gsm8k", model: "org/m" }, num_examples: 5, max_concurrent: 3, verbose: true, api_key_var: "PRIME_API_KEY" },
    ]);
    expect(await against({}, { model: "org/m", num_examples: -1 })).toBe(`resumed ${RUN}`);
    expect(await against({ settings: { sampling_args: { max_tokens: null } }, metadata: { sampling_args: { n: 1, top_p: 0.5, max_tokens: null } } })).toBe(
      `resumed ${RUN}`,
    );
  });

  it("names of several the one that differs least; a finished one of equal settings is nearer than any", async () => {
    const other = (runId: string, change: object, age: number) =>
      folder(runId, { age, metadata: { ...METADATA, ...change, edgewise: { ...METADATA.edgewise, run_id: runId } } });
    other("aaaaaaaa", { env_args: { x: 1 } }, 1);
    other("bbbbbbbb", { env_args: { x: 1 }, rollouts_per_example: 8 }, 2);
    const finished = { suspended: false, settled: true, phase: "settled", owed_rollouts: 0 };
    const look = async () => {
      const { passedOver } = await start({ resume: true, ...SAME }, ({ method, path }) => {
        if (method === "POST") return [200, { evaluation_id: RUN }];
        return [200, evaluation(path.split("/").at(-1) ?? "", finished)];
      });
      await close();
      return passedOver;
    };
    expect(await look()).toBe('the nearest is aaaaaaaa: env_args: the run has {"x":1}, this command {}');
    folder("cccccccc", { age: 0, rows: ROW.repeat(4) });
    expect(await look()).toBe("the nearest is cccccccc: it is finished");
  });

  it("starts a new run when there is none", async () => {
    const started = await start({ resume: true, num_examples: 1 }, ({ method }) => [200, method === "POST" ? { evaluation_id: RUN } : evaluation(RUN)]);
    expect(started).toMatchObject({ how: "created", folder: null, after: 0, passedOver: null });
  });
});
