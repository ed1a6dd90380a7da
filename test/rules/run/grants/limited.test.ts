import { describe, expect, it } from "vitest";
import type { Vitals } from "../../../../durable-objects/run/vitals.ts";
import type { Limited } from "../../../../src/endpoint-limits/bound.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const OPENAI: Limited = { bound: { kind: "requests", limit: 500, source: "told" }, base_url: "https://api.openai.com/v1" };
const vitals = (limited?: Limited): Vitals => ({ in_flight: 0, retries: 0, waiting: 1, paused_until: null, ...(limited === undefined ? {} : { limited }) });
const waits = (run: RuleRun): readonly string[] => run.ledger.events.map(({ message }) => message).filter((message) => message.startsWith("Waiting"));

describe("why requests of a run wait", () => {
  it("is in its log once for each reason, whichever call and executor say it", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    const [a, b] = [run.grant("a", 4), run.grant("b", 4)];
    run.call("beat", { ...run.id(a), started: [], vitals: vitals() });
    expect(waits(run)).toEqual([]);
    run.call("beat", { ...run.id(a), started: [], vitals: vitals(OPENAI) });
    run.call("claim", { ...run.id(b), seq: 1, free: 1, soon: 0, open: 0, started: [], vitals: vitals(OPENAI) });
    const units = [{ unit: 0, offset: 0, length: 10, rollouts: [summary()] }];
    run.call("commit", { ...run.id(b), segment: "2-1-1", units, started: [], vitals: vitals({ ...OPENAI, judges: true }) });
    expect(waits(run)).toEqual([
      "Waiting for OpenAI's 500 requests a minute: requests begin as that allows",
      "Waiting for OpenAI's 500 requests a minute (its judges): requests begin as that allows",
    ]);
  });

  it("fills no log, whatever executors say", () => {
    const run = RuleRun.open(100);
    const grant = run.grant("a");
    for (let limit = 1; limit <= 100; limit++)
      run.call("beat", { ...run.id(grant), started: [], vitals: vitals({ ...OPENAI, bound: { ...OPENAI.bound, limit } }) });
    expect(waits(run)).toHaveLength(16);
  });
});
