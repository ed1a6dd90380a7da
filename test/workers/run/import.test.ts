import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { datasetKey, outputKey } from "../../../r2-layout/keys.ts";
import { type FolderPart, manifestText, rangesOfIds } from "../../../r2-layout/folder-manifest.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { holdKey } from "../../../src/errors/masking.ts";
import { Fleet, NEVER } from "../support/fleet.ts";
import { createRun, expectComplete, namesOf, type ResultRow, rowsOf, viewOf } from "../support/runs.ts";
import { type ModelCall, type Reply, ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, service, setVars, STEADY } from "../support/service.ts";

/** "A result folder alone is enough to resume from": the folder of a run of which nothing else is left. */
const SHAPE = { num_examples: 12, rollouts_per_example: 3 } as const;

let fleet: Fleet;
let model: ScriptedModel;

const begin = (reply: (call: ModelCall) => Reply = () => null): void => {
  model = new ScriptedModel({ reply });
  fleet = new Fleet({ model });
};
beforeEach(() => {
  setVars(STEADY);
  begin();
});
afterEach(async () => {
  await fleet.close();
  await reset();
});

const codeOf = ({ error }: ResultRow): unknown => (error as { code?: unknown } | null)?.code ?? null;

/** A finished run, with an infrastructure error in the first rollout of examples 4 and 8. */
async function folder(): Promise<{ rows: readonly ResultRow[]; digest: string }> {
  begin(({ example, attempt }) => ((example === 4 || example === 8) && attempt === 1 ? { kind: "empty_choices" } : null));
  const config = await createRun(SHAPE);
  await fleet.settled(config.run_id);
  const rows = await rowsOf(config);
  expect(rows.filter((row) => codeOf(row) !== null)).toHaveLength(2);
  const digest = (await viewOf(config.run_id)).dataset_digest ?? "";
  await fleet.close();
  begin();
  return { rows, digest };
}

async function upload(rows: readonly object[]): Promise<string> {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const digest = await sha256Hex(text);
  await service.BUCKET.put(datasetKey(digest), text);
  return digest;
}

async function continued(rows: readonly object[], digest: string | null, changes: Partial<RunConfig> = {}, keepErrors = false): Promise<RunConfig> {
  const source = { results: await upload(rows), dataset_digest: digest, keep_errors: keepErrors };
  return createRun({ ...SHAPE, ...changes }, source);
}

/** The same in parts of so many examples. */
async function continuedInParts(rows: readonly ResultRow[], digest: string, examples: number, changes: Partial<RunConfig> = {}): Promise<RunConfig> {
  const ids = [...new Set(rows.map(({ example_id }) => example_id))];
  const parts: FolderPart[] = [];
  for (let at = 0; at < ids.length; at += examples) {
    const own = ids.slice(at, at + examples);
    parts.push({ digest: await upload(rows.filter(({ example_id }) => own.includes(example_id))), bytes: 1 });
  }
  const manifest = manifestText({ parts, held: rangesOfIds(ids) });
  const results = await sha256Hex(manifest);
  await service.BUCKET.put(datasetKey(results), manifest);
  return createRun({ ...SHAPE, ...changes }, { results, in_parts: true, dataset_digest: digest, keep_errors: false });
}

/** Everything but the rows of example 2, one rollout of example 5, and what comes after example 9. */
const torn = (rows: readonly ResultRow[]): ResultRow[] =>
  rows.filter(({ example_id, rollout_index }) => example_id !== 2 && example_id < 10 && !(example_id === 5 && rollout_index === 1));

describe("a run continued from its folder", () => {
  it("runs what the folder lacks and what failed in the infrastructure, and keeps the rest to the byte", async () => {
    const { rows, digest } = await folder();
    const kept = torn(rows);
    const config = await continued(kept, digest);
    await fleet.settled(config.run_id);
    const after = await expectComplete(config);
    expect([...model.calls].sort(([a], [b]) => a - b)).toEqual([
      [2, 3],
      [4, 1],
      [5, 1],
      [8, 1],
      [10, 3],
      [11, 3],
    ]);
    const lineOf = new Map(after.map((row) => [`${row.example_id}/${row.rollout_index}`, JSON.stringify(row)]));
    for (const row of kept) if (codeOf(row) === null) expect(lineOf.get(`${row.example_id}/${row.rollout_index}`)).toBe(JSON.stringify(row));
  });

  it("leaves errors as they are when told so, also in an example of which a rollout is missing", async () => {
    const { rows, digest } = await folder();
    const config = await continued(
      rows.filter(({ example_id, rollout_index }) => !(example_id === 8 && rollout_index === 2)),
      digest,
      {},
      true,
    );
    await fleet.settled(config.run_id);
    const after = await expectComplete(config);
    expect([...model.calls]).toEqual([[8, 1]]);
    expect(after.filter((row) => codeOf(row) !== null).map(({ example_id }) => example_id)).toEqual([4, 8]);
  });

  it("that is complete makes no call, and ends as the run it was", async () => {
    const { rows, digest } = await folder();
    const config = await continued(
      rows.map((row) => (codeOf(row) === null ? row : { ...row, error: null })),
      digest,
    );
    await fleet.settled(config.run_id);
    const after = await expectComplete(config);
    expect(model.total).toBe(0);
    expect(after).toHaveLength(rows.length);
  });

  it("may grow, and is refused where the folder has rows of more examples", async () => {
    const { rows, digest } = await folder();
    const larger = await continued(rows, digest, { num_examples: 14 });
    await fleet.settled(larger.run_id);
    await expectComplete(larger);
    const asked = model.total;
    const smaller = await continued(rows, null, { num_examples: 3 });
    const view = await fleet.settled(smaller.run_id);
    expect(view).toMatchObject({ status: "FAILED", failure: { code: "resume_mismatch" } });
    expect(view.failure?.message).toContain("rows of example 3, which is not among the 3 examples");
    expect(model.total).toBe(asked);
  });

  it("numbers the rows of a file that does not, as they come", async () => {
    const { rows } = await folder();
    const foreign = torn(rows).map(({ rollout_index: _, ...row }) => row);
    const config = await continued(foreign, null);
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(model.calls.get(5)).toBe(1);
  });

  it("is refused when the data set is another", async () => {
    const { rows, digest } = await folder();
    const config = await continued(rows, digest, { env_args: { seed: 7 } });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "FAILED", failure: { code: "dataset_changed" } });
    expect(model.total).toBe(0);
  });

  it.each([
    ["not in the order of their examples", (rows: ResultRow[]) => rows.reverse(), "line 4"],
    ["with a rollout the run does not have", (rows: ResultRow[]) => [...rows, { ...rows.at(-1), rollout_index: 3 }], "line 37"],
    ["that belong to no example", () => [{ reward: 1 }], "line 1"],
  ])("is refused rows %s", async (_, change, where) => {
    const { rows, digest } = await folder();
    const config = await continued(change([...rows]), digest);
    const view = await fleet.settled(config.run_id);
    expect(view).toMatchObject({ status: "FAILED", failure: { code: "resume_mismatch" } });
    expect(view.failure?.message).toContain(where);
    expect(model.total).toBe(0);
  });

  it.each(["prepared", "inputs", "adopt", "adopted"])("takes the rows over once, though its executor dies at '%s'", async (method) => {
    const { rows, digest } = await folder();
    await fleet.close();
    setVars(QUICK);
    let died = false;
    fleet = new Fleet({
      model,
      onRun: async (call) => {
        const answer = await call.send();
        if (call.method !== method || died) return answer;
        died = true;
        call.by.kill();
        return NEVER;
      },
    });
    const config = await continued(torn(rows), digest);
    await fleet.settled(config.run_id);
    expect(died).toBe(true);
    await expectComplete(config);
    expect([...model.calls.keys()].sort((a, b) => a - b)).toEqual([2, 4, 5, 8, 10, 11]);
  });

  it("in parts is taken over part by part, by as many executors as it needs, and what it lacks is asked for meanwhile", async () => {
    const { rows, digest } = await folder();
    await fleet.close();
    setVars(QUICK);
    const seen: string[] = [];
    let deaths = 0;
    fleet = new Fleet({
      model,
      onFetch: async (call) => {
        seen.push("asked");
        return await call.send();
      },
      onRun: async (call) => {
        const answer = await call.send();
        if (call.method === "adopt") seen.push(`part ${(call.args[0] as { part: number }).part}`);
        if (call.method === "adopted") seen.push("adopted");
        // An eviction in the middle, after the second part and after the fourth.
        if (call.method !== "adopt" || ![1, 3].includes((call.args[0] as { part: number }).part) || deaths === 2) return answer;
        deaths++;
        call.by.kill();
        return NEVER;
      },
    });
    const config = await continuedInParts(torn(rows), digest, 2);
    await fleet.settled(config.run_id);
    expect(deaths).toBe(2);
    await expectComplete(config);
    expect([...model.calls.keys()].sort((a, b) => a - b)).toEqual([2, 4, 5, 8, 10, 11]);
    expect(seen.filter((each) => each.startsWith("part"))).toEqual(["part 0", "part 1", "part 2", "part 3", "part 4"]);
    expect(seen.indexOf("asked")).toBeLessThan(seen.indexOf("adopted"));
  });

  it("in parts of which one is gone ends the run by name, and asks for what is missing at most", async () => {
    const { rows, digest } = await folder();
    const config = await continuedInParts(
      rows.filter(({ example_id }) => example_id !== 11),
      digest,
      4,
    );
    const { objects } = await service.BUCKET.list({ prefix: "datasets/" });
    const manifest = objects.find(({ size }) => size < 1_000);
    const { parts } = JSON.parse((await (await service.BUCKET.get(manifest?.key ?? ""))?.text()) ?? "{}") as { parts: FolderPart[] };
    await service.BUCKET.delete(datasetKey(parts.at(-1)?.digest ?? ""));
    const view = await fleet.settled(config.run_id);
    expect(view).toMatchObject({
      status: "FAILED",
      importing: true,
      failure: { code: "resume_mismatch", message: "The uploaded rows of the result folder are gone." },
    });
    expect([...model.calls.keys()].filter((example) => ![4, 8, 11].includes(example))).toEqual([]);
  });

  it("has no row with a key of this process in anything that is kept of it", async () => {
    const { rows, digest } = await folder();
    holdKey("sk-of-this-process-0123456789");
    const told = rows.map((row) =>
      row.example_id === 3 ? { ...row, completion: [{ role: "assistant", content: "It is sk-of-this-process-0123456789, is it not?" }] } : row,
    );
    const config = await continuedInParts(told, digest, 3);
    await fleet.settled(config.run_id);
    const after = await expectComplete(config);
    expect(after.filter(({ example_id }) => example_id === 3).map(({ completion }) => JSON.stringify(completion))).toEqual(
      Array(3).fill('[{"role":"assistant","content":"It is [secret], is it not?"}]'),
    );
    expect(after.filter(({ example_id }) => example_id !== 3 && example_id !== 4 && example_id !== 8)).toEqual(
      rows.filter(({ example_id }) => example_id !== 3 && example_id !== 4 && example_id !== 8),
    );
  });

  it("of more rows than a segment holds is written to several, and read back sorted", async () => {
    const { rows } = await folder();
    const [row] = rows;
    const many = Array.from({ length: 1_400 }, (_, example) => ({ ...row, example_id: example, rollout_index: 0, answer: "x".repeat(4_000) }));
    const config = await continued(many, null, { num_examples: 1_400, rollouts_per_example: 1 });
    await fleet.settled(config.run_id);
    expect(namesOf(await expectComplete(config))).toHaveLength(1_400);
    expect(model.total).toBe(0);
    const size = (await service.BUCKET.head(outputKey(config.env_id, config.model, config.run_id, "results.jsonl")))?.size ?? 0;
    expect(size).toBeGreaterThan(5 * 1024 * 1024);
  });
});
