import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { textWidth } from "../../../src/report/text/text-width.ts";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";
import { hasTmux, type Size, TmuxTerminal } from "../../support/cli/tmux.ts";

const command = fileURLToPath(new URL("../../../bin/edgewise.js", import.meta.url));
/** What a server may say: control of terminals, wide characters, line ends, and much of it. */
const HOSTILE = `\u001b[2J\u001b]0;owned\u0007\u202e 漢字🙂 ${"wide 漢字 ".repeat(60)}\r\nforged line`;
const SMALL: Size = { columns: 80, rows: 24 };
const LARGE: Size = { columns: 200, rows: 50 };

const found = hasTmux();
if (!found) console.warn("live-display.test.ts is skipped: it needs tmux (apt-get install tmux)");

describe.skipIf(!found)("the live display in a terminal", () => {
  let model: ModelServer;
  let place: Workplace;
  let terminal: TmuxTerminal;

  beforeAll(async () => {
    model = await startModelServer({
      latency_ms: [50, 400],
      accuracy: 0.6,
      faults: [{ when: { every: 9 }, fault: { kind: "status", status: 400, message: HOSTILE } }],
    });
  });
  afterAll(() => model.close());
  beforeEach(() => {
    place = new Workplace();
  });
  afterEach(() => {
    terminal.close();
    place.remove();
  });

  const open = (size: Size): TmuxTerminal =>
    new TmuxTerminal(size, place.folder, { PATH: process.env.PATH ?? "", HOME: place.folder, LANG: "C.UTF-8", PRIME_API_KEY: "none" });
  const evaluate = (rest: string): string =>
    `'${process.execPath}' '${command}' eval run reverse-text -m scripted -b ${model.url} ${rest} > report.txt; echo "ended with $?"`;

  /** Null when the screen is whole: title, overview, two rules from edge to edge, keys, and every line within the screen. */
  function fault({ columns, rows }: Size): string | null {
    const lines = terminal.screen();
    if (lines.length !== rows) return `${lines.length} lines`;
    const rules = lines.filter((line) => line.startsWith("── "));
    if (!lines[0]?.startsWith("edgewise · ")) return "no title in the first line";
    if (lines.filter((line) => line.startsWith("edgewise · ")).length !== 1) return "two titles";
    if (!/^ {2}[·▸✓✗] reverse-text/.test(lines[1] ?? "")) return "no overview in the second line";
    if (rules.length !== 2) return `${rules.length} rules`;
    if (rules.some((rule) => textWidth(rule) !== columns - 1 || !/[─…]$/.test(rule))) return "a rule that does not fill its line";
    if (!lines.at(-1)?.startsWith("↑↓ scroll")) return "no keys in the last line";
    if (lines.filter((line) => line.includes("↑↓ scroll")).length !== 1) return "keys twice";
    const wide = lines.find((line) => textWidth(line) > columns - 1);
    return wide === undefined ? null : `a line that is too wide: ${wide}`;
  }
  const isWhole = (size: Size): Promise<void> =>
    until(
      () => fault(size) === null,
      10_000,
      () => `a whole screen, but ${fault(size)}:\n${terminal.screen().join("\n")}`,
    );
  const shows = (text: string | RegExp, ms = 60_000): Promise<void> =>
    until(
      () => (typeof text === "string" ? terminal.screen().join("\n").includes(text) : text.test(terminal.screen().join("\n"))),
      ms,
      () => `${text} on:\n${terminal.screen().join("\n")}`,
    );

  it("is never torn or wrapped, at 80 x 24, at 200 x 50 and while it is resized, and leaves nothing behind but the last lines", async () => {
    terminal = open(SMALL);
    terminal.type(evaluate("-n 100 -r 4 -c 6"));
    await shows("pass@k");
    await shows("First bad_request: ");
    await isWhole(SMALL);
    for (const size of [LARGE, SMALL, { columns: 31, rows: 9 }, LARGE, { columns: 120, rows: 12 }, SMALL]) {
      terminal.resize(size);
      await isWhole(size);
    }
    for (let columns = 80; columns <= 200; columns += 5) terminal.resize({ columns, rows: 24 + Math.floor(columns / 10) });
    terminal.resize(LARGE);
    await isWhole(LARGE);
    // From here on no screen at all may be anything but whole.
    for (let look = 0; look < 30; look += 1) {
      expect(fault(LARGE)).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    const screen = terminal.screen().join("\n");
    for (const part of ["in random order", "with what is open", "similarity", "in flight", "input", "%"]) expect(screen).toContain(part);
    await shows("ended with 0");
    const left = terminal.history();
    expect(left.split("\n").filter((line) => /──|↑↓|█/.test(line))).toEqual([]);
    expect(left).toContain("400/400 rollouts (100 %)");
    const report = readFileSync(join(place.folder, "report.txt"), "utf8");
    expect(report).toContain("reward distribution:");
    expect(report).not.toContain("\u001b");
  });

  it("takes keys, and Ctrl-C as before: what is finished is kept, and the terminal is given back", async () => {
    terminal = open(SMALL);
    terminal.type(evaluate("-n 200 -r 1 -c 2"));
    await shows("pinned");
    terminal.press("Up", "Down", "Left", "Right", "Tab", "x", "End");
    await isWhole(SMALL);
    await shows(/ [1-9]\d*\/200 rollouts/);
    terminal.press("C-c");
    await shows("ended with 130");
    expect(terminal.history()).toContain("Interrupted; saving what is finished.");
    expect(readFileSync(join(place.folder, "report.txt"), "utf8")).toContain("Resume: ");
    terminal.type("stty -a | grep -c -w -e '-icanon'; echo typed");
    await shows("\ntyped");
    expect(terminal.screen().join("\n")).toContain("\n0\ntyped");
  });

  it("stays with --fullscreen until q is pressed, and -A leaves the example out of the summary", async () => {
    terminal = open(SMALL);
    terminal.type(evaluate("-n 3 -r 1 --fullscreen -A"));
    await shows("q leave");
    expect(terminal.screen().join("\n")).toContain("✓ reverse-text");
    expect(readFileSync(join(place.folder, "report.txt"), "utf8")).toBe("");
    terminal.press("q");
    await shows("ended with 0");
    const report = readFileSync(join(place.folder, "report.txt"), "utf8");
    expect(report).toContain("--- All ---");
    expect(report).not.toContain("--- Example ---");
  });

  it("goes behind the shell with Ctrl-Z and comes back with fg", async () => {
    terminal = open(SMALL);
    terminal.type("set -m");
    terminal.type(`'${process.execPath}' '${command}' eval run reverse-text -m scripted -b ${model.url} -n 100 -r 1 -c 2`);
    await shows("in flight");
    terminal.press("C-z");
    await shows(/Stopped|Suspended/);
    expect(terminal.screen().join("\n")).not.toContain("── log");
    terminal.type("fg");
    await shows("── log");
    await isWhole(SMALL);
    terminal.press("C-c");
    await shows("Resume: ");
  });

  it("gives way to plain lines with -d, NO_COLOR and a dumb terminal", async () => {
    terminal = open(LARGE);
    writeFileSync(join(place.folder, "run.sh"), evaluate("-n 2 -r 1 $FLAGS"));
    for (const setting of ["FLAGS=-d", "NO_COLOR=1", "TERM=dumb"]) {
      terminal.type(`clear; ${setting} sh run.sh; echo finished ${setting}`);
      await shows(`\nfinished ${setting}`);
      const text = terminal.screen().join("\n");
      expect(text).toContain("ended with 0");
      expect(text).toContain("2/2 rollouts (100 %)");
      expect(text).not.toContain("──");
    }
  });
});
