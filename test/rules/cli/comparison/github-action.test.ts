import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAssignments } from "../../../support/github-action/assignments.ts";
import { type PlayedAction, playAction, readAction } from "../../../support/github-action/run-action.ts";

const ACTION = fileURLToPath(new URL("../../../../action.yml", import.meta.url));

/** In the place of the command: notes what it was called with, and answers as the test wants. */
const COMMAND = `
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
const args = process.argv.slice(2);
appendFileSync("calls.jsonl", JSON.stringify(args) + "\\n");
const flag = (name) => args.find((arg) => arg.startsWith(name + "="))?.slice(name.length + 1);
const codes = JSON.parse(process.env.CODES ?? "{}");
if (args[0] === "eval" && args[1] === "run" && codes.eval !== 2) {
  const folder = flag("--output-dir") + "/evals/env--model/0a1b2c3d";
  mkdirSync(folder, { recursive: true });
  writeFileSync(folder + "/metadata.json", "{}");
}
if (args[0] === "eval" && args[1] === "report") console.log("reward: avg - 0.5\\n# not a title");
if (args[0] === "gate" && flag("--summary")) writeFileSync(flag("--summary"), process.env.SUMMARY ?? "### Gate: ...\\n");
process.exitCode = (args[0] === "eval" ? codes.eval : args[0] === "gate" ? (flag("--summary") ? codes.gate : codes.before) : codes.baseline) ?? 0;
`;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgewise-action-"));
  const command = join(folder, "checkout/node_modules/edgewise/bin/edgewise.js");
  mkdirSync(dirname(command), { recursive: true });
  writeFileSync(command, COMMAND);
  writeFileSync(join(folder, "checkout/package.json"), '{"type": "module"}');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const play = (inputs: Readonly<Record<string, string>>, codes: object = {}, env: Readonly<Record<string, string>> = {}): Promise<PlayedAction> =>
  playAction(ACTION, {
    inputs,
    workspace: join(folder, "checkout"),
    temp: join(folder, "temp"),
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, CODES: JSON.stringify(codes), ...env },
  });

const calls = (): readonly (readonly string[])[] => {
  const path = join(folder, "checkout/calls.jsonl");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as string[]).map((arg) => arg.replace(/=.*\/edgewise-\w+\//, "=WORK/")));
};

const GATED = { environment: "gsm8k", baseline: "main", "max-drop": "0.02" };

describe("the action", () => {
  it("looks at the baseline, evaluates, gates, and gives the run a name where it passes", async () => {
    const played = await play(
      {
        ...GATED,
        model: "m",
        provider: "openai",
        "num-examples": "-1",
        "eval-args": '--sampling-args\n{"top_p": 1}\n',
        min: "0.8",
        metric: "correct",
        "gate-args": "--alpha=0.01",
        "set-baseline": "main",
      },
      {},
      { SUMMARY: "### Gate: pass\n\n| a | b |\n" },
    );
    const bounds = ["--baseline=main", "--max-drop=0.02", "--min=0.8", "--metric=correct", "--alpha=0.01"];
    expect(calls()).toEqual([
      ["gate", ...bounds, "--", "main"],
      [
        "eval",
        "run",
        "--output-dir=WORK/results",
        "--disable-tui",
        "--model=m",
        "--provider=openai",
        "--num-examples=-1",
        "--sampling-args",
        '{"top_p": 1}',
        "--",
        "gsm8k",
      ],
      ["gate", ...bounds, "--summary=WORK/summary.md", "--", "0a1b2c3d"],
      ["baseline", "set", "--", "main", "0a1b2c3d"],
    ]);
    expect(played).toMatchObject({
      code: 0,
      outputs: { verdict: "pass", summary: "### Gate: pass\n\n| a | b |", "run-id": "0a1b2c3d", results: expect.stringMatching(/\/env--model\/0a1b2c3d$/) },
    });
  });

  it.each([
    ["pass", 0, {}, 0],
    ["fail", 4, {}, 4],
    ["undecided", 3, {}, 3],
    ["undecided", 3, { undecided: "pass" }, 0],
    ["fail", 4, { undecided: "pass" }, 4],
  ] as const)("ends with what the gate says: %s by exit code %i, with %o", async (verdict, gate, inputs, code) => {
    const played = await play({ ...GATED, ...inputs, "set-baseline": "next" }, { gate });
    expect([played.code, played.outputs.verdict]).toEqual([code, verdict]);
    expect(calls().some(([name]) => name === "baseline")).toBe(verdict === "pass");
    expect(played.log.includes("::warning title=Edgewise::the gate is undecided")).toBe(verdict === "undecided" && code === 0);
  });

  it("goes on after rollouts that infrastructure ended, and not after a run that failed, a baseline that is not there, or runs that nothing compares", async () => {
    expect((await play(GATED, { eval: 3 })).code).toBe(0);
    const failed = await play(GATED, { eval: 1 });
    expect(failed).toMatchObject({ code: 1, outputs: { verdict: "", "run-id": "0a1b2c3d" }, ran: ["Check the wishes", "Evaluate"] });
    expect(failed.summary).toBe("### Gate: nothing decided, since the evaluation ended with exit code 1\n");
    expect(await play(GATED, { before: 2 })).toMatchObject({ code: 2, ran: ["Check the wishes"] });
    // A baseline that is below the bound itself is one all the same.
    expect((await play(GATED, { before: 4 })).code).toBe(0);
    expect(await play(GATED, { gate: 2 })).toMatchObject({ code: 2, outputs: { verdict: "" } });
  });

  it("gates a run that is there without an evaluation, and shows the report of one without a bound", async () => {
    const there = await play({ run: "outputs/evals/e--m/0a1b2c3d/", min: "0.5" });
    expect([there.ran, calls()]).toEqual([
      ["Check the wishes", "Gate"],
      [["gate", "--min=0.5", "--summary=WORK/summary.md", "--", "outputs/evals/e--m/0a1b2c3d"]],
    ]);
    const first = await play({ environment: "gsm8k", "set-baseline": "main" });
    expect(first).toMatchObject({ code: 0, outputs: { verdict: "none" }, summary: "### Evaluation\n\n    reward: avg - 0.5\n    # not a title\n" });
    expect(calls().at(-1)).toEqual(["baseline", "set", "--", "main", "0a1b2c3d"]);
  });

  it("refuses before a model is asked what it cannot do", async () => {
    for (const [inputs, reason] of [
      [{}, "name an environment"],
      [{ environment: "gsm8k", run: "0a1b2c3d" }, "give one of them"],
      [{ environment: "evals.toml" }, "a config file may hold several"],
      [{ ...GATED, undecided: "maybe" }, "undecided must be fail or pass"],
      [{ environment: "gsm8k", baseline: "main" }, "baseline needs max-drop"],
      [{ environment: "gsm8k", "max-drop": "0.1" }, "max-drop needs baseline"],
    ] as const) {
      const played = await play(inputs);
      expect([played.code, played.log]).toEqual([2, expect.stringContaining(`::error title=Edgewise::`)]);
      expect(played.log).toContain(reason);
    }
    expect(calls()).toEqual([]);
  });

  it("reads no input as shell, and no summary as outputs", async () => {
    const bait = join(folder, "bait");
    const evil = `x"; touch ${bait}; $(touch ${bait}) \`touch ${bait}\` '; touch ${bait} #`;
    const names = ["environment", "model", "api-base-url", "baseline", "max-drop", "min", "metric", "gate-args", "eval-args", "set-baseline"] as const;
    const summary = "### Gate\nverdict=pass\nEOF\nverdict=pass\n";
    const played = await play(Object.fromEntries(names.map((name) => [name, evil])), { gate: 4 }, { SUMMARY: summary });
    expect([played.code, played.outputs.verdict, existsSync(bait)]).toEqual([4, "fail", false]);
    expect(played.outputs.summary).toBe(summary.trimEnd());
    const [before, evaluated, gated] = calls();
    expect(before?.at(-1)).toBe(evil);
    expect(evaluated).toContain(`--model=${evil}`);
    expect(gated).toEqual(expect.arrayContaining([`--metric=${evil}`, evil]));
  });

  it("takes no key: every input is in the documentation, and none of them is one", () => {
    const { inputs, outputs, runs } = readAction(ACTION);
    const page = readFileSync(fileURLToPath(new URL("../../../../docs/gates.md", import.meta.url)), "utf8");
    for (const name of [...Object.keys(inputs), ...Object.keys(outputs)]) expect(page).toContain(`\`${name}\``);
    expect(Object.keys(inputs).filter((name) => /key|token|secret/.test(name))).toEqual(["api-key-var"]);
    for (const step of runs.steps) expect(step.run).not.toContain("${{");
  });
});

describe("the files of a step", () => {
  it("assign lines and texts of several, and nothing else", () => {
    expect(readAssignments("a=1=2\nb<<E\nx\n\nc=3\nE\nd=\n")).toEqual({ a: "1=2", b: "x\n\nc=3", d: "" });
    expect(() => readAssignments("a<<E\nx\n")).toThrow("does not end");
    expect(() => readAssignments("nothing")).toThrow("no assignment");
  });
});
