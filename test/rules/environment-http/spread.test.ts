import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { EnvironmentPlace } from "../../../src/environment-http/environment-server.ts";
import { healthOf } from "../../../src/environment-http/health.ts";
import { httpOpener } from "../../../src/environment-http/http-opener.ts";
import { type ReopenedEnvironment, SpreadHosted, type SpreadOptions } from "../../../src/environment-http/spread-hosted.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { EdgewiseError, failureOf } from "../../../src/errors/result.ts";
import type { ModelResponse } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { walledEnvironment } from "../../../src/walled/walled-environment.ts";
import { type ServedEnvironment, served } from "../../support/environment-http/served.ts";
import { context, dataset, define, right } from "../../support/walled/both.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";

const single = (passThreshold = 0.5) => define(() => Object.assign(new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }), { passThreshold }));

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** A server in a process of its own. */
async function processOf(): Promise<EnvironmentPlace & { readonly process: ChildProcess }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../../support/environment-http/server-process.ts", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  ended.push(() => child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { ...(JSON.parse(line) as EnvironmentPlace), process: child };
}

async function inProcess(definition = single()): Promise<ServedEnvironment> {
  const server = await served(definition);
  ended.push(server.kill);
  return server;
}

const loading = (place: EnvironmentPlace) => () =>
  walledEnvironment(offeredDefinition(single()), httpOpener(place, { fetch, beginMs: 2_000, waitMs: 5, repeatMs: 200 })).load({}, context);

function options(fields: Partial<SpreadOptions> = {}): SpreadOptions & { readonly warnings: string[] } {
  const warnings: string[] = [];
  return { now: Date.now, random: () => 0, warn: (message) => void warnings.push(message), pauseMs: { first: 30, last: 100 }, warnings, ...fields };
}

async function spread(places: readonly (EnvironmentPlace | (() => Promise<ReopenedEnvironment>))[], own = options()): Promise<SpreadHosted> {
  const hosted = await SpreadHosted.open(
    places.map((place, at) => ({ shown: `place ${at}`, load: typeof place === "function" ? place : loading(place) })),
    own,
  );
  ended.push(() => hosted.teardown().catch(() => undefined));
  return hosted;
}

const play = async (hosted: SpreadHosted, client = scripted(() => response("4"))) => {
  const { lines } = await runUnit(hosted, EXAMPLE, unitOptions(client, 1));
  return (JSON.parse(lines[0] ?? "{}") as { error: { code: string } | null }).error?.code ?? null;
};
const unitsOf = ({ conversations }: ServedEnvironment): number =>
  conversations.flatMap(({ batches }) => batches.flat()).filter(({ type }) => type === "play").length;
/** What is there once a unit was played. */
async function onceMore<T>(hosted: SpreadHosted, look: () => T): Promise<T> {
  await play(hosted);
  return look();
}
const settled = (hosted: SpreadHosted) => expect.poll(async () => ((await play(hosted)) === null ? "played" : "failed")).toBe("played");

/** Until each of them is loaded and has a unit of two. */
async function bothPlay(hosted: SpreadHosted, places: readonly EnvironmentPlace[]): Promise<void> {
  const tried = async () => {
    const answer = Promise.withResolvers<ModelResponse>();
    const client = scripted(() => answer.promise);
    const two = [play(hosted, client), play(hosted, client)];
    await expect.poll(() => client.requests.length).toBe(2);
    const units = await Promise.all(places.map(async (place) => (await healthOf(place, fetch)).units));
    answer.resolve(response("4"));
    await Promise.all(two);
    return units;
  };
  await expect.poll(tried, { timeout: 10_000 }).toEqual([1, 1]);
}

describe("an environment at several addresses", () => {
  it("has 200 units over two, of which one is killed: those under way there are drawn again on resume, all others are played at the other one", async () => {
    const [first, second] = await Promise.all([processOf(), processOf()]);
    const own = options();
    const hosted = await spread([first, second], own);
    await bothPlay(hosted, [first, second]);
    const held: PromiseWithResolvers<ModelResponse>[] = [];
    let left = 200;
    const codes: (string | null)[] = [];
    // 20 at once; the answers of the first twenty come when the process is gone.
    const client = scripted(() => {
      if (held.length >= 20) return response("4");
      const answer = Promise.withResolvers<ModelResponse>();
      held.push(answer);
      return answer.promise;
    });
    const lanes = Array.from({ length: 20 }, async () => {
      while (left-- > 0) codes.push(await play(hosted, client));
    });
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(20);
    first.process.kill("SIGKILL");
    await once(first.process, "exit");
    await expect.poll(() => codes.length, { timeout: 10_000 }).toBeGreaterThan(0);
    for (const { resolve } of held) resolve(response("4"));
    await Promise.all(lanes);
    expect(codes).toHaveLength(200);
    expect(codes.filter((code) => code !== null)).toEqual(Array.from({ length: 10 }, () => "sandbox_error"));
    expect(own.warnings.length).toBeGreaterThan(0);
    expect(own.warnings[0]).toMatch(/place 0 is left out for now: .*cannot be reached/);
  });

  it("has each example played where fewest are under way", async () => {
    const servers = [await inProcess(), await inProcess(), await inProcess()];
    const hosted = await spread(servers);
    await expect.poll(() => onceMore(hosted, () => servers.every((server) => unitsOf(server) > 0))).toBe(true);
    const before = servers.map(unitsOf);
    const all = Promise.withResolvers<ModelResponse>();
    const units = Array.from({ length: 30 }, () =>
      play(
        hosted,
        scripted(() => all.promise),
      ),
    );
    await expect.poll(() => servers.map((server, at) => unitsOf(server) - (before[at] ?? 0))).toEqual([10, 10, 10]);
    all.resolve(response("4"));
    expect((await Promise.all(units)).every((code) => code === null)).toBe(true);
  });

  it("begins with the first that is there, and has the others when they are", async () => {
    const servers = [await inProcess(), await inProcess()];
    const late = Promise.withResolvers<void>();
    const hosted = await spread([
      async () => {
        await late.promise;
        return await loading(servers[0] as ServedEnvironment)();
      },
      servers[1] as ServedEnvironment,
    ]);
    for (let n = 0; n < 4; n++) expect(await play(hosted)).toBeNull();
    expect(servers.map(unitsOf)).toEqual([0, 4]);
    late.resolve();
    await expect.poll(() => onceMore(hosted, () => unitsOf(servers[0] as ServedEnvironment))).toBeGreaterThan(0);
    expect(await Array.fromAsync(hosted.examples(-1))).toHaveLength(1);
  });

  it("leaves one out that cannot be loaded, tries it again with pauses that grow, and uses it once it is there", async () => {
    const servers = [await inProcess(), await inProcess()];
    let [isThere, tries, now] = [false, 0, 0];
    const own = options({ now: () => now });
    const hosted = await spread(
      [
        servers[0] as ServedEnvironment,
        async () => {
          tries++;
          if (!isThere) throw new Error("still starting");
          return await loading(servers[1] as ServedEnvironment)();
        },
      ],
      own,
    );
    await settled(hosted);
    const triesAt: number[] = [];
    for (now = 0; now < 400; now += 5) {
      const before = tries;
      expect(await play(hosted)).toBeNull();
      if (tries > before) triesAt.push(now);
    }
    expect(tries).toBeGreaterThan(3);
    const pauses = triesAt.slice(1).map((at, index) => at - (triesAt[index] ?? 0));
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(pauses.at(-1)).toBe(100);
    expect(own.warnings).toEqual(["place 1 is left out for now: still starting"]);
    isThere = true;
    now += 1_000;
    await expect.poll(() => onceMore(hosted, () => unitsOf(servers[1] as ServedEnvironment))).toBeGreaterThan(0);
  });

  it("leaves one out that says other things of itself", async () => {
    const [one, other] = [await inProcess(), await inProcess(single(0.9))];
    const own = options();
    const hosted = await spread([one, other], own);
    await expect
      .poll(() => onceMore(hosted, () => own.warnings))
      .toEqual([expect.stringMatching(/place 1 is left out for now: .*another one than at the other addresses/)]);
    expect(unitsOf(other)).toBe(0);
  });

  it("cannot be loaded where none can be, and says what the first of them said", async () => {
    const fails = (message: string) => async () => {
      throw new Error(message);
    };
    await expect(spread([fails("one"), fails("two")])).rejects.toThrow("one");
  });

  it("that may come back at one of them may come back, whatever the others say", async () => {
    const gone = async () => Promise.reject(new EdgewiseError("environment_failed", "gone", { passing: true }));
    await expect(spread([async () => Promise.reject(new Error("another token")), gone])).rejects.toMatchObject({ message: "gone", passing: true });
  });

  it("waits where all are gone for whichever comes back, and otherwise says what keeps them away", async () => {
    const server = await inProcess();
    const hosted = await spread([server, async () => Promise.reject(new Error("never there"))]);
    server.conversations[0]?.cut();
    await settled(hosted);
    await server.kill();
    await expect.poll(async () => play(hosted).catch((thrown: unknown) => failureOf(thrown).message)).toMatch(/cannot be reached/);
  });

  it("lets go of all of them, of what is still being loaded too", async () => {
    const servers = [await inProcess(), await inProcess()];
    const late = Promise.withResolvers<void>();
    const hosted = await spread([
      servers[0] as ServedEnvironment,
      async () => {
        await late.promise;
        return await loading(servers[1] as ServedEnvironment)();
      },
    ]);
    await hosted.teardown();
    late.resolve();
    await expect.poll(() => servers.map(({ conversations }) => conversations.map(({ isOpen }) => isOpen))).toEqual([[false], [false]]);
  });
});
