import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fitted, lineOf, type Size, span, textOf } from "../../../../src/cli/terminal/canvas.ts";
import { findRuns } from "../../../../src/cli/view/find-runs.ts";
import { KeyReader } from "../../../../src/cli/terminal/keys.ts";
import type { ViewContext } from "../../../../src/cli/view/page.ts";
import { sectionsOf } from "../../../../src/cli/view/row-facts.ts";
import { RunInfos } from "../../../../src/cli/view/run-infos.ts";
import { Screen } from "../../../../src/cli/view/screen.ts";
import { topFor } from "../../../../src/cli/terminal/scroll.ts";
import { patternOf, RolloutSearch } from "../../../../src/cli/view/search.ts";
import { firstPage } from "../../../../src/cli/view/show.ts";
import { Viewer } from "../../../../src/cli/view/viewer.ts";
import { textWidth } from "../../../../src/report/text/text-width.ts";
import { until } from "../../../support/cli/cli-process.ts";

const SMALL: Size = { columns: 80, rows: 24 };
const LARGE: Size = { columns: 200, rows: 50 };

let place = "";
let open: Driven[] = [];
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "edgewise-pages-"));
});
afterEach(async () => {
  for (const driven of open) await driven.viewer.end();
  open = [];
  rmSync(place, { recursive: true, force: true });
});

type Json = Readonly<Record<string, unknown>>;

function makeRun(id: string, rows: readonly Json[], more: Json = {}): void {
  const path = join(place, "outputs/evals/my-env--openai--small", id);
  mkdirSync(path, { recursive: true });
  const metadata = { env_id: "my-env", model: "openai/small", num_examples: rows.length, rollouts_per_example: 1, sampling_args: {}, avg_reward: 0.5, ...more };
  writeFileSync(join(path, "metadata.json"), JSON.stringify(metadata));
  writeFileSync(join(path, "results.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

const rollout = (id: number, more: Json = {}): Json => ({
  example_id: id,
  prompt: [{ role: "user", content: `question ${id}` }],
  completion: [{ role: "assistant", content: `answer ${id}` }],
  answer: "gold",
  reward: id % 2,
  error: null,
  metrics: { correct: id % 2 },
  ...more,
});

/** The viewer without a terminal: keys go in, what the screen shows comes out. */
class Driven {
  readonly viewer: Viewer;
  readonly copied: string[] = [];
  private failure: unknown = null;
  size: Size = SMALL;

  constructor(path: string | null = null) {
    const runs = findRuns(place, { path, envDir: "./environments", outputsDir: "./outputs" });
    const changed = (): void => undefined;
    const work = (task: Promise<unknown>): void =>
      void task.catch((error: unknown) => {
        this.failure = error;
      });
    const context: ViewContext = { runs, infos: new RunInfos(changed), changed, work };
    this.viewer = new Viewer(firstPage(context, path === null ? null : (runs[0] ?? null)), (text) => this.copied.push(text));
    open.push(this);
  }

  get lines(): readonly string[] {
    if (this.failure !== null) throw this.failure;
    return this.viewer.draw(this.size).map(textOf);
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** Presses keys, then waits until the screen shows a text. */
  async to(text: string | RegExp, ...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.viewer.key(key);
    const shown = (): boolean => (typeof text === "string" ? this.text.includes(text) : text.test(this.text));
    await until(shown, 5000, () => `${text} in:\n${this.text}`);
  }
}

describe("the tree", () => {
  it("opens and closes, and shows what is known of what is chosen", async () => {
    makeRun("aaaaaaaa", [rollout(0)], { sampling_args: { temperature: 0 }, avg_reward: 0.25 });
    makeRun("bbbbbbbb", [rollout(0)], { sampling_args: { temperature: 1 }, avg_reward: 0.95 });
    const view = new Driven();
    await view.to(/best\s+0\.950\s+bbbbbbbb/);
    await view.to(/sampling\.temperature\s+(0 \(1\), 1 \(1\)|1 \(1\), 0 \(1\))/);
    expect(view.text).toMatch(/▾ my-env {2}2.*\n.*▾ openai\/small {2}2/);
    await view.to(/▸ my-env/, "left");
    expect(view.text).not.toContain("openai/small");
    await view.to(/aaaaaaaa\s+0\.250/, "right");
    await view.to(/written/, "end");
    await view.to(/best/, "left", "left");
  });

  it("of a thousand runs is there at once, and fills in what is known as it is read", async () => {
    for (let i = 0; i < 1000; i += 1) makeRun(i.toString(16).padStart(8, "0"), []);
    const view = new Driven();
    expect(view.text).toContain("1000 runs, 1 environment");
    await view.to(/▸ openai\/small {2}1000/);
    await view.to(/[0-9a-f]{8}\s+0\.500/, "down", "enter", "pagedown", "pagedown");
    expect(view.lines).toHaveLength(24);
  });
});

describe("a run", () => {
  it("shows its rollouts, settings, errors and rewards, and leads to rollouts and back", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => rollout(i, i === 3 ? { error: { error: "ModelError", code: "provider_error" } } : {}));
    makeRun("aaaaaaaa", rows, { sampling_args: { temperature: 0.5 }, pass_threshold: 0.5 });
    const view = new Driven();
    view.size = LARGE;
    await view.to(/with an error\s+1 of 40 \(2\.5 %\)/, "end", "enter");
    await view.to(/#4\s+3\s+1\.000\s+provider_error/);
    expect(view.text).toMatch(/sampling\.temperature\s+0\.5/);
    expect(view.text).toMatch(/ 0 {2}█+\s+20 {2}50\.0 %/);
    expect(view.text).toMatch(/correct\s+40\s+0\.500\s+0\s+1/);
    await view.to("Rollout 40 of 40", "end", "enter");
    await view.to("Rollout 1 of 40", "n");
    await view.to("Rollout 40 of 40", "p");
    await view.to("answer 38", "p");
    // The list is where the rollout was.
    await view.to(/settings/i, "b");
    await view.to("Rollout 39 of 40", "enter");
  });

  it("without results, with torn metadata, or with none at all says so and stays usable", async () => {
    makeRun("aaaaaaaa", [rollout(0)]);
    const path = join(place, "outputs/evals/my-env--openai--small/aaaaaaaa");
    writeFileSync(join(path, "metadata.json"), '{"env_id": "my');
    writeFileSync(join(path, "results.jsonl"), '{"example_id": 0, "compl');
    const view = new Driven(path);
    await view.to("metadata.json is no JSON");
    await view.to(/row 1 is cut/);
    await view.to(/▾ row 1 is cut/, "enter");
    await view.to("This run has no log.", "l");
    rmSync(join(path, "results.jsonl"));
    await view.to("row 1 is cut", "b");
    await new Driven(path).to("there is no results.jsonl");
  });
});

describe("a rollout", () => {
  it("shows calls with their results and reasoning, scores and state, and folds", async () => {
    const completion = [
      { role: "assistant", content: "", reasoning_content: "I should add", tool_calls: [JSON.stringify({ id: "c1", name: "add", arguments: '{"a": 1}' })] },
      { role: "tool", tool_call_id: "c1", content: "sum is two" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "two" },
          { type: "image_url", image_url: { url: `data:${"x".repeat(5000)}` } },
        ],
      },
    ];
    makeRun("aaaaaaaa", [rollout(0, { completion, turn: { deep: [1, 2] }, timing: { total: 3.9, generation: { start: 1, end: 3.5 } } })]);
    const view = new Driven(join(place, "outputs/evals/my-env--openai--small/aaaaaaaa"));
    view.size = LARGE;
    await view.to(/#1/);
    await view.to(
      /completion: assistant, 1 call\s*\n\s+\[reasoning\]\s*\n\s+I should add\s*\n\s*\n\s+\[call\] add\(\{"a": 1\}\)\s*\n\s+\[result\]\s*\n\s+sum is two/,
      "enter",
    );
    expect(view.text).toMatch(/\[image: data:x+… 5005 characters\]/);
    expect(view.text).toMatch(/generation: 2s|generation: 3s/);
    expect(view.text).toContain('turn: {"deep":[1,2]}');
    await view.to(/▸ prompt: user {2}1 line/, "x");
    expect(view.text).not.toContain("question 0");
    await view.to(/▾ completion: assistant, 1 call/, "tab", "enter");
    await view.to("question 0", "e");
  });

  it("of any shape is shown, without a failure", () => {
    const rows: readonly Json[] = [
      {},
      { prompt: "text", completion: "text", reward: "NaN" },
      { prompt: [null, 1, "a", { content: 5 }], completion: [{ role: "assistant", tool_calls: ["{", null, { function: { name: "f", arguments: {} } }] }] },
      { id: 1, total_ms: 5, error: "text", metrics: [], timing: null, info: "text", tool_defs: [1], token_usage: null },
    ];
    for (const row of rows) expect(sectionsOf(row)).toBeInstanceOf(Array);
    expect(
      sectionsOf({
        completion: [
          { role: "assistant", tool_calls: [{ function: { name: "f", arguments: "{}" } }] },
          { role: "tool", content: "r" },
        ],
      })[0]?.lines,
    ).toEqual(["[call] f({})", "[result]", "  r"]);
  });
});

describe("the clipboard", () => {
  it("gets the folder of a run, its numbers, a rollout or a log, as they are and not as they are wrapped", async () => {
    makeRun("aaaaaaaa", [rollout(0, { prompt: "word ".repeat(100) })]);
    const path = join(place, "outputs/evals/my-env--openai--small/aaaaaaaa");
    writeFileSync(join(path, "eval.log"), `${"x".repeat(100)}\n`.repeat(700));
    const view = new Driven();
    await view.to(/sent to the terminal's clipboard: \d+ characters/, "end", "c");
    await view.to(/with an error\s+0 of 1/, "enter");
    await view.to("clipboard", "c");
    await view.to("word word", "enter");
    await view.to("clipboard", "c");
    await view.to("xxxx", "l");
    await view.to("the first 50000 of 70699 characters", "c");
    expect(view.copied).toEqual([
      path,
      expect.stringMatching(/with an error +0 of 1/) as unknown,
      expect.stringContaining(`prompt\n${"word ".repeat(100)}`) as unknown,
      expect.stringMatching(/^x{100}\nx/) as unknown,
    ]);
    await view.to("b back", "home");
    expect(view.text).not.toContain("clipboard");
  });
});

describe("a search", () => {
  it("finds in all rollouts without regard to case, by column, and leads to the line", async () => {
    makeRun(
      "aaaaaaaa",
      Array.from({ length: 60 }, (_, i) =>
        rollout(i, i % 20 === 7 ? { completion: [{ role: "assistant", content: `${"line\n".repeat(100)}here is the NEEDLE` }] } : {}),
      ),
    );
    const view = new Driven(join(place, "outputs/evals/my-env--openai--small/aaaaaaaa"));
    await view.to("#1");
    await view.to("not a regular expression", "s", "(", "enter");
    await view.to(/completions 3 .*60 rollouts/, "backspace", ..."ne+dle", "enter");
    await view.to("here is the NEEDLE", "down", "enter");
    expect(view.text).toContain("Rollout 28 of 60");
    await view.to(/completions 3/, "b");
    await view.to(/prompts 60/, "s", "clear", ..."question", "enter");
    await view.to("#1", "escape");
  });

  it("keeps a thousand hits of a part, and ends when it is stopped", async () => {
    const endless = async function* (): AsyncGenerator<{ row: Json }> {
      for (let i = 0; ; i += 1) yield { row: rollout(i) };
    };
    const pattern = patternOf("question|answer");
    if (typeof pattern === "string") throw new Error(pattern);
    const full = new RolloutSearch(pattern);
    await full.run(endless(), () => undefined);
    expect([full.hits.prompt.length, full.hits.completion.length, full.done]).toEqual([1000, 1000, true]);
    const nothing = new RolloutSearch(/nothing/);
    await nothing.run(endless(), () => nothing.stop());
    expect(nothing.done).toBe(false);
    // Only valid without the flag for whole code points.
    expect(patternOf("a\\-b")).toBeInstanceOf(RegExp);
  });
});

describe("logs", () => {
  it("have a tab for all and one per file, from the newest line on", async () => {
    makeRun("aaaaaaaa", []);
    const path = join(place, "outputs/evals/my-env--openai--small/aaaaaaaa");
    writeFileSync(
      join(path, "env_server.log"),
      Array.from({ length: 50 }, (_, i) => `2026-01-01 10:00:${String(i).padStart(2, "0")} - a - INFO - server ${i}\n`).join(""),
    );
    writeFileSync(join(path, "env_worker_0.log"), "2026-01-01 10:00:48 - b - ERROR - worker\n");
    const view = new Driven(path);
    await view.to(/server 48\s*\n.*ERROR - worker\s*\n.*server 49/, "l");
    expect(view.text).not.toContain("server 0");
    await view.to("server 0", "home");
    await view.to(/worker\s*\n/, "left");
    expect(view.text).not.toContain("server 4");
  });
});

describe("any screen", () => {
  it("is filled exactly at every size, on every page, and nothing that a model wrote acts on it", async () => {
    const hostile = "\u001b[2J\u001b]0;title\u0007\u202eevil\u202c 日本語\ttab\r\nnext\u0085 👩‍👩‍👧 é\u0000 ".repeat(30);
    makeRun("aaaaaaaa", [rollout(0, { prompt: hostile, completion: [{ role: hostile, content: hostile }], [hostile]: hostile, metrics: { [hostile]: 1 } })], {
      model: hostile,
      sampling_args: { [hostile]: hostile },
    });
    const path = join(place, "outputs/evals/my-env--openai--small/aaaaaaaa");
    writeFileSync(join(path, "a.log"), hostile);
    const view = new Driven();
    const sizes: readonly Size[] = [SMALL, LARGE, { columns: 20, rows: 5 }, { columns: 81, rows: 25 }, { columns: 1, rows: 1 }, { columns: 300, rows: 3 }];
    const check = (): void => {
      for (const size of sizes) {
        view.size = size;
        expect(view.lines).toHaveLength(size.rows);
        for (const line of view.lines) expect(textWidth(line)).toBe(size.columns);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
        expect(view.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }
      view.size = LARGE;
    };
    check();
    await view.to("written", "end");
    check();
    await view.to(/mean reward/, "enter");
    check();
    await view.to(/▾ prompt/, "enter");
    check();
    await view.to(/prompts [1-9]/, "s", ..."日本", "enter");
    check();
    await view.to("evil", "enter");
    check();
    await view.to("a.log", "l");
    check();
  });

  it("is cut with a mark, and filled", () => {
    expect(textOf(fitted(lineOf("abcdef"), 4))).toBe("abc…");
    expect(textOf(fitted([span("abcd"), span("ef")], 4))).toBe("abc…");
    expect(textOf(fitted([span("日本語")], 4))).toBe("日… ");
    expect(textOf(fitted([span("ab"), span("")], 4))).toBe("ab  ");
  });

  it("shows a chosen line, moving as little as it can", () => {
    expect([topFor(5, 0, 10, 100), topFor(12, 0, 10, 100), topFor(2, 8, 10, 100), topFor(99, 0, 10, 100), topFor(3, 50, 10, 5)]).toEqual([0, 3, 2, 90, 0]);
  });

  it("is written line by line where it changed, each at its place, without a line end", () => {
    const written: string[] = [];
    const screen = new Screen((text) => written.push(text), true);
    screen.enter();
    screen.draw([lineOf("one"), lineOf("two", "good")]);
    expect(written.at(-1)).toContain("\u001b[1;1H\u001b[Kone\u001b[2;1H\u001b[K\u001b[32mtwo\u001b[0m");
    screen.draw([lineOf("one"), lineOf("three")]);
    expect(written.at(-1)).toBe("\u001b[?2026h\u001b[2;1H\u001b[Kthree\u001b[?2026l");
    const count = written.length;
    screen.draw([lineOf("one"), lineOf("three")]);
    expect(written).toHaveLength(count);
    expect(written.join("")).not.toContain("\n");
  });
});

describe("keys", () => {
  it("are told apart, also in pieces, and Escape when nothing follows", () => {
    const keys = new KeyReader();
    expect(keys.push("\u001b[A\u001b[6~q \r\t\u001b[Zé👍\u007f\u0003")).toEqual([
      "up",
      "pagedown",
      "q",
      "space",
      "enter",
      "tab",
      "shift-tab",
      "é",
      "👍",
      "backspace",
      "interrupt",
    ]);
    expect([keys.push("\u001b"), keys.waiting, keys.push("[B")]).toEqual([[], true, ["down"]]);
    expect([keys.push("\u001b"), keys.flush(), keys.waiting]).toEqual([[], ["escape"], false]);
    // A sequence of a key that nothing listens to is no text.
    expect(keys.push("\u001b[15~\u001b[1;5Cx")).toEqual(["x"]);
    expect(keys.push("\u001bx")).toEqual(["escape", "x"]);
  });
});
