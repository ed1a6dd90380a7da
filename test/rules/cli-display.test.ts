import { describe, expect, it } from "vitest";
import type { Evaluation, RunState } from "../../src/cli/connection/api-types.ts";
import { checkDisplayFlags } from "../../src/cli/display/choose-display.ts";
import { canDraw } from "../../src/cli/display/can-draw.ts";
import { fromProc } from "../../src/cli/display/foreground.ts";
import { type Choice, choiceAfter, FIRST_CHOICE, type LayoutOptions, screenLines } from "../../src/cli/display/layout.ts";
import { LogTail } from "../../src/cli/display/log-tail.ts";
import { NumbersPoll } from "../../src/cli/display/numbers-poll.ts";
import { Painter } from "../../src/cli/display/painter.ts";
import { type RunNumbers, RunView } from "../../src/cli/display/run-view.ts";
import type { ServiceClient } from "../../src/cli/connection/http-client.ts";
import { textOf } from "../../src/cli/terminal/canvas.ts";
import { textWidth } from "../../src/report/text-width.ts";

const state = (change: Partial<RunState> = {}): RunState => ({
  run_id: "1a2b3c4d",
  phase: "open",
  settled: false,
  suspended: false,
  done_units: 6,
  total_units: 20,
  done_rollouts: 12,
  total_rollouts: 40,
  owed_rollouts: 28,
  reward: 0.41666,
  errors: {},
  tokens: { input: 12_345, output: 678 },
  vitals: { in_flight: 4, retries: 3, waiting: 0, paused_until: null },
  seq: 1,
  env_version: "1",
  dataset_digest: null,
  ...change,
});

const evaluation = (change: Partial<Evaluation["metadata"]> = {}): Evaluation => ({
  evaluation_id: "1a2b3c4d",
  name: "",
  status: "RUNNING",
  viewer_url: "http://127.0.0.1/",
  error_message: null,
  eval_config: { max_concurrent: 8 },
  metrics: {},
  created_at: "2026-11-21T12:00:00Z",
  started_at: null,
  finalized_at: null,
  metadata: {
    env_id: "gsm8k",
    model: "org/model",
    env_args: {},
    base_url: "https://api.example/v1",
    num_examples: 20,
    rollouts_per_example: 2,
    sampling_args: { n: 1, extra_body: {}, temperature: 0.5 },
    state_columns: [],
    pass_threshold: 0.5,
    ...change,
  },
  edgewise: state(),
});

const NUMBERS: RunNumbers = {
  avg_metrics: { exact: 0.25, format_reward: 1, num_turns: 2.5 },
  pass_at_k: { 1: 0.4, 2: 0.6 },
  pass_all_k: { 1: 0.4, 2: 0.2 },
  usage: { input_tokens: 1028.75, output_tokens: 56.5 },
  edgewise: { reward_ci95: [0.3, 0.55], n_clusters: 6 },
};

function runningView(label = "gsm8k", change: Partial<RunState> = {}): RunView {
  const view = new RunView(label);
  view.start(evaluation(), "/home/me/outputs/evals/gsm8k--org--model/1a2b3c4d", 0);
  view.update(state(change), 1000);
  view.numbers = NUMBERS;
  view.say({ level: "INFO", message: "20 examples x 2 rollouts pinned" }, 0);
  return view;
}

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
      "30 %  12/40  reward 0.417  1m 5s",
      "org/model at https://api.example/v1",
      "20 examples × 2 · 8 at once · temperature=0.5",
      "/home/me/outputs/evals/gsm8k--org--model/1a2b3c4d",
      "30 % · 12/40 rollouts",
      "0.417  95 % interval 0.300 to 0.550 over 6 examples",
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

  it("shows errors, in red above a tenth, and the rate limit", () => {
    const busy = runningView("gsm8k", { errors: { timeout: 2, connection_failed: 1 }, vitals: { in_flight: 1, retries: 1, waiting: 5, paused_until: null } });
    const lines = screenLines([busy], FIRST_CHOICE, optionsOf(80, 24));
    const texts = lines.map(textOf).join("\n");
    expect(texts).toContain("25.0 % (3 of 12) · timeout 2 · connection_failed 1");
    expect(texts).toContain("1 in flight · 1 retry · 5 requests wait for the rate limit");
    expect(lines.flat().find(({ text }) => text === "errors 25.0 %")?.style).toBe("bad");
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

describe("the painter", () => {
  function painted() {
    const [written, time, size] = [[] as string[], { now: 0 }, { columns: 80, rows: 3 }];
    const screen = {
      write: (text: string) => written.push(text),
      get columns() {
        return size.columns;
      },
      get rows() {
        return size.rows;
      },
    };
    const painter = new Painter(screen, () => time.now);
    painter.enter();
    const frame = (text: string): string => {
      written.length = 0;
      painter.write(text);
      return written.join("");
    };
    return { painter, frame, time, size, written };
  }

  it("writes each line at its place, and only those that changed", () => {
    const { frame, time } = painted();
    expect(frame("a\nb\nc")).toContain("\u001b[2;1H\u001b[0mb\u001b[0m\u001b[K");
    time.now = 100;
    const second = frame("a\nB\nc");
    expect(second).toContain("\u001b[2;1H\u001b[0mB");
    expect(second).not.toContain("\u001b[1;1H");
    expect(frame("a\nB\nc")).toBe("");
  });

  it("writes everything again after a while and after a resize, and no line feed ever", () => {
    const { painter, frame, time } = painted();
    frame("a\nb\nc");
    time.now = 2000;
    expect(frame("a\nb\nc")).toContain("\u001b[3;1H");
    painter.forget();
    const again = frame("a\nb\nc");
    expect(again).toContain("\u001b[1;1H");
    expect(again).not.toContain("\n");
  });

  it("writes no more lines than there are, and nothing once it has left", () => {
    const { painter, frame, size, written } = painted();
    size.rows = 2;
    expect(frame("a\nb\nc")).not.toContain("\u001b[3;1H");
    written.length = 0;
    painter.leave();
    painter.leave();
    expect(written).toEqual(["\u001b[2J\u001b[H\u001b[?7h\u001b[?25h\u001b[?1049l"]);
    expect(frame("x\ny")).toBe("");
  });
});

describe("what states do not carry", () => {
  it("is asked for one run at a time, the selected one first, and only when something changed or it has ended", async () => {
    const asked: string[] = [];
    let answer: (() => void) | null = null;
    const client = {
      file: (id: string) => {
        asked.push(id);
        return new Promise<Response>((resolve) => {
          answer = () => resolve(Response.json(NUMBERS));
        });
      },
    } as unknown as ServiceClient;
    const views = ["a", "b"].map((label) => {
      const view = runningView(label);
      view.evaluation = { ...evaluation(), evaluation_id: label };
      view.numbers = null;
      return view;
    });
    const poll = new NumbersPoll(() => client);
    const settle = async (): Promise<void> => {
      answer?.();
      await new Promise((resolve) => setTimeout(resolve, 0));
    };
    poll.tick(views, 1, 0);
    poll.tick(views, 1, 1000);
    expect(asked).toEqual(["b"]);
    await settle();
    expect(views[1]?.numbers).toEqual(NUMBERS);
    poll.tick(views, 1, 2000);
    await settle();
    poll.tick(views, 1, 60_000);
    expect(asked).toEqual(["b", "a"]);
    views[1]?.update(state({ done_rollouts: 13 }), 0);
    poll.tick(views, 1, 61_000);
    await settle();
    expect(asked).toEqual(["b", "a", "b"]);
    views[0]?.end("COMPLETED", 61_500);
    poll.tick(views, 1, 61_500);
    await settle();
    poll.tick(views, 1, 99_000);
    expect(asked).toEqual(["b", "a", "b", "a"]);
    poll.stop();
  });

  it("is asked for again when the service did not answer", async () => {
    let calls = 0;
    const file = (): Promise<Response> => {
      calls += 1;
      return Promise.reject(new Error("no answer"));
    };
    const client = { file } as unknown as ServiceClient;
    const poll = new NumbersPoll(() => client);
    const view = runningView();
    for (const now of [0, 1000, 5000]) {
      poll.tick([view], 0, now);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect(calls).toBe(2);
  });
});

describe("a live display", () => {
  const usual = { env: { TERM: "xterm" }, isTTY: true, disabled: false, ownTerminal: () => true };
  it.each([
    ["a terminal", {}, true],
    ["no terminal", { isTTY: false }, false],
    ["-d", { disabled: true }, false],
    ["NO_COLOR", { env: { TERM: "xterm", NO_COLOR: "1" } }, false],
    ["a dumb terminal", { env: { TERM: "dumb" } }, false],
    ["no kind of terminal", { env: {} }, false],
    ["a job in the background", { ownTerminal: () => false }, false],
  ])("with %s", (_, change, drawn) => {
    expect(canDraw({ ...usual, ...change })).toBe(drawn);
  });

  it("is not both kept and left out", () => {
    expect(() => checkDisplayFlags([{ disable_tui: true, fullscreen: true }])).toThrow("-f/--fullscreen keeps the live display");
    expect(() => checkDisplayFlags([{ fullscreen: true }, { disable_tui: false }])).not.toThrow();
  });

  it("reads whose the terminal is from behind the name of the process, whatever that is", () => {
    expect(fromProc("12 (a) b (c) S 1 77 77 34816 99 4194304 1")).toEqual(["77", "99"]);
  });
});
