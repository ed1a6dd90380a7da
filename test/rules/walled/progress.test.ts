import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { openKeptState, StateSnapshot } from "../../../src/rollouts/kept/kept-state.ts";
import { RolloutLeft } from "../../../src/rollouts/kept/left.ts";
import type { Message, ModelRequest, State } from "../../../src/rollouts/types.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { EXAMPLE, response, scripted } from "../../support/walled/units.ts";
import { listening } from "../../support/walled/listening.ts";
import { walled } from "../../support/walled/walled.ts";
import { both, context, dataset, define, lines, right, run as begin } from "../../support/walled/both.ts";

class Counting extends MultiTurnEnv {
  constructor(rubric = new Rubric([right])) {
    super({ dataset, rubric, maxTurns: 4 });
  }
  override async setupState(state: State): Promise<void> {
    state.count = 0;
  }
  override envResponse(_: readonly Message[], state: State): Message[] {
    state.count = (state.count as number) + 1;
    return [{ role: "user", content: `turn ${String(state.count)}` }];
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Lets time pass until the unit is over: as much as it takes, however long this machine takes for it. */
async function run(...of: Parameters<typeof begin>): ReturnType<typeof begin> {
  const outcome = begin(...of);
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  outcome.then(over, over);
  while (!isOver) await vi.advanceTimersByTimeAsync(10);
  return await outcome;
}

const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
/** Says how long the conversation is, after a while. */
const slowly = (ms: number) => scripted(({ prompt }) => later(ms).then(() => response(`${prompt.length}`, {}, prompt.length)));

describe("what is told of rollouts behind a wall", () => {
  it("is that each was generated and scored, before its row is there", async () => {
    for (const hosted of await both(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }))) {
      const told = listening();
      await run(
        hosted,
        scripted(() => response("4")),
        3,
        told.options,
      );
      expect([...told.events].sort()).toEqual(
        [0, 1, 2]
          .flatMap((index) => [`generated ${index} 1`])
          .concat(
            [0, 1, 2].map((index) => `scored ${index} 1`),
            [0, 1, 2].map((index) => `scoring ${index}`),
          )
          .sort(),
      );
      for (const index of [0, 1, 2])
        expect(told.events.filter((event) => event.split(" ")[1] === String(index)).map((event) => event.split(" ")[0])).toEqual([
          "generated",
          "scoring",
          "scored",
        ]);
    }
  });

  it("comes once for rollouts that are over in a moment: one text per rollout crosses", async () => {
    const one = walled(
      define(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) })),
      {},
      {},
      true,
    );
    const hosted = await one.offered.load({}, context);
    await run(
      hosted,
      scripted(() => response("4")),
      1,
      listening().options,
    );
    await run(
      hosted,
      scripted(() => response("4")),
      1,
      listening().options,
    );
    const types = one.channels[0]?.crossed.messages.map(({ type }) => type);
    expect(types).toEqual(["open", "opened", "play", "call", "answer", "ended", "played", "play", "call", "answer", "ended", "played"]);
  });

  it("comes while others are being generated, so that it can be kept", async () => {
    const [, hosted] = await both(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }));
    const told = listening();
    let early: string[] = [];
    const late = async () => {
      await later(900);
      early = [...told.events];
      return response("5");
    };
    const client = scripted((_, call) => (call === 0 ? response("4") : late()));
    await run(hosted, client, 2, told.options);
    expect(early).toEqual(["generated 0 1", "scoring 0", "scored 0 1"]);
  });

  it("of a group is what was generated, before its scores are there", async () => {
    const rubric = () =>
      new Rubric([
        groupReward(async function slow({ completions }) {
          await later(700);
          return completions.map(() => 1);
        }),
      ]);
    const [, hosted] = await both(() => new SingleTurnEnv({ dataset, rubric: rubric() }));
    const told = listening();
    await run(
      hosted,
      scripted(() => response("4")),
      2,
      told.options,
    );
    expect(told.events).toEqual(["generated 0 1", "generated 1 1", "scoring all"]);
  });
});

describe("turns of rollouts behind a wall", () => {
  it("are told, and a rollout goes on from one elsewhere with the same row", async () => {
    const definition = () => new Counting();
    const [inside] = await both(definition);
    const whole = await run(inside, slowly(0), 1, { stateColumns: ["count"] });
    const [, first] = await both(definition);
    const told = listening();
    const end = new AbortController();
    const stopped = run(
      first,
      scripted(({ prompt }) => (prompt.length > 4 ? new Promise<never>(() => undefined) : response(`${prompt.length}`, {}, prompt.length))),
      1,
      { ...told.options, signal: end.signal },
    );
    await expect.poll(() => told.turns.length, { timeout: 5_000 }).toBeGreaterThan(0);
    end.abort(new RolloutLeft());
    expect(await stopped).toMatchObject({ aborted: true, lines: [] });
    const { state, turn } = told.turns.at(-1) as (typeof told.turns)[number];
    const base = { input: EXAMPLE, tools: [] };
    const kept = new StateSnapshot(state, base, turn).text();
    if (!kept.ok) throw new Error(kept.problem);
    for (const again of await both(definition)) {
      const client = slowly(0);
      const gone = await run(again, client, 1, { stateColumns: ["count"], begun: new Map([[0, openKeptState(kept.text, base, client)]]) });
      expect(lines(gone)).toEqual(lines(whole));
      expect(client.requests).toHaveLength(2);
    }
  });

  it("are where rollouts stop that are to leave", async () => {
    const [, hosted] = await both(() => new Counting());
    const told = listening(() => "leave");
    const outcome = await run(hosted, slowly(400), 1, told.options);
    expect(outcome).toMatchObject({ aborted: true, fatal: null, lines: [] });
    expect(told.turns.length).toBeGreaterThan(1);
  });

  it("of a state that is no JSON are not kept, and say which key", async () => {
    const [, hosted] = await both(() =>
      Object.assign(new Counting(), { setupState: async (state: State) => void Object.assign(state, { count: 0, map: new Map() }) }),
    );
    const told = listening(() => "unkept");
    const outcome = await run(hosted, slowly(0), 2, told.options);
    expect(outcome.lines).toHaveLength(2);
    expect(told.turns).toHaveLength(1);
    expect(new StateSnapshot(told.turns[0]?.state as State, { input: EXAMPLE, tools: [] }, told.turns[0]?.turn).problem).toEqual({
      path: "state.map",
      problem: "is a Map",
    });
  });

  it("make the time of a unit begin anew where they are kept, and nowhere else once that is known", async () => {
    const outcomes: unknown[] = [];
    for (const hosted of await both(() => new Counting())) {
      const kept = await run(hosted, slowly(250), 1, { ...listening().options, deadlineMs: 900 });
      await run(hosted, slowly(250), 1, listening(() => "unkept").options);
      const unkept = await run(hosted, slowly(250), 1, { ...listening(() => "unkept").options, deadlineMs: 900 });
      outcomes.push([kept, unkept].map(({ lines: [line = ""] }) => (JSON.parse(line) as { error: { code: string } | null }).error?.code ?? null));
    }
    expect(outcomes).toEqual([
      [null, "timeout"],
      [null, "timeout"],
    ]);
  });
});

describe("what ends a unit behind a wall", () => {
  it("is told as long as the unit is open, and its signal is let go of then; one that another has too is told further", async () => {
    const { offered, channels } = walled(
      define(() => new Counting()),
      {},
      {},
      true,
    );
    const hosted = await offered.load({}, context);
    const aborts = () => channels[0]?.crossed.messages.filter(({ type }) => type === "abort").length;
    const [own, shared] = [new AbortController(), new AbortController()];
    const open = run(
      hosted,
      scripted(() => new Promise<never>(() => undefined)),
      1,
      { generation: shared.signal },
    );
    await run(
      hosted,
      scripted(() => response("4")),
      1,
      { signal: own.signal, generation: shared.signal },
    );
    own.abort(new Error("too late"));
    shared.abort(new Error("the run has ended"));
    expect(await open).toMatchObject({ aborted: true });
    expect(aborts()).toBe(1);
  });

  it("is the signal, without rows, and its calls end", async () => {
    for (const hosted of await both(() => new Counting())) {
      const end = new AbortController();
      const client = scripted(() => new Promise<never>(() => undefined));
      const outcome = run(hosted, client, 3, { signal: end.signal });
      await expect.poll(() => client.requests.length).toBe(3);
      end.abort(new Error("enough"));
      expect(await outcome).toMatchObject({ aborted: true, fatal: null });
      expect(client.requests.every(({ signal }) => signal?.aborted === true)).toBe(true);
    }
  });

  it("is the end of generation: what is generated is scored where all of it is", async () => {
    for (const hosted of await both(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }))) {
      const end = new AbortController();
      const told = listening();
      const [generated, scoring] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const scoringTurn = (): Promise<void> => {
        generated.resolve();
        return scoring.promise;
      };
      const outcome = run(
        hosted,
        scripted(() => response("4")),
        2,
        { ...told.options, generation: end.signal, scoringTurn },
      );
      await generated.promise;
      end.abort(new Error("the run has ended"));
      scoring.resolve();
      expect((await outcome).summaries.map(({ reward }) => reward)).toEqual([1, 1]);
      const none = run(
        hosted,
        scripted(() => new Promise<never>(() => undefined)),
        2,
        { generation: end.signal },
      );
      expect(await none).toMatchObject({ aborted: true });
    }
  });

  it("is its deadline, with rows that say so", async () => {
    const outcomes: UnitOutcome[] = [];
    for (const hosted of await both(() => new Counting()))
      outcomes.push(
        await run(
          hosted,
          scripted(() => new Promise<never>(() => undefined)),
          2,
          { deadlineMs: 100 },
        ),
      );
    expect(lines(outcomes[1] as UnitOutcome)).toEqual(lines(outcomes[0] as UnitOutcome));
    expect(JSON.parse(outcomes[1]?.lines[0] ?? "")).toMatchObject({ error: { code: "timeout" } });
  });

  it("is the deadline of one rollout, whose server has not answered", async () => {
    const outcomes: UnitOutcome[] = [];
    const environment = () => Object.assign(new Counting(), { timeoutSeconds: 0.1 });
    for (const hosted of await both(environment))
      outcomes.push(
        await run(
          hosted,
          scripted(() => new Promise<never>(() => undefined)),
          1,
          {},
        ),
      );
    expect(lines(outcomes[1] as UnitOutcome)).toEqual(lines(outcomes[0] as UnitOutcome));
  });

  it("is none of them while its requests wait: for a permit, and to be sent again", async () => {
    const answers = scripted(() => response("4"));
    const waiting = {
      ...answers,
      getResponse: async ({ onBegin, onWait, ...request }: ModelRequest) => {
        await later(400);
        onBegin?.();
        onWait?.(true);
        await later(400);
        onWait?.(false);
        await later(50);
        return await answers.getResponse(request);
      },
    };
    for (const hosted of await both(() => Object.assign(new Counting(), { timeoutSeconds: 0.6 }))) {
      const outcome = await run(hosted, waiting, 1, { deadlineMs: 700 });
      const row = JSON.parse(outcome.lines[0] ?? "");
      expect(row).toMatchObject({ error: null, stop_condition: "max_turns_reached" });
      // Four turns of 50 ms, and what telling it takes; each waits for 800.
      expect(row.timing.generation_ms).toBeLessThan(600);
    }
  });
});
