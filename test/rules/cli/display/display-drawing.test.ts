import { describe, expect, it } from "vitest";
import { canDraw } from "../../../../src/cli/display/can-draw.ts";
import { checkDisplayFlags } from "../../../../src/cli/display/choose-display.ts";
import type { ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { fromProc } from "../../../../src/cli/display/foreground.ts";
import { NumbersPoll } from "../../../../src/cli/display/numbers-poll.ts";
import { Painter } from "../../../../src/cli/display/painter.ts";
import { displayedEvaluation, displayState, NUMBERS, runningView } from "../../../support/cli/display-view.ts";

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
      numbers: (id: string) => {
        asked.push(id);
        return new Promise((resolve) => {
          answer = () => resolve(NUMBERS);
        });
      },
    } as unknown as ServiceClient;
    const views = ["a", "b"].map((label) => {
      const view = runningView(label);
      view.evaluation = { ...displayedEvaluation(), evaluation_id: label };
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
    views[1]?.update(displayState({ done_rollouts: 13 }), 0);
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
    const numbers = (): Promise<never> => {
      calls += 1;
      return Promise.reject(new Error("no answer"));
    };
    const client = { numbers } as unknown as ServiceClient;
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
