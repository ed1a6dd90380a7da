import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

interface Shown {
  readonly name: string;
  readonly active: { readonly due_at: string } | null;
  readonly waiting: readonly { readonly due_at: string }[];
  readonly series: readonly {
    readonly due_at: string;
    readonly outcome: string;
    readonly run_id: string | null;
    readonly kind: string;
    readonly status: string | null;
  }[];
  readonly events: readonly {
    readonly type: string;
    readonly detail: { readonly count: number; readonly first: string; readonly last: string; readonly caught_up: number };
  }[];
}

const EVERY_MS = 2_000;
const POLICIES = ["none", "last", "all"] as const;

let place: Workplace;
let model: ModelServer;
let served: Served;
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer({ accuracy: 1 });
  served = new Served(place);
  await served.start();
});
afterAll(async () => {
  await served.end("SIGKILL");
  place.remove();
  await model.close();
});

const schedule = async (name: string): Promise<Shown> => ((await (await served.ask(`/schedules/${name}`)).json()) as { data: Shown }).data;
const cli = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await place.run(["schedule", ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
};

it("a service that was killed over three due times says so, and each catch_up has its runs, one for each due time", { timeout: 120_000 }, async () => {
  const table = (catch_up: string): string => `
[[schedule]]
name = "${catch_up}"
every = "2s"
overlap = "queue"
catch_up = "${catch_up}"
run_name = "${catch_up} of {{date}}"
[schedule.eval]
env_id = "reverse-text"
model = "scripted"
api_base_url = "${model.url}"
num_examples = 1
rollouts_per_example = 1
`;
  writeFileSync(join(place.folder, "schedules.toml"), POLICIES.map(table).join(""));
  expect(await cli("apply", "schedules.toml")).toMatch(/^\+ none: new, next .*\n\+ last: new.*\n\+ all: new/);
  expect(await cli("apply", "schedules.toml")).toBe(POLICIES.map((name) => `= ${name}: unchanged\n`).join(""));
  const hasRun = async (name: string, more = 0): Promise<boolean> => (await schedule(name)).series.filter(({ status }) => status === "COMPLETED").length > more;
  for (const name of POLICIES)
    await until(
      () => hasRun(name),
      60_000,
      () => `a run of ${name}`,
    );

  await served.end("SIGKILL");
  await sleep(4 * EVERY_MS);
  const server = new Served(place);
  served = server;
  await server.start();
  const missedOver = async (name: string): Promise<number> =>
    Math.max(0, ...(await schedule(name)).events.filter(({ type }) => type === "schedule.missed").map(({ detail }) => detail.count));
  for (const name of POLICIES)
    await until(
      async () => (await missedOver(name)) >= 3,
      60_000,
      () => `what was missed of ${name}`,
    );
  for (const name of POLICIES)
    await until(
      () => server.said(`schedule ${name} was due`),
      60_000,
      () => `serve to say that ${name} was due`,
    );
  // Held, so that what there is stays.
  for (const name of POLICIES) await served.ask(`/schedules/${name}/pause`, { reason: "enough" });
  for (const name of POLICIES)
    await until(
      async () => (await schedule(name)).active === null,
      60_000,
      () => `the last run of ${name}`,
    );

  const made = (await (await server.ask("/evaluations/?limit=1000")).json()) as { evaluations: readonly { name: string; evaluation_id: string }[] };
  for (const name of POLICIES) {
    const { series, events } = await schedule(name);
    const missed = events.filter(({ type }) => type === "schedule.missed").map(({ detail }) => detail);
    const outage = missed.find(({ count }) => count >= 3);
    expect(outage?.caught_up).toBe({ none: 0, last: (outage?.caught_up ?? 0) === 0 ? 0 : 1, all: outage?.count }[name]);
    // Each due time from the first to the last is in the series or missed, and none twice.
    const dues = series.filter(({ kind }) => kind !== "manual").map(({ due_at }) => Date.parse(due_at));
    expect(new Set(dues).size).toBe(dues.length);
    for (let due = Math.min(...dues); due <= Math.max(...dues); due += EVERY_MS) {
      const isMissed = missed.some(({ first, last }) => Date.parse(first) <= due && due <= Date.parse(last));
      expect(dues.includes(due) || isMissed, `${name} ${new Date(due).toISOString()}`).toBe(true);
    }
    // One run for each that has one.
    const own = series.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
    expect(new Set(own).size).toBe(own.length);
    expect(
      made.evaluations
        .filter((run) => run.name.startsWith(`${name} of 2`))
        .map(({ evaluation_id }) => evaluation_id)
        .sort(),
    ).toEqual([...own].sort());
  }
  expect(await cli("get", "all")).toMatch(/paused: enough.*Reward: [▁-█·]+ 1\.000 to 1\.000.*schedule\.paused/s);
  writeFileSync(join(place.folder, "schedules.toml"), table("last"));
  expect(await cli("apply", "schedules.toml", "--prune")).toContain("- all: deleted, its runs stay");
  expect(await cli("list")).toMatch(/^SCHEDULE.*\nlast .*\n$/);
});
