import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { envDigestOf } from "../../../src/config/env-digest.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, expectComplete, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, setVars, skip, STEADY, until } from "../support/service.ts";

const DATA = "https://rows.example/rows.jsonl";
const ROWS = Array.from({ length: 4 }, (_, index) => JSON.stringify({ prompt: `text ${index}` })).join("\n");

/** What each load of the environment throws, one after the other; null = it goes well. */
let breaks: (Error | null)[] = [];
const fragile = defineEnvironment({
  id: "fragile",
  version: "1.0.0",
  description: "Whose loader breaks when it is told to.",
  args: z.object({}),
  load: () => {
    const thrown = breaks.shift() ?? null;
    if (thrown !== null) throw thrown;
    const rows = Array.from({ length: 4 }, (_, index) => ({ question: `question ${index}`, answer: "a" }));
    return new SingleTurnEnv({ dataset: rows, rubric: new Rubric([{ name: "scored", fn: () => 1 }]) });
  },
});
let fleet: Fleet;
const open = (options: Partial<FleetOptions> = {}): void => {
  fleet = new Fleet({ model: new ScriptedModel({ reply: () => "a" }), haste: 200, ...options });
};

beforeAll(() => registerEnvironments([fragile]));
afterAll(() => registerEnvironments([]));
beforeEach(() => {
  breaks = [];
  setVars(STEADY);
});
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

/** A server of data that is busy for the first so many requests. */
function dataServer(busy: number): Partial<FleetOptions> {
  let asked = 0;
  return {
    onFetch: async ({ args: [url], send }) => {
      if (url !== DATA) return send();
      return ++asked > busy ? new Response(ROWS) : new Response("busy", { status: 503 });
    },
  };
}
const reading = { env_id: "reverse-text", env_args: { dataset: DATA }, num_examples: 4 };
/** Until the run has settled; what it waits for is over at once. */
async function settledAtOnce(runId: string) {
  return until("the run to settle", async () => {
    const view = await viewOf(runId);
    if (view.loading !== undefined) skip(60_000);
    await run(runId).poke();
    return view.phase === "settled" ? view : null;
  });
}
const messagesOf = async (runId: string): Promise<string[]> => ((await run(runId).events(0, 100)) ?? []).map(({ message }) => message);

describe("a data set whose server is busy", () => {
  it("is read once it answers, and the run says meanwhile why it waits", async () => {
    open(dataServer(5));
    const { run_id } = await createRun(reading);
    const waiting = await until("the run to wait", async () => {
      const view = await viewOf(run_id);
      return view.loading === undefined ? null : view;
    });
    expect(waiting).toMatchObject({ status: "PENDING", loading: { attempts: 1, message: `The data set ${DATA} answered with status 503.` } });
    expect(await fleet.settled(run_id)).toMatchObject({ status: "COMPLETED", units: { done: 4 } });
    expect((await viewOf(run_id)).loading).toBeUndefined();
    expect(await messagesOf(run_id)).toContain(`Reading the examples failed and is tried again: The data set ${DATA} answered with status 503.`);
  });

  it("and stays so ends the run by name after some attempts", async () => {
    open(dataServer(Number.POSITIVE_INFINITY));
    const { run_id } = await createRun(reading);
    const { status, failure } = await settledAtOnce(run_id);
    expect(status).toBe("FAILED");
    expect(failure).toMatchObject({
      code: "dataset_unreadable",
      message: `Reading the examples failed 15 times in a row: The data set ${DATA} answered with status 503.`,
    });
  });
});

describe("an environment that cannot be loaded", () => {
  it("by something that may pass is loaded again, when the examples are read and when units are run", async () => {
    open();
    const lost = new Error("Network connection lost.");
    breaks = [lost, null, lost, null];
    const config = await createRun({ env_id: "fragile", num_examples: 4 });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED" });
    await expectComplete(config);
    expect((await messagesOf(config.run_id)).filter((text) => text.includes("tried again"))).toEqual([
      "Reading the examples failed and is tried again: environment fragile could not be loaded: Network connection lost.",
      "Loading the environment failed and is tried again: environment fragile could not be loaded: Network connection lost.",
    ]);
  });

  it("since it cannot be looked up is looked up again, whether or not the service was put together with it", async () => {
    const published = offeredDefinition({ ...fragile, id: "published" });
    let failures = 1;
    const offered = async ({ env_id }: { readonly env_id: string }) => {
      if (failures-- > 0) throw new Error("Network connection lost.");
      return env_id === published.id ? published : null;
    };
    open({ offered, envDigest: envDigestOf("d".repeat(64)) });
    const config = await createRun({ env_id: "published", num_examples: 4 });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED" });
    await expectComplete(config);
    expect((await messagesOf(config.run_id)).filter((text) => text.includes("tried again"))).toHaveLength(1);
  });

  it("for certain ends the run at once", async () => {
    open();
    breaks = [null, new Error("no such rubric")];
    const { run_id } = await createRun({ env_id: "fragile", num_examples: 4 });
    expect(await fleet.settled(run_id)).toMatchObject({
      status: "FAILED",
      failure: { code: "environment_failed", message: expect.stringContaining("no such rubric") },
    });
    expect(breaks).toEqual([]);
  });
});

describe("storage that fails while examples are stored", () => {
  it.each([
    ["that tries again by itself", true],
    ["of the version before, which would end for it", false],
  ])("ends no run %s", async (_, tells) => {
    let failed = 0;
    const told: unknown[] = [];
    open({
      onStore: async ({ method, send }) => {
        if (method === "create" && ++failed <= 1) throw new Error("put: Unspecified error (0)");
        return send();
      },
      onRun: async ({ method, args, send }) => {
        if (method === "fail") told.push(args[0]);
        const answer = await send();
        if (method !== "join" || tells) return answer;
        const { tries_again: _tells, ...before } = answer as { tries_again?: true };
        return before;
      },
    });
    const config = await createRun({ num_examples: 4 });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED" });
    await expectComplete(config);
    expect(told).toHaveLength(tells ? 1 : 0);
  });
});
