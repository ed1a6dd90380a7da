import { describe, expect, it } from "vitest";
import type { RunState } from "../../../../src/cli/connection/api-types.ts";
import { type Choice, choiceAfter, FIRST_CHOICE, type LayoutOptions, screenLines } from "../../../../src/cli/display/layout.ts";
import { LogTail } from "../../../../src/cli/display/log-tail.ts";
import { RunView } from "../../../../src/cli/display/run-view.ts";
import { textOf } from "../../../../src/cli/terminal/canvas.ts";
import { textWidth } from "../../../../src/report/text/text-width.ts";
import { NUMBERS, runningView } from "../../../support/cli/display-view.ts";

const optionsOf = (columns: number, rows: number, change: Partial<LayoutOptions> = {}): LayoutOptions => ({
  size: { columns, rows },
  now: 65_000,
  clock: 0,
  keys: true,
  over: false,
  ...change,
});

const textsOf = (views: readonly RunView[], choice: Choice, options: LayoutOptions): readonly string[] => screenLines(views, choice, options).map(textOf);
const shown = (views: readonly RunView[], columns: number, rows: number, choice = FIRST_CHOICE): string =>
  textsOf(views, choice, optionsOf(columns, rows)).join("\n");

describe("the screen of a running evaluation", () => {
  it("says everything there is to say, at 80 x 24", () => {
    const text = shown([runningView()], 80, 24);
    for (const part of [
      "30 %  12/40  reward 0.400  1m 5s",
      "org/model at https://api.example/v1",
      "20 examples × 2 · 8 at once · temperature=0.5",
      "/home/me/outputs/evals/gsm8k--org--model/1a2b3c4d",
      "30 % · 12/40 rollouts",
      "0.400  95 % interval 0.300 to 0.550 over 6 examples",
      "exact 0.250 · format_reward 1 · num_turns 2.500",
      "1 0.400 · 2 0.600",
      "1 0.400 · 2 0.200",
      "12,345 input · 678 output · per rollout 1028.750 + 56.500",
      "4 in flight · 3 retries · no rate limit",
      "20 examples x 2 rollouts pinned",
      "Ctrl-C interrupt",
    ]) {
      expect(text).toContain(part);
    }
  });

  it("shows scores of one moment, and rollouts that have finished", () => {
    // The state is ahead of the numbers, which are fetched now and then.
    const view = runningView("gsm8k", {
      reward: 0.75,
      done_rollouts: 20,
      finished_rollouts: 23,
      vitals: { in_flight: 3, retries: 0, waiting: 0, paused_until: null, oldest_ms: 42_000 },
    });
    const text = shown([view], 80, 24);
    expect(text).not.toContain("0.750");
    expect(text).toContain("57 %  23/40  reward 0.400");
    expect(text).toContain("reward    0.400 of 20 done  95 % interval 0.300 to 0.550 over 6 examples");
    expect(text).toContain("3 in flight, the oldest 42s");
    const other = runningView("other", { reward: 0.75 });
    expect(shown([view, other], 80, 24)).toMatch(/other .*reward 0\.750/);
  });

  it("says about how long a run will take, and not while it is paused", () => {
    const view = runningView("gsm8k", {});
    const now = optionsOf(80, 24).now;
    for (const done of [12, 16, 20]) view.update({ ...(view.state as RunState), done_rollouts: done, finished_rollouts: done }, now - 20_000 + done * 1_000);
    expect(shown([view], 80, 24)).toMatch(/ · about \d.* left/);
    view.update({ ...(view.state as RunState), paused: { at: 1 } }, now);
    expect(shown([view], 80, 24)).not.toContain(" left");
  });

  it("shows errors, in red above a tenth, and the rate limit", () => {
    const busy = runningView("gsm8k", { errors: { timeout: 2, connection_failed: 1 }, vitals: { in_flight: 1, retries: 1, waiting: 5, paused_until: null } });
    const lines = screenLines([busy], FIRST_CHOICE, optionsOf(80, 24));
    const texts = lines.map(textOf).join("\n");
    expect(texts).toContain("25.0 % (3 of 12) · timeout 2 · connection_failed 1");
    expect(texts).toContain("1 in flight · 1 retry · 5 requests wait for the rate limit");
    expect(lines.flat().find(({ text }) => text === "errors 25.0 %")?.style).toBe("bad");
    const limited = { bound: { kind: "tokens", limit: 90_000, source: "found" }, base_url: "http://gpu-1:8000/v1" } as const;
    const told = runningView("gsm8k", { vitals: { in_flight: 1, retries: 0, waiting: 5, paused_until: null, limited } });
    const wide = screenLines([told], FIRST_CHOICE, optionsOf(120, 24)).map(textOf).join("\n");
    expect(wide).toContain("0 retries · 5 requests wait for gpu-1:8000's limit of about 90,000 tokens a minute");
    const few = screenLines([runningView("gsm8k", { errors: { timeout: 1 } })], FIRST_CHOICE, optionsOf(80, 24));
    expect(few.flat().find(({ text }) => text.startsWith("errors 8.3"))?.style).toBe("fair");
  });

  it("says why a run failed", () => {
    const view = runningView("gsm8k", { failure: { code: "endpoint_unavailable", message: "the endpoint is gone", hint: "start it" } });
    view.end("FAILED", 5000);
    const text = shown([view], 80, 24);
    for (const part of ["✗ gsm8k", "FAILED", "the endpoint is gone", "start it", "5s"]) expect(text).toContain(part);
  });

  it("has every line in every size: never wider than the terminal, never more than there are", () => {
    const hostile = runningView("漢字".repeat(30));
    hostile.say({ level: "ERROR", message: `\u001b[2J\u001b]0;owned\u0007\u202e${"wide 漢字 🙂 ".repeat(100)}\r\nsecond\ttab` }, 0);
    hostile.numbers = { ...NUMBERS, avg_metrics: Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`metric_${i}\u001b[31m`, i / 7])) };
    const views = [hostile, ...Array.from({ length: 40 }, (_, i) => runningView(`env-${i}`))];
    for (const columns of [1, 2, 10, 30, 79, 80, 81, 200]) {
      for (const rows of [1, 2, 3, 5, 8, 24, 50]) {
        for (const some of [views, [hostile], [new RunView("pending")]]) {
          const lines = textsOf(some, FIRST_CHOICE, optionsOf(columns, rows));
          expect(lines).toHaveLength(rows);
          for (const line of lines) {
            expect(textWidth(line)).toBe(Math.max(1, columns - 1));
            // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
          }
        }
      }
    }
  });
});

describe("the overview of many evaluations", () => {
  const views = Array.from({ length: 40 }, (_, i) => runningView(`env-${i}`));

  it("takes at most half of the screen and stays around the selected one", () => {
    for (const selected of [0, 1, 5, 20, 38, 39]) {
      const lines = textsOf(views, { ...FIRST_CHOICE, selected }, optionsOf(80, 24));
      const overview = lines.slice(
        1,
        lines.findIndex((line) => line.startsWith("──")),
      );
      expect(overview.length).toBe(10);
      expect(overview.filter((line) => line.startsWith(`› ▸ env-${selected} `))).toHaveLength(1);
      const words = overview.flatMap((line) => /… (\d+) (above|more)/.exec(line) ?? []);
      expect(words.length > 0).toBe(true);
      const hidden = overview.reduce((sum, line) => sum + Number(/… (\d+) /.exec(line)?.[1] ?? 0), 0);
      expect(hidden + overview.filter((line) => line.includes("▸")).length).toBe(40);
    }
  });

  it("counts those that have ended", () => {
    const [first, second] = [runningView("a"), runningView("b")];
    first.end("COMPLETED", 2000);
    second.end("FAILED", 2000);
    expect(shown([first, second, new RunView("c")], 80, 24)).toContain("2 of 3 evaluations ended · 1m 5s · 1 failed".replace("1m 5s", "2s"));
  });

  it("is moved through with left and right, and each evaluation begins at its newest line", () => {
    const options = optionsOf(80, 24);
    let choice = choiceAfter(FIRST_CHOICE, "left", views, options);
    expect(choice.selected).toBe(0);
    for (let i = 0; i < 50; i += 1) choice = choiceAfter({ ...choice, logEnd: 0 }, "right", views, options);
    expect(choice.selected).toBe(39);
    expect(choiceAfter(choice, "left", views, options)).toEqual({ ...FIRST_CHOICE, selected: 38 });
  });
});

describe("scrolling", () => {
  const options = optionsOf(80, 24);
  const withLog = (lines: number): RunView => {
    const view = runningView();
    for (let i = 0; i < lines; i += 1) view.say({ level: "INFO", message: `line ${i}` }, 0);
    return view;
  };
  const press = (view: RunView, keys: readonly string[], choice = FIRST_CHOICE): Choice =>
    keys.reduce((now, key) => choiceAfter(now, key, [view], options), choice);

  it("moves the log by three lines, and stays where it is while lines come", () => {
    const view = withLog(100);
    const up = press(view, ["up"]);
    expect(shown([view], 80, 24, up)).toContain("3 newer lines below");
    const before = textsOf([view], up, options).filter((line) => / line \d/.test(line));
    expect(before.at(-1)).toContain("line 96");
    for (let i = 0; i < 50; i += 1) view.say({ level: "INFO", message: "later" }, 0);
    expect(textsOf([view], up, options).filter((line) => / line \d/.test(line))).toEqual(before);
    expect(shown([view], 80, 24, up)).toContain("53 newer lines below");
  });

  it("follows the newest lines again at the end", () => {
    const view = withLog(100);
    expect(press(view, ["up", "down"]).logEnd).toBeNull();
    expect(press(view, ["home", "end"]).logEnd).toBeNull();
    expect(shown([view], 80, 24, press(view, ["home"]))).toContain("20 examples x 2 rollouts pinned");
    expect(press(view, ["home", "up"])).toEqual(press(view, ["home"]));
  });

  it("moves in the details once they are chosen with tab, where they have no room", () => {
    const view = withLog(10);
    const names = Array.from({ length: 200 }, (_, i) => `metric_${i}`);
    view.numbers = { ...NUMBERS, avg_metrics: Object.fromEntries(names.map((name) => [name, 0.5])) };
    let choice = press(view, ["tab"]);
    expect(choice.focus).toBe("details");
    const seen = new Set<string>();
    for (let i = 0; i < 100; i += 1) {
      for (const name of shown([view], 80, 24, choice).match(/metric_\d+/g) ?? []) seen.add(name);
      choice = press(view, ["down"], choice);
    }
    expect([...seen].sort()).toEqual([...names].sort());
    expect(shown([view], 80, 24, choice)).toContain("no rate limit");
    expect(press(view, ["tab"], choice).focus).toBe("log");
  });

  it("knows no other key", () => {
    expect(press(withLog(3), ["x", "q", "enter", ""])).toBe(FIRST_CHOICE);
  });
});

describe("a log of 100,000 lines", () => {
  it("is kept to its newest lines, however long they are, and costs a screen no more than a short one", () => {
    const view = runningView();
    for (let i = 0; i < 100_000; i += 1) view.say({ level: "INFO", message: `line ${i} ${i % 1000 === 0 ? "x".repeat(100_000) : ""}` }, 0);
    expect(view.log.count).toBe(100_001);
    expect(view.log.between(0, view.log.count).length).toBeLessThanOrEqual(2000);
    expect(Math.max(...view.log.between(0, view.log.count).map(({ text }) => text.length))).toBeLessThanOrEqual(2000);
    const options = optionsOf(80, 24);
    const text = textsOf([view], FIRST_CHOICE, options).join("\n");
    expect(text).toContain("line 99999");
    const oldest = choiceAfter(FIRST_CHOICE, "home", [view], options);
    expect(textsOf([view], oldest, options).join("\n")).toContain(`line ${view.log.first - 1}`);
  });

  it("numbers its lines from the beginning", () => {
    const log = new LogTail();
    for (let i = 0; i < 5000; i += 1) log.push({ text: String(i), level: "INFO", time: 0 });
    expect(log.between(log.count - 2, log.count).map(({ text }) => text)).toEqual(["4998", "4999"]);
    expect(log.between(log.first, log.first + 1).map(({ text }) => text)).toEqual([String(log.first)]);
  });
});
