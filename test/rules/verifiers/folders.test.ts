import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROTOCOL, type AdoptedUnit, type Grant } from "../../../durable-objects/run/protocol.ts";
import { readFolder } from "../../../src/cli/results/resume-folder.ts";
import type { JsonObject, ResultsShape } from "../../../src/config/plan/run-config.ts";
import { numberedLine, readForeignRow } from "../../../src/rollouts/rows/foreign-row.ts";
import { loadEnvironment } from "../../../src/environments/definition/load.ts";
import { errorLines, runUnit } from "../../../src/environments/unit/run-unit.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { adoptFolder, questionOf } from "../../../src/executor/preparation/adopt.ts";
import type { ExecutorPorts } from "../../../src/executor/ports.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { PlainReport } from "../../../src/report/plain-report.ts";
import { grantFor } from "../../support/run/executor-ports.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

/** Folders that Python's verifiers wrote (tools/verifiers-round-trip.ts): of a run that was interrupted, and of one of ours that it finished. */
const FOLDERS = join(import.meta.dirname, "../../fixtures/verifiers-folders");
/** One row as verifiers 0.1.9 wrote it, by hand: such folders are of 2025, and that version installs no more. */
const OLD = join(import.meta.dirname, "../../fixtures/verifiers-0.1.9");
const linesOf = (name: string): string[] =>
  readFileSync(join(FOLDERS, name, "results.jsonl"), "utf8")
    .split("\n")
    .slice(0, -1);
const names = (end: string): string[] => readdirSync(FOLDERS).filter((name) => name.endsWith(end));

interface Adopted {
  /** The rows as they are stored, and their units. */
  readonly lines: readonly string[];
  readonly units: readonly AdoptedUnit[];
  /** What the log says of them. */
  readonly notes: readonly string[];
}

/** What a run of examples 0 to `examples` - 1 takes over of these lines; with `prompts`, one per example, these are compared. */
async function adopted(lines: readonly string[], rollouts = 2, examples = 6, prompts: readonly unknown[] | null = null): Promise<Adopted> {
  const notes: string[] = [];
  const stored: string[] = [];
  const units: AdoptedUnit[] = [];
  const ports = {
    sleep: () => Promise.resolve(),
    store: {
      stream: () => Promise.resolve(new Blob([lines.map((line) => `${line}\n`).join("")]).stream()),
      readAll: () =>
        Promise.resolve(
          new TextEncoder().encode(Array.from({ length: examples }, (_, id) => `${JSON.stringify({ example_id: id, prompt: prompts?.[id] })}\n`).join("")),
        ),
      create: (_: string, bytes: Uint8Array) => Promise.resolve(stored.push(new TextDecoder().decode(bytes))),
    },
    run: () => ({
      inputs: () => Promise.resolve({ kind: "inputs", chunks: [{ lo: 0, hi: examples, digest: "d".repeat(64), bytes: 1 }] }),
      adopt: (request: { units: string }) => Promise.resolve(units.push(...(JSON.parse(request.units) as AdoptedUnit[]))),
      note: ({ message }: { message: string }) => Promise.resolve(notes.push(message)),
      adopted: () => Promise.resolve({ kind: "ok" }),
    }),
  };
  const grant: Grant = { ...grantFor({ rollouts_per_example: rollouts, num_examples: examples }), protocol: PROTOCOL };
  const source = { results: "d".repeat(64), dataset_digest: prompts === null ? "d".repeat(64) : null };
  await adoptFolder(ports as unknown as ExecutorPorts, grant, { kind: "adopt", source, part: 0 }, new AbortController().signal);
  return { lines: stored.join("").split("\n").slice(0, -1), units, notes };
}

const sorted = (lines: readonly string[]): string[] => lines.toSorted((a, b) => exampleOf(a) - exampleOf(b));
const exampleOf = (line: string): number => Number((JSON.parse(line) as { example_id: number }).example_id);

describe("rows of the Python library", () => {
  it("keep every byte, and get the number of their attempt", async () => {
    for (const name of names("-interrupted")) {
      const lines = sorted(linesOf(name));
      expect(lines.length).toBeGreaterThan(1);
      const { lines: after, units } = await adopted(lines);
      expect(after).toHaveLength(lines.length);
      for (const line of after) expect(line).toMatch(/, "rollout_index": \d\}$/);
      expect(after.map((line) => line.replace(/, "rollout_index": \d\}$/, "}"))).toEqual(lines);
      expect(units.map(({ rollouts }) => rollouts.length)).toEqual(units.map(() => 2));
      expect(units.flatMap(({ rollouts }) => rollouts.flatMap((rollout) => rollout?.reward ?? []))).toEqual(
        lines.map((line) => (JSON.parse(line) as { reward: number }).reward),
      );
    }
  });

  it("lose only NaN and Infinity, for which JSON has no word", () => {
    const { text, value } = readForeignRow('{"reward": NaN, "a": [-Infinity, 1.0, Infinity], "text": "NaN \\"-Infinity\\" \\\\"}');
    expect(text).toBe('{"reward": null, "a": [null, 1.0, null], "text": "NaN \\"-Infinity\\" \\\\"}');
    expect(value).toEqual({ reward: null, a: [null, 1, null], text: 'NaN "-Infinity" \\' });
    for (const line of ["[1]", "null", '{"a": nan}', '{"a": ', "NaN"]) expect(() => readForeignRow(line), line).toThrow(SyntaxError);
  });

  it("are numbered in their own notation, and keep a number they have", () => {
    const numbered = (line: string, index: number): string => numberedLine(readForeignRow(line), index);
    expect(numbered('{"example_id": 0, "x": 1.0}', 1)).toBe('{"example_id": 0, "x": 1.0, "rollout_index": 1}');
    expect(numbered('{"example_id":0,"x":1}', 1)).toBe('{"example_id":0,"x":1,"rollout_index":1}');
    expect(numbered('{"example_id": 0, "rollout_index": 1}', 1)).toBe('{"example_id": 0, "rollout_index": 1}');
  });

  it("beside rows of ours take the attempts that are left", async () => {
    const lines = ['{"example_id":0,"rollout_index":1,"reward":0.5}', '{"example_id":0,"reward":0.25}', '{"example_id":0,"reward":0.75}'];
    const { lines: after } = await adopted(lines, 3);
    expect(after.map((line) => JSON.parse(line) as unknown)).toEqual([
      { example_id: 0, rollout_index: 0, reward: 0.25 },
      { example_id: 0, rollout_index: 1, reward: 0.5 },
      { example_id: 0, rollout_index: 2, reward: 0.75 },
    ]);
  });

  it("are refused by line when they are no rows, or too many", async () => {
    const row = '{"example_id": 0, "reward": 1.0}';
    await expect(adopted([row, row, row])).rejects.toThrow("results.jsonl line 3: example 0 has more rows than rollouts_per_example 2");
    await expect(adopted([row, '{"example_id": 0, "rew', row])).rejects.toThrow(/results\.jsonl line 2: not JSON/);
    await expect(adopted(['{"example_id": 1}', row])).rejects.toThrow(/line 2: example_id 0 follows 1/);
  });
});

describe("rows of one example with different prompts", () => {
  const row = (example_id: number, prompt: string): string => JSON.stringify({ example_id, prompt: [{ role: "user", content: prompt.repeat(40) }], reward: 1 });
  const marks = ({ units }: Adopted): unknown[] => units.flatMap(({ rollouts }) => rollouts.map((rollout) => rollout?.other_prompt === true));

  it("are taken over as no attempts at one thing", async () => {
    expect(marks(await adopted([row(0, "a"), row(0, "b"), row(1, "c"), row(1, "c")]))).toEqual([false, true, false, false]);
    expect(marks(await adopted([row(0, "a"), row(1, "c")], 1))).toEqual([false, false]);
  });
});

describe("rows of other data", () => {
  it("are told in the log where the question is another one, and refused where there is no such example", async () => {
    const environment = await loadEnvironment("reverse-text", {}, { datasets: memoryDatasets() });
    const inputs = await Array.fromAsync(environment.examples(6));
    const prompts = inputs.map(({ prompt }) => prompt);
    const lines = sorted(linesOf("0.1.14-interrupted"));
    expect((await adopted(lines, 2, 6, prompts)).notes).toEqual([]);
    const { notes } = await adopted(lines, 2, 6, ["another", "one", ...prompts.slice(2)]);
    expect(notes).toEqual([expect.stringMatching(/^The rows of 2 of 6 examples \(0, 1\) have another prompt than the data set/)]);
    const foreign = lines.map((line) => line.replace('"example_id": 1,', '"example_id": 77,'));
    await expect(adopted(sorted(foreign))).rejects.toThrow(/has rows of example 77, which is not among the 6 examples/);
    // However few examples are asked for: nothing of a folder is left out.
    await expect(adopted(lines, 2, 1)).rejects.toThrow(/has rows of example 1, which is not among the 1 examples/);
  });

  it("are compared by the text of their last message, in whatever form", () => {
    const parts = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(
      [
        "ab",
        [
          { role: "system", content: "x" },
          { role: "user", content: "ab" },
        ],
        [{ role: "user", content: parts }],
      ].map(questionOf),
    ).toEqual(["ab", "ab", "ab"]);
  });
});

describe("a folder of the Python library", () => {
  it("says what its rows look like", () => {
    const shapes = names("-interrupted").map((name) => {
      const found = readFolder(join(FOLDERS, name));
      if (typeof found === "string") throw new Error(found);
      expect(found).toMatchObject({ runId: null, metadata: { env_id: "reverse-text", model: "scripted", edgewise: null, shuffled: false } });
      return [name, found.metadata?.shape];
    });
    expect(shapes).toEqual([
      ["0.1.12-interrupted", "0.1.13"],
      ["0.1.14-interrupted", "0.1.14"],
    ]);
  });

  it("goes on with rows of the same keys in the same order", async () => {
    for (const name of names("-interrupted")) {
      const theirs = readForeignRow(linesOf(name)[0] ?? "").value;
      const shape: ResultsShape = name.startsWith("0.1.14") ? "0.1.14" : "0.1.13";
      const { rollout_index, ...ours } = await freshRow(shape);
      expect(rollout_index).toBe(0);
      expect(Object.keys(ours), name).toEqual(Object.keys(theirs));
      expect(kindsOf(ours.timing), name).toEqual(kindsOf(theirs.timing));
    }
  });

  it("of 0.1.9 or before goes on with its times and metrics among the other fields, and is counted by them", async () => {
    const found = readFolder(OLD);
    expect(found).toMatchObject({ metadata: { shape: "0.1.9", edgewise: null } });
    const { value } = readForeignRow(readFileSync(join(OLD, "results.jsonl"), "utf8").split("\n")[0] ?? "");
    const { rollout_index, ...ours } = await freshRow("0.1.9");
    expect(rollout_index).toBe(0);
    expect(Object.keys(ours)).toEqual(Object.keys(value));
    expect(kindsOf(ours)).toEqual(kindsOf(value));
    for (const row of [value, ours]) expect(summaryOfRow(row).metrics).toEqual({ similarity: expect.any(Number), num_turns: 1 });
    const report = new PlainReport({ env_id: "e", model: "m", base_url: "", num_examples: 1, rollouts_per_example: 1 } as ConstructorParameters<
      typeof PlainReport
    >[0]);
    report.addRow(value);
    expect(report.lines()).toEqual(expect.arrayContaining(["generation: min - 2s, mean - 2s, max - 2s", "num_turns: avg - 1.000, std - 0.000"]));
  });

  it("of that age shows an error where there is one, so that a resume knows it", () => {
    const environment = new SingleTurnEnv({ dataset: [] });
    const input = { example_id: 0, prompt: [], task: "t" };
    const options = { rolloutsPerExample: 1, model: "m", sampling_args: {}, stateColumns: ["extra"], now: () => 0, shape: "0.1.9" } as const;
    const [line = ""] = errorLines(environment, input, { ...options, code: "rate_limited", message: "later" }).lines;
    expect(Object.keys(JSON.parse(line) as object)).toEqual([
      ...["example_id", "prompt", "completion", "task", "reward", "error", "generation_ms", "scoring_ms", "total_ms", "rollout_index", "extra"],
    ]);
    expect(summaryOfRow(JSON.parse(line) as Record<string, unknown>).error).toBe("rate_limited");
  });

  it("is read by the report in either shape", () => {
    for (const name of readdirSync(FOLDERS)) {
      const metadata = JSON.parse(readFileSync(join(FOLDERS, name, "metadata.json"), "utf8")) as ConstructorParameters<typeof PlainReport>[0];
      const report = new PlainReport(metadata);
      for (const line of linesOf(name)) report.addRow(readForeignRow(line).value);
      const lines = report.lines();
      for (const time of ["generation", "total"]) expect(lines.join("\n"), name).toMatch(new RegExp(`^${time}: min - .*[1-9]`, "m"));
    }
  });
});

describe("a run of ours that the Python library finished", () => {
  it("has our rows as they were, and all attempts of every example", async () => {
    for (const name of names("-finished")) {
      const lines = linesOf(name);
      const ours = lines.filter((line) => line.includes("rollout_index"));
      expect(ours.length, name).toBeGreaterThan(0);
      expect(ours.length, name).toBeLessThan(lines.length);
      const { lines: after } = await adopted(lines);
      expect(after.map((line) => [exampleOf(line), (JSON.parse(line) as { rollout_index: number }).rollout_index])).toEqual(
        Array.from({ length: 12 }, (_, at) => [Math.floor(at / 2), at % 2]),
      );
      for (const line of ours) expect(after).toContain(line);
    }
  });
});

/** Names and types, through all levels; a list stands for its first element. */
function kindsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(kindsOf);
  if (value === null || typeof value !== "object") return typeof value;
  return Object.entries(value).map(([key, inner]) => [key, kindsOf(inner)]);
}

async function freshRow(shape: ResultsShape): Promise<JsonObject> {
  const environment = await loadEnvironment("reverse-text", {}, { datasets: memoryDatasets() });
  const [input] = await Array.fromAsync(environment.examples(1));
  if (input === undefined) throw new Error("no example");
  const message = { role: "assistant", content: "no", finish_reason: "stop", is_truncated: false, tokens: null } as const;
  const usage = { prompt_tokens: 20, completion_tokens: 10, reasoning_tokens: 0, total_tokens: 30 };
  const { lines } = await runUnit(inProcess(environment), input, {
    unit: 0,
    rollouts: [0],
    kept: [],
    rolloutsPerExample: 1,
    client: { getResponse: () => Promise.resolve({ id: "r", model: "m", created: 0, usage, message }) } as never,
    model: "m",
    sampling_args: {},
    maxRetries: 0,
    independent: false,
    stateColumns: [],
    shape,
    signal: new AbortController().signal,
    deadlineMs: null,
    now: () => Date.now(),
    sleep: async () => undefined,
    random: () => 0,
  });
  return JSON.parse(lines[0] ?? "") as JsonObject;
}
