import { afterEach, describe, expect, it } from "vitest";
import { logLevel, loggerOf, logText, readLevel, setupLogging, type LogLine } from "../../../src/logging/logger.ts";

const log = loggerOf("test");
const VARIABLES = ["EDGEWISE_LOG_LEVEL", "VF_LOG_LEVEL"] as const;
let lines: LogLine[] = [];
const sink = (line: LogLine): void => void lines.push(line);
const said = (): string[] => {
  lines = [];
  for (const level of ["debug", "info", "warning", "error"] as const) log[level](level);
  return lines.map(({ message }) => message);
};

afterEach(() => {
  for (const name of VARIABLES) delete process.env[name];
  setupLogging();
});

describe("the log", () => {
  it("is quiet about what is not wrong", () => {
    setupLogging({ sink });
    expect(said()).toEqual(["warning", "error"]);
  });

  it("speaks from the level on that it was set up with, last call first", () => {
    setupLogging({ level: "debug", sink });
    expect(said()).toHaveLength(4);
    setupLogging({ level: "silent", sink });
    expect(said()).toEqual([]);
  });

  it("takes its level from EDGEWISE_LOG_LEVEL, else from VF_LOG_LEVEL, in any case", () => {
    process.env.VF_LOG_LEVEL = "INFO";
    setupLogging({ sink });
    expect(said()).toEqual(["info", "warning", "error"]);
    process.env.EDGEWISE_LOG_LEVEL = "Error";
    setupLogging({ sink });
    expect(said()).toEqual(["error"]);
    process.env.EDGEWISE_LOG_LEVEL = "nonsense";
    setupLogging({ sink });
    expect(said()).toHaveLength(3);
  });

  it("knows Python's names and numbers of levels", () => {
    expect(["10", "INFO", "warn", "CRITICAL", "off", "loud", "", null].map(readLevel)).toEqual([
      "debug",
      "info",
      "warning",
      "error",
      "silent",
      null,
      null,
      null,
    ]);
  });

  it("has another level for the time of a function, also when that fails", async () => {
    setupLogging({ level: "warning", sink });
    expect(await logLevel("debug", said)).toHaveLength(4);
    expect(said()).toHaveLength(2);
    await expect(
      logLevel("silent", () => {
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(said()).toHaveLength(2);
  });

  it("has lines with a place and fields", () => {
    setupLogging({ sink });
    lines = [];
    log.warning("something", { example_id: 3, why: 'a "b"', known: null });
    expect(lines).toEqual([{ level: "warning", place: "test", message: "something", fields: { example_id: 3, why: 'a "b"', known: null } }]);
    expect(logText(lines[0] as LogLine)).toBe('WARNING test: something example_id=3 why="a \\"b\\"" known=null');
  });
});
