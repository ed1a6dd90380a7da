import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_RESULT_ROW_BYTES } from "../../../src/rollouts/rows/row.ts";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { imported } from "../../support/results/imported-runs.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/imports");
const MATCH = join(FIXTURES, "openai-evals/match.jsonl");

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-import-broken-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const put = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(cwd, name), content);
  return name;
};
const refused = async (name: string, ...args: readonly string[]): Promise<string> => {
  const { code, err, runs } = await imported(cwd, name, ...args);
  expect({ code, runs }).toEqual({ code: 1, runs: [] });
  return err;
};
const archive = (entries: Readonly<Record<string, unknown>>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(entries).map(([name, value]) => [name, new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))]),
    ),
  );

const START = { version: 2, eval: { task: "t", model: "m", dataset: { sample_ids: ["b", "a"] } }, plan: {} };
const SAMPLE = { id: "a", epoch: 1, input: "hi", target: "x", messages: [{ role: "user", content: "hi" }], scores: { match: { value: "C" } } };

describe("what cannot be imported", () => {
  it("is named by file, line or entry, and what was expected there", async () => {
    const lines = readFileSync(MATCH, "utf8").split("\n");
    put("cut.jsonl", [...lines.slice(0, 3), lines[3]?.slice(0, 50), ...lines.slice(4)].join("\n"));
    expect(await refused("cut.jsonl")).toMatch(/cut\.jsonl: line 4 is no JSON object \(.+\); expected an event of OpenAI Evals/);
    put("other.jsonl", [...lines.slice(0, 2), '{"hello": 1}', ""].join("\n"));
    expect(await refused("other.jsonl")).toContain("other.jsonl: line 3 is no event; expected an event of OpenAI Evals");
    put("bad.eval", archive({ "header.json": START, "samples/a_epoch_1.json": '{"id": "a"' }));
    expect(await refused("bad.eval")).toContain("bad.eval: entry samples/a_epoch_1.json is no JSON object");
    const whole = readFileSync(join(FIXTURES, "inspect/reversed-words.eval"));
    put("torn.eval", whole.subarray(0, 5000));
    expect(await refused("torn.eval")).toContain("torn.eval: is no whole zip file");
    const flipped = Uint8Array.from(whole);
    for (let at = 1000; at < 1040; at++) flipped[at] = 0;
    put("flipped.eval", flipped);
    expect(await refused("flipped.eval")).toMatch(/flipped\.eval: entry \S+ cannot be read: /);
    expect(await refused(put("notes.zip", archive({ "a.txt": "hello" })))).toContain("notes.zip: is a zip file without header.json; expected an Inspect log");
    expect(await refused(put("list.json", "[1, 2]"))).toContain("list.json: is no JSON; expected");
    expect(await refused(put("text.json", "hello"))).toContain("text.json: is no JSON; expected");
    expect(await refused(put("some.json", '{"a": 1}'))).toContain("some.json: is of no log that is known; expected an Inspect log");
    expect(existsSync(join(cwd, "outputs"))).toBe(false);
  });

  it("is told for lm-evaluation-harness where the results or the samples are missing", async () => {
    const samples = "samples_words_reversed_2026-11-22T13-46-34.648424.jsonl";
    copyFileSync(join(FIXTURES, "lm-eval", samples), join(cwd, samples));
    expect(await refused(samples)).toContain("expected results_2026-11-22T13-46-34.648424.json beside it");
    const results = "results_2026-11-22T13-46-54.852905.json";
    copyFileSync(join(FIXTURES, "lm-eval", results), join(cwd, results));
    expect(await refused(results)).toContain("expected samples_TASK_2026-11-22T13-46-54.852905.jsonl, which `--log_samples` writes");
  });

  it("is what --format says otherwise of, a place that is not there, and a folder without logs", async () => {
    expect(await refused(MATCH, "-f", "promptfoo")).toContain("is a log of openai-evals; expected one of promptfoo");
    expect(await imported(cwd, MATCH, "-f", "xml")).toMatchObject({
      code: 2,
      err: expect.stringContaining("inspect, lm-eval, promptfoo, openai-evals, verifiers"),
    });
    expect(await imported(cwd, "nowhere")).toMatchObject({ code: 2, err: expect.stringContaining("nowhere is not there") });
    mkdirSync(join(cwd, "empty"));
    expect(await imported(cwd, "empty")).toMatchObject({ code: 2, err: expect.stringContaining("empty holds no log") });
  });

  it("keeps nothing of what could be imported from being so", async () => {
    put("some.json", '{"a": 1}');
    expect(await imported(cwd, "some.json", MATCH)).toMatchObject({ code: 1, runs: [{ rows: { length: 5 } }] });
  });
});

describe("a log that is not whole", () => {
  it("of OpenAI Evals has what was written, and says so", async () => {
    const lines = readFileSync(MATCH, "utf8").trimEnd().split("\n");
    const kept = lines.filter((line) => !line.includes("final_report"));
    put("killed.jsonl", `${kept.slice(0, -1).join("\n")}\n${kept.at(-1)?.slice(0, 40)}`);
    const { code, runs } = await imported(cwd, "killed.jsonl");
    expect(code).toBe(0);
    expect(runs[0]?.metadata.edgewise).toMatchObject({
      status: "CANCELLED",
      imported: {
        notes: [
          expect.stringContaining("no final report"),
          expect.stringContaining("is cut and left out"),
          expect.stringContaining("neither a reward nor an error"),
        ],
      },
    });
  });

  it("of Inspect has the samples that were finished, in the order of the data set", async () => {
    put(
      "killed.eval",
      archive({
        "_journal/start.json": START,
        "samples/a_epoch_1.json": SAMPLE,
        "samples/b_epoch_1.json": { ...SAMPLE, id: "b", scores: { match: { value: "I" } } },
      }),
    );
    const { runs } = await imported(cwd, "killed.eval");
    expect(runs[0]?.rows.map(({ source_id, reward }) => [source_id, reward])).toEqual([
      ["b", 0],
      ["a", 1],
    ]);
    expect(runs[0]?.metadata.edgewise).toMatchObject({ status: "CANCELLED", imported: { notes: [expect.stringContaining("no end of its run")] } });
  });
});

describe("a sample of Inspect", () => {
  it("has tool calls, reasoning, attachments and several scores where rows have them", async () => {
    const sample = {
      ...SAMPLE,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image", image: "attachment://00ff" },
          ],
        },
        {
          role: "assistant",
          source: "generate",
          content: [
            { type: "reasoning", reasoning: "hm" },
            { type: "text", text: "attachment://11ff" },
          ],
          tool_calls: [{ id: "call_1", function: "add", arguments: { a: 1 }, type: "function" }],
        },
        { role: "tool", content: "2", tool_call_id: "call_1", function: "add" },
      ],
      attachments: { "00ff": "data:,x", "11ff": "long text" },
      scores: { match: { value: "P" }, parts: { value: { match: 2, tone: "yes", other: "blue" } }, none: { value: null } },
      limit: { type: "token", limit: 10 },
    };
    put("rich.eval", archive({ "header.json": { ...START, status: "success" }, "samples/a_epoch_1.json": sample }));
    const { runs } = await imported(cwd, "rich.eval");
    expect(runs[0]?.rows[0]).toMatchObject({
      prompt: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "data:,x" } },
          ],
        },
      ],
      completion: [
        {
          role: "assistant",
          content: [{ type: "text", text: "long text" }],
          reasoning_content: "hm",
          tool_calls: ['{"id": "call_1", "name": "add", "arguments": "{\\"a\\":1}"}'],
        },
        { role: "tool", tool_call_id: "call_1", content: "2", name: "add" },
      ],
      reward: 0.5,
      metrics: { match: 0.5, "parts/match": 2, tone: 1 },
      info: { scores: { parts: { value: { other: "blue" } } } },
      is_truncated: true,
      stop_condition: "token",
    });
    expect((await runInProcess(["export", runs[0]?.path ?? "", "-o", "out"], { cwd })).code).toBe(0);
  });

  it("that is larger than a row may be loses its parts before its scores, and the run says so", async () => {
    const long = "x".repeat(MAX_RESULT_ROW_BYTES);
    const messages = [...SAMPLE.messages, { role: "assistant", source: "generate", content: long }];
    put("long.eval", archive({ "header.json": { ...START, status: "success" }, "samples/a_epoch_1.json": { ...SAMPLE, messages } }));
    const { runs } = await imported(cwd, "long.eval");
    expect(runs[0]?.rows[0]).toMatchObject({ completion: null, reward: 1, error: null });
    expect(runs[0]?.metadata.edgewise).toMatchObject({
      imported: { notes: expect.arrayContaining([expect.stringContaining("without completion")]) as unknown },
    });
  });
});
