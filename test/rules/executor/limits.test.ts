import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import type { State } from "../../../src/rollouts/types.ts";
import { type GroupRewardContext, groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { begun, env, kept, Line } from "../../support/run/executor-line.ts";
import type { TicketOptions } from "../../support/run/rule-ticket.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** An executor under a run that ends after a minute; both have the same clock. */
function limited(line: Line, answered: number, changes: Partial<TicketOptions> = {}) {
  const since = Date.now();
  const onCall: TicketOptions["onCall"] = async (_name, send) => {
    if (line.run !== undefined) line.run.now = 1_000_000 + Date.now() - since;
    return send();
  };
  return line.next(answered, { onCall, ...changes });
}

/** A group function that takes its time for one example. */
const judge = (ms: number) =>
  new Rubric([
    groupReward(async function judged({ states }: GroupRewardContext) {
      await sleep(ms);
      return states.map(() => 1);
    }),
  ]);
const CONFIG = { config: { timeout_minutes: 1 } };

describe("a run that reaches its time limit", () => {
  it("scores what is generated whole, keeps what else is generated, and asks for nothing more", async () => {
    const line = new Line({ units: 2, lanes: 8, rollouts: 3, environment: env(judge(MINUTE + 10_000)), ...CONFIG });
    const { over } = limited(line, 5);
    await advance(MINUTE + 2_000);
    expect([line.run?.head.status, line.run?.head.phase, line.run?.head.done]).toEqual(["TIMEOUT", "draining", 0]);
    await advance(20_000);
    await over;
    expect([line.calls, line.run?.head.done, line.run?.head.phase, kept(line)]).toEqual([6, 1, "finalising", [[1, 0, 1]]]);
    expect(line.rows().map(({ example_id, reward }) => [example_id, reward])).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
  });

  it("waits half a minute for scores, and no longer", async () => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 3, environment: env(judge(10 * MINUTE)), ...CONFIG });
    const { over } = limited(line, 3);
    await advance(MINUTE + 40_000);
    await over;
    expect([line.run?.head.status, line.run?.head.done, kept(line)]).toEqual(["TIMEOUT", 0, [[0, 0, 1, 2]]]);
  });

  it("scores examples that wait for their turn, which does not come any more", async () => {
    const environment = env(judge(10));
    const line = new Line({ units: 2, lanes: 8, rollouts: 3, environment, config: { ...CONFIG.config, no_interleave_scoring: true } });
    const { over } = limited(line, 5);
    await advance(MINUTE + 10_000);
    await over;
    expect([line.run?.head.done, kept(line), line.rows().length]).toEqual([1, [[1, 0, 1]], 3]);
  });
});

/** Says whether rollouts ended what they hold, or left it for whoever goes on. */
class Holding extends MultiTurnEnv {
  readonly ended: string[] = [];
  constructor() {
    super({ dataset: [{ question: "q" }], maxTurns: 10 });
    this.onCleanup("close", () => void this.ended.push("closed"));
  }
  override async leaveState(): Promise<void> {
    this.ended.push("left");
  }
  override envResponse(_messages: unknown, _state: State): string {
    return "go on";
  }
}

describe("what a rollout between two turns holds", () => {
  it.each([
    ["is closed when the run reaches a limit", "TIMEOUT", ["closed"]],
    ["is closed when the run has failed", "FAILED", ["closed"]],
    ["is left as it is when the run is interrupted, and goes on", "RUNNING", ["left"]],
  ])("%s", async (_what, status, ended) => {
    const environment = new Holding();
    const line = new Line({ units: 1, lanes: 8, rollouts: 1, environment, ...CONFIG });
    const { over, run, grant } = limited(line, 3, {
      answer: async () => {
        // The fourth is under way when its run ends, and comes a moment later.
        await sleep(++line.calls > 3 ? (status === "TIMEOUT" ? MINUTE : 20_000) + 1_500 : 10);
        return "yes";
      },
    });
    await advance(20_000);
    if (status === "FAILED") run.call("fail", { ...run.id(grant), failure: { code: "storage_damaged", message: "gone" } });
    if (status === "RUNNING") run.call("interrupt", null);
    await advance(status === "TIMEOUT" ? MINUTE : 5_000);
    await over;
    expect([run.head.status, environment.ended, begun(line)]).toEqual([status, ended, [[0, 0]]]);
  });
});
