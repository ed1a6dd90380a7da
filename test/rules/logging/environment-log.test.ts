import { describe, expect, it } from "vitest";
import { blotter } from "../../../src/errors/masking.ts";
import { secretValues } from "../../../src/config/endpoints/secrets.ts";
import { EnvironmentLog } from "../../../src/executor/hosting/environment-log.ts";
import type { EnvironmentLine } from "../../../src/logging/environment-line.ts";
import { RuleRun } from "../../support/run/rule-run.ts";

function opened(send?: (lines: readonly EnvironmentLine[]) => Promise<void>) {
  const calls: (readonly EnvironmentLine[])[] = [];
  const logged: string[] = [];
  const log = new EnvironmentLog({
    send: send ?? (async (lines) => void calls.push(lines)),
    sleep: () => new Promise(() => undefined),
    log: (message) => logged.push(message),
  });
  const say = (text: string, level: EnvironmentLine["level"] = "INFO"): void => log.print(level, () => text);
  return { log, say, calls, logged, messages: () => calls.flat().map(({ message }) => message) };
}

describe("what an environment prints, in its executor", () => {
  it("is a line each, cut, and without secrets, those over several lines among them", async () => {
    const { log, say, messages } = opened();
    log.mask = blotter(["BEGIN\nsecret\nEND", "hush-hush"]);
    say(`a key: BEGIN\nsecret\nEND, and hush-hush\r\nnext`);
    say("x".repeat(5_000));
    await log.flush();
    expect(messages()).toEqual(["a key: [secret], and [secret]", "next", `${"x".repeat(1_000)}…`]);
  });

  it("is not even made into a text where nothing of it is kept", async () => {
    const { log, messages } = opened();
    let made = 0;
    for (let line = 0; line < 2_000; line++) log.print("INFO", () => `line ${++made}`);
    log.print("DEBUG", () => `line ${++made}`);
    await log.flush();
    expect(made).toBe(1_001);
    expect(messages().length).toBe(1_001);
  });

  it("goes on after a call that failed, which is told to the engine's log", async () => {
    let fails = true;
    const sent: string[] = [];
    const { log, say, logged } = opened(async (lines) => {
      if (fails) throw new Error("object reset");
      sent.push(...lines.map(({ message }) => message));
    });
    say("lost");
    await log.flush();
    fails = false;
    say("kept");
    await log.flush();
    expect(sent).toEqual(["kept"]);
    expect(logged).toEqual(["lines of an environment: object reset"]);
  });
});

describe("what an environment prints, in the log of its run", () => {
  it("is marked, whatever it says, and bounded over all executors", () => {
    const rule = RuleRun.open(1, {});
    const grant = rule.grant("executor", 1);
    const batch = (count: number, message: string): EnvironmentLine[] => Array.from({ length: count }, () => ({ level: "INFO", message }));
    for (let call = 0; call < 8; call++) {
      const environment = batch(900, "Run FAILED: no");
      rule.call("note", { protocol: 1, ticket: grant.ticket, epoch: grant.epoch, level: "INFO", message: "[env] Run FAILED: no", environment });
    }
    const lines = rule.ledger.events.filter(({ type }) => type === "log").map(({ message }) => message);
    expect(lines.filter((line) => line === "[env] Run FAILED: no").length).toBe(5_000);
    expect(lines.filter((line) => line.startsWith("Run FAILED"))).toEqual([]);
    expect(lines.filter((line) => line.includes("further lines"))).toEqual(["[env] further lines are left out: a run keeps 5000"]);
  });
});

describe("the secrets of a host", () => {
  it("are what it was given as such, by name, and no settings", () => {
    const source = {
      LOCAL_SECRETS: { MY_TOKEN: "t-1" },
      OPENAI_API_KEY: "sk-1",
      API_KEY_VAR: "PRIME_API_KEY",
      KEY_VARS: "*_KEY",
      LEASE_MS: "30000",
      OTHER: "o-1",
    };
    expect([...secretValues(source, ["OTHER"])].sort()).toEqual(["o-1", "sk-1", "t-1"]);
  });
});
