import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBody as createBodySchema } from "../../../../src/api/schemas.ts";
import type { GivenOptions } from "../../../../src/cli/command-line/flags.ts";
import { resumeCommand, shortPath } from "../../../../src/cli/command-line/typed-commands.ts";
import { isUnfinished, rolloutsOfWhole, namedFolder, readFolder } from "../../../../src/cli/results/resume-folder.ts";
import { rememberFolder } from "../../../../src/cli/state/state-folder.ts";
import { reasonToKeep } from "../../../../src/cli/runs/prune.ts";
import { evaluation, METADATA, notFound, resumeBench, ROW, RUN } from "../../../support/results/resume-bench.ts";

const { root, folder, start, posted, close } = resumeBench();

describe("a folder that -R names", () => {
  it("is taken with its run id, from the metadata or from its name", () => {
    expect(namedFolder(folder(RUN), root())).toMatchObject({ runId: RUN, metadata: { env_id: "gsm8k", num_examples: 2 } });
    const { edgewise: _, ...foreign } = METADATA;
    expect(readFolder(folder("00c0ffee", { metadata: foreign }))).toMatchObject({ runId: "00c0ffee", metadata: { edgewise: null } });
    expect(readFolder(folder("my-run", { metadata: foreign }))).toMatchObject({ runId: null });
  });

  it("is refused for what it lacks", () => {
    expect(() => namedFolder("nothing", root())).toThrow(/nothing is not a folder/);
    const { edgewise: _, ...foreign } = METADATA;
    mkdirSync(join(folder("no-file", { rows: null, metadata: foreign }), "results.jsonl"));
    expect(() => namedFolder(join(root(), "outputs/evals/gsm8k--org--m/no-file"), root())).toThrow(/it has no results\.jsonl$/);
    expect(() => namedFolder(folder(RUN, { metadata: "{" }), root())).toThrow(/metadata\.json cannot be read/);
    expect(() => namedFolder(folder(RUN, { metadata: { ...METADATA, num_examples: "2" } }), root())).toThrow(/num_examples is not a whole number/);
  });

  it("may be a run id instead, and may lack its files when it names its run itself", () => {
    expect(namedFolder("0badcafe", root())).toEqual({ runId: "0badcafe" });
    const path = folder(RUN, { rows: null });
    writeFileSync(join(path, ".edgewise.json"), JSON.stringify({ version: 1, run_id: RUN, seq: 0, bytes: 0, final: false }));
    expect(readFolder(path)).toMatchObject({ path, runId: RUN, metadata: null });
    rmSync(join(path, ".edgewise.json"));
    expect(readFolder(path)).toEqual({ path, runId: RUN, metadata: null, lacks: "it has no results.jsonl" });
    rmSync(join(path, "metadata.json"));
    expect(readFolder(path)).toMatchObject({ path, runId: RUN, metadata: null });
    const renamed = folder("my-run", { rows: null, metadata: METADATA });
    expect(readFolder(renamed)).toMatchObject({ path: renamed, runId: RUN });
  });

  it("and that is gone, or emptied, is told with the id of the run that this machine kept there", () => {
    const state = join(root(), "state");
    const [gone, emptied] = [join(root(), "gone"), join(root(), "emptied")];
    mkdirSync(emptied);
    mkdirSync(state);
    rememberFolder(state, RUN, gone);
    rememberFolder(state, "0badcafe", emptied);
    expect(() => namedFolder("gone", root(), state)).toThrow(
      expect.objectContaining({ hints: expect.arrayContaining([expect.stringContaining(`-R ${RUN} `)]) }),
    );
    expect(() => namedFolder("emptied", root(), state)).toThrow(
      expect.objectContaining({ hints: expect.arrayContaining([expect.stringContaining("-R 0badcafe ")]) }),
    );
    expect(() => namedFolder("elsewhere", root(), state)).toThrow(expect.objectContaining({ hints: [expect.stringContaining("Name the folder")] }));
  });
});

describe("a run that the service knows", () => {
  it("is joined where it works already, unless something else was typed", async () => {
    const path = folder(RUN);
    expect(await start({ resume: path, model: "org/m" }, () => [200, evaluation(RUN)])).toMatchObject({ how: "joined", folder: path, after: 12 });
    expect(posted("/resume")).toEqual([]);
    await close();
    await expect(start({ resume: path, model: "other", num_examples: 9 }, () => [200, evaluation(RUN)])).rejects.toThrow(
      'model: the run has "org/m", this command "other"; num_examples: the run has 2, this command 9',
    );
  });

  it("is asked again while it is writing its results", async () => {
    let busy = 2;
    const started = await start({ resume: folder(RUN) }, ({ method }) => {
      if (method !== "POST") return [200, evaluation(RUN, { phase: "finalising" })];
      return busy-- > 0 ? [409, { detail: "Busy.", code: "run_busy" }] : [200, { evaluation_id: RUN, owed_rollouts: 0, warnings: [] }];
    });
    expect(started.how).toBe("nothing owed");
    expect(posted("/resume")).toHaveLength(3);
  });

  it("is refused with what the service says of another evaluation", async () => {
    const answer = start({ resume: folder(RUN) }, ({ method }) =>
      method === "POST" ? [409, { detail: "This is another evaluation: model: …", code: "resume_mismatch" }] : [200, evaluation(RUN, { suspended: true })],
    );
    await expect(answer).rejects.toMatchObject({ code: "resume_mismatch" });
  });
});

describe("a folder that is all that is left of its run", () => {
  it("is uploaded without its cut last line, and becomes a run of the same id and settings", async () => {
    const uploads = new Map<string, string>();
    const started = await start({ resume: folder(RUN, { rows: `${ROW}{"half` }), max_concurrent: 3 }, ({ method, path, body }) => {
      if (method === "HEAD") return [404, {}];
      if (method === "PUT") uploads.set(path.split("/").at(-1) ?? "", body);
      if (method === "GET" && uploads.size === 0) return notFound;
      return [200, method === "GET" ? evaluation(RUN) : { evaluation_id: RUN }];
    });
    const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
    const manifest = JSON.stringify({ version: 1, parts: [{ digest: digestOf(ROW), bytes: ROW.length }], held: [[0, 0]] });
    expect(uploads).toEqual(
      new Map([
        [digestOf(ROW), ROW],
        [digestOf(manifest), manifest],
      ]),
    );
    expect(started).toMatchObject({ how: "resumed", after: 0 });
    const [body] = posted("/hosted-evaluations");
    expect(body).toEqual({
      environment_ids: ["gsm8k"],
      inference_model: "org/m",
      eval_config: {
        env_args: {},
        api_base_url: "http://127.0.0.1:1/v1",
        num_examples: 2,
        rollouts_per_example: 2,
        max_concurrent: 3,
        sampling_args: { max_tokens: null },
        state_columns: [],
      },
      resume_from: { run_id: RUN, results: digestOf(manifest), in_parts: true, dataset_digest: "d".repeat(64), keep_errors: false, num_examples: 2 },
    });
    expect(createBodySchema.safeParse(body).error).toBeUndefined();
  });

  it("is refused when it is another evaluation, naming every field with both values", async () => {
    const path = folder(RUN);
    const given: GivenOptions = { resume: path, model: "other", rollouts_per_example: 5, temperature: 1, env_args: { x: 1 }, num_examples: 1 };
    const error = await start(given, () => notFound, { envVersion: "2.0.0" }).catch((thrown: unknown) => thrown as Error);
    const { message } = error as Error;
    expect(message).toContain('env_args: the run has {}, this command {"x":1}');
    expect(message).toContain('model: the run has "org/m", this command "other"');
    expect(message).toContain("rollouts_per_example: the run has 2, this command 5");
    expect(message).toContain('sampling_args: the run has {"max_tokens":null}, this command {"max_tokens":null,"temperature":1}');
    expect(message).toContain('env_version: the run has "1.0.0", this command "2.0.0"');
    expect(message).toContain("num_examples: the run has 2, this command 1; a run can only grow");
    expect(posted("/hosted-evaluations")).toEqual([]);
  });

  it.each<[asked: string, typed: string, given: GivenOptions, edgewise: object | undefined]>([
    ["acme/my-sums@1.0.0", "acme/my-sums", {}, METADATA.edgewise],
    ["acme/my-sums@1.2.0", "acme/my-sums@1.2.0", {}, METADATA.edgewise],
    ["acme/my-sums@latest", "acme/my-sums@latest", {}, METADATA.edgewise],
    ["acme/my-sums", "acme/my-sums", { accept_code_change: true }, METADATA.edgewise],
    ["acme/my-sums", "acme/my-sums", {}, undefined],
  ])(
    "asks for %s of a published environment where %s was typed with %j: its own version, but where the command says otherwise",
    async (asked, typed, given, own) => {
      const path = folder(RUN, { metadata: { ...METADATA, env_id: "acme/my-sums", edgewise: own } });
      let known = false;
      const answer = ({ method }: { readonly method: string }): readonly [number, unknown] => {
        known ||= method === "POST";
        if (method === "HEAD" || (method === "GET" && !known)) return notFound;
        return [200, method === "GET" ? evaluation(RUN) : { evaluation_id: RUN }];
      };
      await start({ resume: path, ...given }, answer, { envId: "acme/my-sums", reference: typed, envVersion: null });
      expect(posted("/hosted-evaluations")).toMatchObject([{ environment_ids: [asked] }]);
    },
  );

  it("asks for its data set when that went with the state", async () => {
    const metadata = { ...METADATA, env_args: { dataset: `sha256:${"e".repeat(64)}` } };
    await expect(start({ resume: folder(RUN, { metadata }) }, () => notFound)).rejects.toThrow(/data set of this run .* is not in the service any more/);
  });
});

describe("a folder of the Python library", () => {
  const { edgewise: _, ...theirs } = METADATA;
  const NESTED = { ...theirs, time: 1.5, num_examples: 1 };
  const goesOn = (path: string, given: GivenOptions = {}): ReturnType<typeof start> =>
    start({ resume: path, ...given }, ({ method, path: asked }) => {
      if (method === "GET" && asked.endsWith(RUN)) return [200, evaluation(RUN)];
      if (method === "HEAD") return [404, {}];
      return [200, method === "GET" ? evaluation("00c0ffee") : { evaluation_id: "00c0ffee" }];
    });
  const created = async (path: string, given: GivenOptions = {}): Promise<{ run_id: string; results_shape?: string }> => {
    await goesOn(path, given);
    const [body] = posted("/hosted-evaluations");
    expect(createBodySchema.safeParse(body).error).toBeUndefined();
    return (body as { resume_from: { run_id: string; results_shape?: string } }).resume_from;
  };

  it("has the averages that it stated wrongly beside those of its rows", async () => {
    const stale = await goesOn(folder("stale", { metadata: { ...theirs, avg_reward: 0, avg_metrics: { ok: 0.5 } }, rows: ROW }));
    expect(stale.wrongAverages).toEqual([{ name: "reward", stated: 0, recomputed: 1 }]);
    await close();
    const right = await goesOn(folder("right", { metadata: { ...theirs, avg_reward: 1 }, rows: ROW }));
    expect(right.wrongAverages).toEqual([]);
  });

  it("goes on in the shape it has", async () => {
    expect(await created(folder("my-run", { metadata: NESTED }))).toMatchObject({ results_shape: "0.1.14" });
    await close();
    expect(await created(folder("my-other", { metadata: { ...theirs, time_ms: 1500, avg_error: 0 } }))).not.toHaveProperty("results_shape");
    await close();
    expect(await created(folder("my-old", { metadata: { ...theirs, time_ms: 1500 } }))).toMatchObject({ results_shape: "0.1.9" });
  });

  it("that was one of ours is what counts, not what the service still knows of that run", async () => {
    const path = folder(RUN, { metadata: NESTED });
    writeFileSync(join(path, ".edgewise.json"), JSON.stringify({ version: 1, run_id: RUN, seq: 3, bytes: 10, final: false }));
    expect((await created(path)).run_id).not.toBe(RUN);
    expect(posted("/resume")).toEqual([]);
  });

  it("from before rows said which example they are of is refused, with its age and the way to read it", () => {
    const { env_id, ...early } = theirs;
    const message = (metadata: object, rows: string): { readonly message: string; readonly hints: readonly string[] } => {
      try {
        namedFolder(folder("my-run", { metadata, rows }), root());
      } catch (error) {
        return error as { message: string; hints: string[] };
      }
      throw new Error("was taken");
    };
    const unnamed = '{"id": 0, "prompt": [], "reward": NaN, "generation_ms": 0.0}\n';
    expect(message({ ...early, env: env_id, date: "2025-09-30 00:47:48" }, unnamed)).toMatchObject({
      message: expect.stringMatching(/the Python library wrote it before 18 October 2025: its metadata calls the environment `env`, and its rows do not say/),
      hints: [expect.stringMatching(/^`npx edgewise eval view \S+` can read it\.$/)],
    });
    expect(message({ ...theirs, rollouts_per_example: 0 }, unnamed).message).toMatch(/before 18 October 2025: its rows do not say which example they are of$/);
    expect(namedFolder(folder("my-run", { metadata: theirs, rows: '{"example_id": 0, "reward": 1.0}\n' }), root())).toMatchObject({ metadata: { env_id } });
  });

  it("is refused when its examples were shuffled", async () => {
    await expect(start({ resume: folder("my-run", { metadata: { ...NESTED, shuffle: true, shuffle_seed: 1 } }) }, () => notFound)).rejects.toThrow(
      /were shuffled by the Python library/,
    );
    expect(posted("/hosted-evaluations")).toEqual([]);
  });

  it("has something left to do while rows are missing or failed in the infrastructure, whatever Python writes for a number", async () => {
    const unfinished = async (...rows: readonly string[]): Promise<boolean> => {
      const found = readFolder(folder("my-run", { metadata: NESTED, rows: `${rows.join("\n\n")}\n` }));
      if (typeof found === "string") throw new Error(found);
      return await isUnfinished(found, {});
    };
    const row = '{"example_id": 0, "reward": NaN, "error": null}';
    expect(await unfinished(row, row)).toBe(false);
    expect(await unfinished(row)).toBe(true);
    expect(await unfinished(row, '{"example_id": 0, "reward": 0.0, "error": {"error": "ModelError", "message": "x"}}')).toBe(true);
    expect(await unfinished(row, '{"example_id": 0, "reward": 0.0, "error": {"error": "ToolCallError"}}')).toBe(false);
  });

  it("is whole with scorer errors, unless its rows may be scored again", async () => {
    const unscored = '{"example_id": 0, "reward": 0.0, "error": {"error": "ScorerError", "code": "scorer_error"}}\n';
    const path = folder("my-run", { metadata: NESTED, rows: unscored.repeat(2) });
    expect(await rolloutsOfWhole(path, {})).toBe(2);
    expect(await rolloutsOfWhole(path, {}, true)).toBeNull();
    expect(await rolloutsOfWhole(path, { keep_errors: true }, true)).toBe(2);
  });
});

describe("the command to go on with", () => {
  it("can be typed as it is printed", () => {
    expect(shortPath(join(root(), "outputs/evals/x"), root())).toBe("outputs/evals/x");
    expect(shortPath("/elsewhere/x", root())).toBe("/elsewhere/x");
    expect(resumeCommand("gsm8k", "outputs/a b/it's", "MY_KEY")).toBe(`npx edgewise eval run gsm8k -k MY_KEY -R 'outputs/a b/it'\\''s'`);
    expect(resumeCommand("gsm8k", "outputs/evals/gsm8k--m/1a2b3c4d", undefined)).toBe("npx edgewise eval run gsm8k -R outputs/evals/gsm8k--m/1a2b3c4d");
  });
});

describe("prune", () => {
  const listed = (settled: boolean) => ({
    evaluation_id: RUN,
    status: "COMPLETED" as const,
    metadata: { env_id: "gsm8k", model: "m" },
    edgewise: { settled, active: !settled },
  });

  it("removes only what is finished and saved whole", () => {
    const path = folder(RUN);
    const position = (bytes: number, final: boolean): void =>
      writeFileSync(join(path, ".edgewise.json"), JSON.stringify({ version: 1, run_id: RUN, seq: 9, bytes, final }));
    expect(reasonToKeep(listed(true), null)).toContain("no results folder");
    expect(reasonToKeep(listed(true), path)).toContain("not complete");
    position(ROW.length, false);
    expect(reasonToKeep(listed(true), path)).toContain("not complete");
    position(ROW.length - 1, true);
    expect(reasonToKeep(listed(true), path)).toContain("was changed");
    position(ROW.length, true);
    expect(reasonToKeep(listed(true), path)).toBeNull();
    expect(reasonToKeep(listed(false), path)).toContain("not finished");
    rmSync(join(path, "metadata.json"));
    expect(reasonToKeep(listed(true), path)).toContain("was changed");
  });
});
