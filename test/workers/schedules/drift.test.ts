import { abortAllDurableObjects, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ScheduleTask } from "../../../durable-objects/schedule/schedule-task.ts";
import { scheduleStub } from "../../../durable-objects/stubs.ts";
import type { AppPorts } from "../../../src/api/app-ports.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { compareRun } from "../../../src/api/schedules/compare-run.ts";
import { type DriftState, runEnded } from "../../../src/drift/series.ts";
import { USUAL_DRIFT } from "../../../src/drift/settings.ts";
import { scheduleName } from "../../../src/teams/team-name.ts";
import { Fleet } from "../support/fleet.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const NAME = "nightly";
const { SCHEDULES } = service;
let fleet: Fleet | null = null;
let sent: ScheduleTask[];

beforeEach(() => {
  setVars(STEADY);
  sent = [];
  Object.assign(service, { SCHEDULES: { send: async (task: ScheduleTask) => void sent.push(task) } });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  restoreClock();
  Object.assign(service, { SCHEDULES });
  await reset();
});

const object = () => {
  const stub = scheduleStub(service, "default", NAME);
  if (stub === null) throw new Error("no schedules");
  return stub;
};

/** A settled run of 60 examples, which pass where `passes` says. */
async function settledRun(passes: (example: number) => boolean): Promise<string> {
  const lineOf = (unit: number): string =>
    `{"example_id":${unit},"prompt":[{"role":"user","content":"${unit}?"}],"completion":[{"role":"assistant","content":"a"}],"reward":${passes(unit) ? "1.0" : "0.0"},"error":null,"metrics":{},"rollout_index":0}\n`;
  const config = await storedRun(60, { lineOf });
  fleet ??= new Fleet({ model: new ScriptedModel() });
  await run(config.run_id).poke();
  await fleet.settled(config.run_id);
  return config.run_id;
}

/** A schedule whose runs ended, each where it was seen: what is left to be done is to compare the last ones. */
async function scheduled(runs: readonly string[]): Promise<void> {
  const definition = { every: "1d", time_zone: "UTC", overlap: "skip", catch_up: "last", data: "pinned", eval: { env_id: "reverse-text" } } as const;
  await object().put({ team: "default", name: NAME, definition, creator: { user: "owner", token: null, owner: true } });
  let state: DriftState | null = null;
  for (const run_id of runs) {
    const ruler = { of: "it", dataset_digest: null, env_digest: null };
    state = runEnded(state, { run_id, status: "COMPLETED", rollouts: 60, errored: 0, stopped: false, ruler }, USUAL_DRIFT, 1)?.state ?? state;
  }
  await runInDurableObject(service.SCHEDULE.getByName(scheduleName("default", NAME)), (_, { storage: { sql } }) => {
    for (const [due, run_id] of runs.entries()) {
      const detail = { kind: "manual", outcome: { kind: "run", run_id }, at: due, ended: null };
      sql.exec("INSERT INTO entry VALUES (?, ?, 0, 1, ?)", due, run_id, JSON.stringify(detail));
    }
    sql.exec("CREATE TABLE drift (state TEXT NOT NULL, tries INTEGER NOT NULL, retry_at INTEGER NOT NULL)");
    sql.exec("INSERT INTO drift VALUES (?, 0, 0)", JSON.stringify(state));
  });
}

/** What the alerts of its team were told to last. */
const alerting = (): Promise<readonly string[]> =>
  runInDurableObject(service.SCHEDULE.getByName(scheduleName("default", NAME)), (_, { storage: { sql } }) =>
    sql
      .exec<{ key: string }>("SELECT key FROM alerting")
      .toArray()
      .map(({ key }) => key),
  );

it("a comparison is made again until its schedule is told, in the order of the runs, and counts once", { timeout: 60_000 }, async () => {
  const good = (i: number): boolean => i < 40;
  const baseline = [await settledRun(good), await settledRun(good), await settledRun((i) => i < 41)];
  const [first, second] = [await settledRun((i) => i >= 15 && i < 40), await settledRun(good)];
  await scheduled([...baseline, first, second]);
  await object().poke();
  expect(sent.splice(0)).toEqual([{ protocol: 1, team: "default", schedule: NAME, due: 0, compare: first }]);
  const ports = portsOf(service);
  // What came of it is lost on its way, and the object with what it held in memory.
  const deaf = { ...ports.schedules, of: () => ({ comparison: (id: string) => object().comparison(id), compared: () => Promise.reject(new Error("gone")) }) };
  await expect(compareRun({ ...ports, schedules: deaf } as unknown as AppPorts, NAME, first)).rejects.toThrow("gone");
  await abortAllDurableObjects();
  await compareRun(ports, NAME, second);
  skip(10_000);
  await object().poke();
  expect(sent.splice(0)).toMatchObject([{ compare: first }]);
  await Promise.all([compareRun(ports, NAME, first), compareRun(ports, NAME, first)]);
  await compareRun(ports, NAME, first);
  expect(sent.splice(0)).toMatchObject([{ compare: second }]);
  // Its alerts were told that it is worse, and are told when it is so no more.
  expect(await alerting()).toEqual([expect.stringMatching(/^schedule\/.*\/drift\/worse$/)]);
  await compareRun(ports, NAME, second);
  expect(await alerting()).toEqual([]);
  const view = await object().view();
  const judged = view?.series.flatMap(({ drift }) => (drift === undefined ? [] : [drift])) ?? [];
  expect(judged).toMatchObject([
    { verdict: "steady", n: 60, difference: expect.closeTo(-1 / 180, 12) },
    { verdict: "worse", n: 60, difference: expect.closeTo(-1 / 180 - 0.25, 12), metric: "reward", limit: 100 },
  ]);
  expect(view?.drift).toMatchObject({ judged: 2, waiting: 0, baseline });
  expect(sent).toEqual([]);
});

it("a baseline that is gone leaves a run without a verdict, and says which", { timeout: 60_000 }, async () => {
  const own = await settledRun(() => true);
  await scheduled(["0000aaaa", "0000aaab", "0000aaac", own]);
  await compareRun(portsOf(service), NAME, own);
  expect((await object().view())?.series[0]?.drift).toEqual({ verdict: "unjudged", reason: "run 0000aaaa is gone" });
});
