import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ResumeRequest } from "../../../durable-objects/run/control.ts";
import type { BeatAnswer } from "../../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, expectComplete, expectNumbersOfRows, namesOf, type ResultRow, rowsOf, viewOf } from "../support/runs.ts";
import { type ModelCall, neverAnswer, type Reply, ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, setVars, skip, STEADY, until } from "../support/service.ts";

let fleet: Fleet;
let model: ScriptedModel;

function begin(reply?: (call: ModelCall) => Reply | Promise<Reply>, options: Partial<FleetOptions> = {}): void {
  model = new ScriptedModel({ latencyMs: 2, ...(reply === undefined ? {} : { reply }) });
  fleet = new Fleet({ model, ...options });
}
const resume = (runId: string, changes: Partial<ResumeRequest> = {}) => run(runId).resume({ ...NOTHING_NEW, ...changes });
const codeOf = ({ error }: ResultRow): unknown => (error as { code?: unknown } | null)?.code ?? null;

beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

describe("a run that is cancelled", () => {
  it("starts nothing more, lets open units finish, and writes what is there", async () => {
    const gate = Promise.withResolvers<null>();
    let told = false;
    begin((call) => (call.example < 8 ? null : gate.promise), {
      onRun: async ({ method, send }) => {
        const answer = await send();
        if (method === "beat" && (answer as BeatAnswer).kind === "drain") told = true;
        return answer;
      },
    });
    const config = await createRun({ num_examples: 40, max_concurrent: 4 });
    await until("four open units after eight done", async () => model.inFlight === 4 && model.calls.size === 12);
    expect(await run(config.run_id).cancel()).toMatchObject({ ok: true, value: { status: "CANCELLED" } });
    await until("its executor to hear of it", async () => told);
    gate.resolve(null);
    await fleet.settled(config.run_id);
    expect(namesOf(await rowsOf(config))).toEqual(Array.from({ length: 12 }, (_, example) => `${example}/0`));
    expect(model.total).toBe(12);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "CANCELLED", units: { done: 12, pending: 28, open: 0 } });
    await expectNumbersOfRows(config);
  });
});

describe("a run whose time is up", () => {
  it("gives up what is open, keeps what is done, and can go on", async () => {
    setVars({ LEASE_MS: "600000" });
    let hanging = true;
    begin((call) => (call.example < 6 || !hanging ? null : neverAnswer()));
    const config = await createRun({ num_examples: 20, max_concurrent: 4, timeout_minutes: 1 });
    await until("six units done and four that hang", async () => model.inFlight === 4 && (await viewOf(config.run_id)).units.done === 6);
    skip(60_000);
    await run(config.run_id).poke();
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "TIMEOUT", failure: { code: "timeout" }, units: { done: 6 } });
    expect(model.inFlight).toBe(0);
    expect(await rowsOf(config)).toHaveLength(6);
    await expectNumbersOfRows(config);

    hanging = false;
    expect(await resume(config.run_id)).toMatchObject({ ok: true, value: { owed_rollouts: 14 } });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect([...model.calls].filter(([example]) => example < 6).every(([, calls]) => calls === 1)).toBe(true);
  });
});

describe("a run that is interrupted", () => {
  it("drops what is open at once, and resumed does again only that", async () => {
    let hanging = true;
    begin((call) => (call.example < 9 || !hanging ? null : neverAnswer()));
    const config = await createRun({ num_examples: 30, rollouts_per_example: 2, max_concurrent: 4 });
    await until("nine units done", async () => (await viewOf(config.run_id)).units.done === 9);
    await until("four open requests", async () => model.inFlight === 4);
    await run(config.run_id).interrupt();
    await until("its requests to end", async () => model.inFlight === 0);
    await until("its executor to leave", async () => (await viewOf(config.run_id)).executors === 0);
    expect(await viewOf(config.run_id)).toMatchObject({ suspended: true, status: "RUNNING", units: { done: 9, open: 0 } });
    const before = model.total;

    hanging = false;
    expect(await resume(config.run_id)).toMatchObject({ ok: true, value: { owed_rollouts: 42 } });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(model.total).toBe(before + 42);
    expect(await viewOf(config.run_id)).toMatchObject({ generation: 2 });
  });
});

describe("a run that grows", () => {
  it("runs the further examples and no other", async () => {
    begin();
    const config = await createRun({ num_examples: 6, rollouts_per_example: 2 });
    await fleet.settled(config.run_id);
    const first = await expectComplete(config);
    expect(await resume(config.run_id)).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
    expect(await resume(config.run_id, { num_examples: 10 })).toMatchObject({ ok: true, value: { owed_rollouts: 8 } });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config, 10);
    expect(rows.slice(0, 12)).toEqual(first);
    expect([...model.calls.values()]).toEqual(Array.from({ length: 10 }, () => 2));
  });

  const pages = (rows: readonly string[]): Partial<FleetOptions> => ({
    onFetch: async ({ args: [url], send }) =>
      url === "https://data.example/rows.jsonl" ? new Response(rows.map((text) => `${JSON.stringify({ text })}\n`).join("")) : send(),
  });
  const FROM_WEB = { env_args: { dataset: "https://data.example/rows.jsonl" } };

  it("is refused a data set whose first rows have changed, and keeps its results", async () => {
    begin(undefined, pages(["one", "two", "three", "four"]));
    const config = await createRun({ ...FROM_WEB, num_examples: 3 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    await fleet.close();
    begin(undefined, pages(["one", "TWO", "three", "four", "five"]));
    await resume(config.run_id, { num_examples: 5 });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "FAILED", failure: { code: "dataset_changed" }, units: { total: 3, done: 3 } });
    expect(namesOf(await rowsOf(config))).toEqual(["0/0", "1/0", "2/0"]);
    expect(model.total).toBe(0);
  });

  it("to more than there is has all there is", async () => {
    begin(undefined, pages(["one", "two", "three", "four"]));
    const config = await createRun({ ...FROM_WEB, num_examples: 3 });
    await fleet.settled(config.run_id);
    await resume(config.run_id, { num_examples: 50 });
    await fleet.settled(config.run_id);
    await expectComplete(config, 4);
  });
});

describe("a run with infrastructure errors", () => {
  /** The first rollout of every fifth example gets an answer that is none; one example is refused for what it says. */
  const faulty = ({ example, attempt }: ModelCall): Reply => {
    if (example === 6) return { kind: "status", status: 400 };
    return example % 5 === 0 && attempt === 1 ? { kind: "empty_choices" } : null;
  };

  async function faultyRun(): Promise<RunConfig> {
    begin(faulty);
    const config = await createRun({ num_examples: 12, rollouts_per_example: 2 });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(rows.filter((row) => codeOf(row) !== null).map((row) => `${row.example_id} ${codeOf(row)}`)).toEqual([
      "0 invalid_response",
      "5 invalid_response",
      "6 bad_request",
      "6 bad_request",
      "10 invalid_response",
    ]);
    return config;
  }

  it("runs those rollouts again on resume, and no other", async () => {
    const config = await faultyRun();
    const before = await rowsOf(config);
    expect(await resume(config.run_id)).toMatchObject({ ok: true, value: { owed_rollouts: 3 } });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(rows.filter((row) => codeOf(row) !== null).map(codeOf)).toEqual(["bad_request", "bad_request"]);
    expect(model.total).toBe(24 + 3);
    // What was kept is as it was, to the byte.
    for (const [index, row] of before.entries()) if (codeOf(row) !== "invalid_response") expect(rows[index]).toEqual(row);
    expect(await resume(config.run_id)).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
  });

  it("keeps them when told so", async () => {
    const config = await faultyRun();
    const before = await rowsOf(config);
    expect(await resume(config.run_id, { keep_errors: true, num_examples: 14 })).toMatchObject({ ok: true, value: { owed_rollouts: 4 } });
    await fleet.settled(config.run_id);
    expect((await expectComplete(config, 14)).slice(0, 24)).toEqual(before);
    expect(model.total).toBe(24 + 4);
  });

  it("shows each row once to whoever follows, the repaired ones in place of the old", async () => {
    const config = await faultyRun();
    const follow = async (from: number): Promise<{ units: number[]; next: number }> => {
      const page = await run(config.run_id).committed(from, 1e9);
      return { units: page?.commits.flatMap(({ places }) => places.map(({ unit }) => unit)) ?? [], next: page?.next ?? 0 };
    };
    const first = await follow(0);
    expect(first.units.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, unit) => unit));
    // What was there is told from the history of any other copy of the run, whatever comes after it.
    const marks = async (after: number) => {
      const page = await run(config.run_id).committed(after, 1e9);
      return [page?.after_mark, page?.next_mark];
    };
    const [none, mark] = await marks(0);
    expect([none, mark]).toEqual([null, expect.stringMatching(/^\d+\.\d+-\d+-\d+$/)]);
    await resume(config.run_id);
    expect((await marks(first.next))[0]).toBe(mark);
    expect((await follow(0)).units.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 11]);
    await fleet.settled(config.run_id);
    expect((await follow(first.next)).units.sort((a, b) => a - b)).toEqual([0, 5, 10]);
    expect((await follow(0)).units.sort((a, b) => a - b)).toEqual(first.units);
  });
});

describe("two runs and one executor that is full", () => {
  it("share it: the second does not wait for the end of the first", async () => {
    begin(undefined, { budget: { requests: 4 } });
    model.options = { latencyMs: 30 };
    const first = await createRun({ num_examples: 150, max_concurrent: 4 });
    await until("the first run to work", async () => (await viewOf(first.run_id)).units.done > 0);
    const second = await createRun({ num_examples: 8, max_concurrent: 4 });
    await fleet.settled(second.run_id);
    expect(await viewOf(first.run_id)).toMatchObject({ phase: "open" });
    await fleet.settled(first.run_id);
    await expectComplete(first);
    await expectComplete(second);
  });

  it("share it without an end of the first one's grant: that gives back a part, and goes on", async () => {
    begin(undefined, { executors: 1, budget: { requests: 4 } });
    model.options = { latencyMs: 30 };
    const first = await createRun({ num_examples: 100, max_concurrent: 4 });
    await until("the first run to work", async () => (await viewOf(first.run_id)).units.done > 0);
    const { grants } = await viewOf(first.run_id);
    const second = await createRun({ num_examples: 8, max_concurrent: 4 });
    await fleet.settled(second.run_id);
    expect(await viewOf(first.run_id)).toMatchObject({ phase: "open", grants });
    await fleet.settled(first.run_id);
    await expectComplete(first);
    expect(model.peak).toBeLessThanOrEqual(4);
  });
});

describe("inputs that cannot be read for a while", () => {
  it("are asked for again without haste, and the run ends well", async () => {
    let failures = 0;
    let joins = 0;
    begin(undefined, {
      onRun: (call) => {
        if (call.method === "join") joins++;
        return call.send();
      },
      onStore: (call) => {
        if (call.method !== "readAll" || failures >= 2) return call.send();
        failures++;
        throw new Error("R2 is busy");
      },
    });
    const config = await createRun({ num_examples: 5, max_concurrent: 1 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(failures).toBe(2);
    expect(joins).toBeLessThan(12);
  });

  it("for longer do not keep executors busy", async () => {
    let joins = 0;
    begin(undefined, {
      onRun: (call) => {
        if (call.method === "join") joins++;
        return call.send();
      },
      onStore: (call) => {
        if (call.method === "readAll") throw new Error("R2 is away");
        return call.send();
      },
    });
    await createRun({ num_examples: 5, max_concurrent: 1 });
    await until("some attempts", async () => joins > 3);
    const before = joins;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(joins - before).toBeLessThan(10);
  });
});
