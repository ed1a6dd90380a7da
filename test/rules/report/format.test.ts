import { describe, expect, it } from "vitest";
import { fixed, formatSeconds, listNumber, panelNumber, thousands } from "../../../src/report/text/format.ts";
import { formatLogLine } from "../../../src/report/logs/log-line.ts";
import { printable, singleLine } from "../../../src/report/text/printable.ts";
import { textWidth, wrap } from "../../../src/report/text/text-width.ts";

const ESC = "\u001b";

describe("times", () => {
  it.each([
    [0, "0ms"],
    [0.0424, "42ms"],
    [0.9996, "1000ms"],
    [1, "1s"],
    [1.5, "2s"],
    [2.5, "2s"],
    [59.7, "60s"],
    [60, "1m"],
    [61.5, "1m 1s"],
    [3_600, "1h"],
    [3_661, "1h 1m"],
    [86_399, "23h 59m"],
    [86_400, "1d"],
    [180_000, "2d 2h"],
  ])("%d s is %s", (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text);
  });
});

describe("numbers", () => {
  // Python: f"{x:.3f}" rounds exact ties to even, and knows that 1.0005 is a little less.
  it.each([
    [0.0625, 3, "0.062"],
    [0.1875, 3, "0.188"],
    [-0.0625, 3, "-0.062"],
    [1.0005, 3, "1.000"],
    [0.5, 0, "0"],
    [1.5, 0, "2"],
    [2.5, 0, "2"],
    [-2.5, 0, "-2"],
    [2 / 3, 3, "0.667"],
    [12, 3, "12.000"],
  ])("%d with %d decimals is %s", (value, digits, text) => {
    expect(fixed(value, digits)).toBe(text);
  });
  it.each([
    [0.1, "0.1"],
    [1, "1.0"],
    [-3, "-3.0"],
    [1 / 3, "0.333"],
    [0.0004, "0.0"],
    [1e21, "1e+21"],
  ])("%d in a list is %s", (value, text) => {
    expect(listNumber(value)).toBe(text);
  });
  it.each([
    [3, "3"],
    [0.5, "0.500"],
    [0.01, "0.010"],
    [0.00996, "0.0100"],
    [-0.0012, "-0.0012"],
    [12.3456, "12.346"],
  ])("%d in a panel is %s", (value, text) => {
    expect(panelNumber(value)).toBe(text);
  });
  it.each([
    [0, "0"],
    [999, "999"],
    [1_000, "1,000"],
    [1_234_567, "1,234,567"],
  ])("%d counted is %s", (value, text) => {
    expect(thousands(value)).toBe(text);
  });
});

describe("a log line", () => {
  const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  it("has the form of the reference, in UTC", () => {
    expect(formatLogLine("edgewise.run", { time, level: "WARNING", message: "3 of 8 requests retried" })).toBe(
      "2026-01-02 03:04:05 - edgewise.run - WARNING - 3 of 8 requests retried",
    );
  });
  it("stays one line and leaves the terminal alone, whatever a server answered", () => {
    const message = `first\r\nsecond\n2026-01-01 00:00:00 - edgewise - INFO - forged${ESC}[2J${ESC}]0;title\u0007\u0000\u0085\u2028\tend`;
    const line = formatLogLine("edgewise", { time, level: "ERROR", message });
    expect(line).toBe("2026-01-02 03:04:05 - edgewise - ERROR - first\\nsecond\\n2026-01-01 00:00:00 - edgewise - INFO - forged\\n    end");
  });
});

describe("text from elsewhere", () => {
  it("keeps its words and lines, and loses escape sequences, control characters and marks that reorder it", () => {
    expect(printable(`a${ESC}[31;1mred${ESC}[0m\tb\r\nc\u202ee\u061cvil\u009b2J${ESC}Mé 漢 🙂`)).toBe("ared    b\ncevil2Jé 漢 🙂");
    expect(singleLine("a\nb\r\nc\rd")).toBe("a\\nb\\nc\\nd");
  });
});

describe("wrapping", () => {
  it("breaks at spaces, inside words only where one is longer than a line, and at line ends", () => {
    expect(wrap("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
    expect(wrap("abcdefghijkl mn", 5)).toEqual(["abcde", "fghij", "kl mn"]);
    expect(wrap("a\n\nb", 5)).toEqual(["a", "", "b"]);
  });
  it("counts what a terminal shows: wide characters two, combining ones none", () => {
    expect(textWidth("ab漢字é🙂")).toBe(9);
    expect(textWidth("e\u0301")).toBe(1);
    for (const line of wrap("漢字漢字漢字 a漢字漢 字漢字漢字漢字漢字", 7)) expect(textWidth(line)).toBeLessThanOrEqual(7);
  });
  it("loses no word", () => {
    const text = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor";
    for (let width = 2; width < 30; width++) {
      const lines = wrap(text, width);
      expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    }
  });
});
