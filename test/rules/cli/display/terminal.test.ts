import { afterEach, describe, expect, it, vi } from "vitest";
import { progressText } from "../../../../src/cli/display/progress.ts";
import { CliError } from "../../../../src/cli/terminal/cli-error.ts";
import { processTerminal, reportError } from "../../../../src/cli/terminal/terminal.ts";
import { lookUpSecret } from "../../../../src/config/endpoints/secrets.ts";

const EVIL = "\u001b]0;owned\u0007\u001b[2Jgone\u0085";
const KEY = "terminal-key-0123456789";

afterEach(() => vi.restoreAllMocks());

function printed(work: (terminal: ReturnType<typeof processTerminal>) => void): string {
  let text = "";
  const write = (chunk: unknown): boolean => {
    text += String(chunk);
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(write);
  vi.spyOn(process.stderr, "write").mockImplementation(write);
  work(processTerminal());
  vi.restoreAllMocks();
  return text;
}

describe("what a command prints", () => {
  it("has no escape of a service, in lines, errors and traces", () => {
    const trace = Object.assign(new Error("x"), { stack: `Error: ${EVIL}\n    at ${EVIL}` });
    const text = printed((terminal) => {
      terminal.print(`a ${EVIL} b`);
      terminal.tell(EVIL);
      reportError(new CliError(EVIL, { hints: [EVIL] }), terminal);
      reportError(trace, terminal);
    });
    expect(text).toContain("a gone b\n");
    expect(text).toContain("error: Error: gone\n    at gone\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this looks for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u0080-\u009f]/);
  });

  it("has no key that the command has read", () => {
    lookUpSecret({ A_KEY: KEY } as object, "A_KEY");
    const text = printed((terminal) => {
      terminal.print(`it is ${KEY}`);
      reportError(new Error(KEY), terminal);
    });
    expect(text).toContain("it is [secret]\n");
    expect(text).not.toContain(KEY);
  });

  it("has no escape in the codes of errors that a service elsewhere names", () => {
    const state = {
      phase: "running",
      total_rollouts: 4,
      done_rollouts: 2,
      reward: null,
      errors: { [`${EVIL}_error`]: 2 },
      tokens: { input: 0, output: 0 },
      vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null },
    } as unknown as Parameters<typeof progressText>[0];
    expect(progressText(state, null, 0)).toContain("errors: gone_error 2");
  });
});
