import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startOf } from "../../../src/cli/state/processes.ts";
import type { LockRecord } from "../../../src/cli/state/state-lock.ts";
import { type CliProcess, keysOf, metadataOf, until, Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces(
  (fresh) => {
    ({ place, model } = fresh);
  },
  { latency_ms: 100 },
);

const reverse = (name: string, examples: number): string[] => [
  "eval",
  "run",
  "reverse-text",
  "-m",
  name,
  "-b",
  model.url,
  "-n",
  String(examples),
  "-r",
  "1",
  "-c",
  "2",
  // Every request is counted, and the server lists no model of such a name.
  "--no-preflight",
];
const grid = (examples: number): string[] => Array.from({ length: examples }, (_, i) => `${i}/0`);
const folderOf = (name: string): string => place.resultsFolders().find((folder) => folder.includes(`--${name}/`)) ?? "";
const lock = (): LockRecord => JSON.parse(readFileSync(join(place.state, "lock"), "utf8")) as LockRecord;
const asked = (name: string, count: number): Promise<void> =>
  until(
    () => model.ledger.stats(name).total >= count,
    30_000,
    () => `${count} requests of ${name}`,
  );

/** Starts a run that owns the folder, long enough for the start of another on a busy machine, and that one as its client. */
async function ownerAndClient(ownerExamples: number, clientExamples: number): Promise<readonly [CliProcess, CliProcess]> {
  const owner = place.start(reverse("owner", ownerExamples));
  await asked("owner", 1);
  const client = place.start(reverse("client", clientExamples));
  await asked("client", 4);
  expect(lock().pid).toBe(owner.pid);
  return [owner, client];
}

describe("two commands in one folder", () => {
  it("both work when they start at the same moment, one through the other", async () => {
    const both = ["a", "b"].map((name) => place.start(reverse(name, 20)));
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
    for (const name of ["a", "b"]) expect(keysOf(folderOf(name))).toEqual(grid(20));
    expect(existsSync(join(place.state, "lock"))).toBe(false);
  });

  it("the first waits for the second before it ends, and says so", async () => {
    const [owner, client] = await ownerAndClient(50, 100);
    await owner.says(`Runs of other terminals (process ${client.pid})`);
    expect(await client.ended).toBe(0);
    expect(await owner.ended).toBe(0);
    expect(model.ledger.stats("client").total).toBe(100);
  });

  it("Ctrl-C in the first hands over: the second goes on by itself", async () => {
    const [owner, client] = await ownerAndClient(50, 100);
    await owner.says("Runs of other terminals");
    owner.interrupt();
    expect(await owner.ended).toBe(0);
    await client.says("The other terminal's service has ended; the run goes on in this one.");
    expect(lock().pid).toBe(client.pid);
    expect(await client.ended).toBe(0);
    expect(keysOf(folderOf("client"))).toEqual(grid(100));
    // The two rollouts that were open, and what had not been flushed yet.
    expect(model.ledger.stats("client").total).toBeLessThanOrEqual(100 + 2 + 20);
  });

  it("a kill of the first costs the second only what was open, and the first goes on with -R", async () => {
    const [owner, client] = await ownerAndClient(60, 60);
    const { workerd_pid } = lock();
    process.kill(owner.pid, "SIGKILL");
    await client.says("the run goes on in this one");
    expect(startOf(workerd_pid ?? 0)).toBeNull();
    expect(await client.ended).toBe(0);
    expect(keysOf(folderOf("client"))).toEqual(grid(60));
    expect((await place.run(["eval", "reverse-text", "-R", folderOf("owner")])).code).toBe(0);
    expect(keysOf(folderOf("owner"))).toEqual(grid(60));
  });
});

describe("a runtime that ends by itself", () => {
  it("is started again, and the run goes on without anybody asking, and without waiting for leases of the dead", async () => {
    const cli = place.start([...reverse("m", 60), "-v"]);
    await asked("m", 10);
    process.kill(lock().workerd_pid ?? 0, "SIGKILL");
    await cli.says("the local runtime ended unexpectedly");
    expect(await cli.ended).toBe(0);
    expect(keysOf(folderOf("m"))).toEqual(grid(60));
    const log = readFileSync(join(folderOf("m"), "eval.log"), "utf8");
    expect(log).toMatch(/Grant \S+ to executor \S+ ended: its runtime ended/);
    expect(log).not.toContain("fell silent");
    expect(model.ledger.stats("m").peak_in_flight).toBe(2);
    // The two rollouts that were open, and what had not been flushed yet.
    expect(model.ledger.stats("m").total).toBeLessThanOrEqual(60 + 2 + 20);
  });
});

describe("serve", () => {
  const post = async (url: string, name: string, examples: number): Promise<string> => {
    const response = await fetch(`${url}/api/v1/hosted-evaluations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        environment_ids: ["reverse-text"],
        inference_model: name,
        eval_config: { num_examples: examples, rollouts_per_example: 1, max_concurrent: 2, api_base_url: model.url },
      }),
    });
    return ((await response.json()) as { evaluation_id: string }).evaluation_id;
  };
  const statusOf = async (url: string, id: string): Promise<string> =>
    ((await (await fetch(`${url}/api/v1/evaluations/${id}`)).json()) as { status: string }).status;
  const addressOf = async (cli: CliProcess): Promise<string> => {
    await cli.says(/Edgewise listens on (\S+)/);
    return /Edgewise listens on (\S+)/.exec(cli.stdout())?.[1] ?? "";
  };

  it("runs what is created over HTTP, is used by commands of the folder, and ends with Ctrl-C", async () => {
    const server = place.start(["serve", "--port", "0"]);
    const url = await addressOf(server);
    const id = await post(url, "http", 10);
    expect(await place.run(reverse("cli", 4))).toMatchObject({ code: 0 });
    await until(async () => (await statusOf(url, id)) === "COMPLETED", 20_000);
    const second = await place.run(["serve"]);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`runs already: ${url} (process ${server.pid}, edgewise serve)`) });
    server.interrupt();
    expect(await server.ended).toBe(0);
    expect(existsSync(join(place.state, "lock"))).toBe(false);
  });

  it("goes on with unfinished runs by itself after a kill, nobody asking", async () => {
    const first = place.start(["serve", "--port", "0"]);
    const id = await post(await addressOf(first), "http", 80);
    await asked("http", 20);
    process.kill(first.pid, "SIGKILL");
    await first.ended;
    const before = model.ledger.stats("http").total;
    const second = place.start(["serve", "--port", "0"]);
    const url = await addressOf(second);
    await asked("http", before + 5);
    await until(async () => (await statusOf(url, id)) === "COMPLETED", 40_000);
    second.interrupt();
    await second.ended;
    // The command line can fetch a run it did not create.
    expect((await place.run(["eval", "reverse-text", "-R", id])).code).toBe(0);
    expect(keysOf(folderOf("http"))).toEqual(grid(80));
    expect(metadataOf(folderOf("http")).edgewise).toMatchObject({ run_id: id, status: "COMPLETED" });
  });

  it("takes commands of other folders through EDGEWISE_URL, with everything in its own state", async () => {
    const server = place.start(["serve", "--port", "0"]);
    const EDGEWISE_URL = await addressOf(server);
    const elsewhere = new Workplace();
    try {
      const { code, stderr } = await elsewhere.run(reverse("remote", 6), { EDGEWISE_URL });
      expect(stderr).toContain("6/6 rollouts");
      expect(code).toBe(0);
      expect(keysOf(elsewhere.results)).toEqual(grid(6));
      expect(existsSync(elsewhere.state)).toBe(false);
    } finally {
      elsewhere.remove();
    }
  });
});
