import { afterEach, describe, expect, it } from "vitest";
import { isPassing } from "../../../src/errors/passing.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import type { EnvironmentServer } from "../../support/environment-http/environment-server.ts";
import { served as serve, type ServedWith } from "../../support/environment-http/served.ts";
import { context, dataset, define, lines, right, run, textOf } from "../../support/walled/both.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";

const single = () => define(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }));

const begun: EnvironmentServer[] = [];
afterEach(async () => {
  for (const server of begun.splice(0)) await server.kill();
});
async function served(definition = single(), options: ServedWith = {}) {
  const own = await serve(definition, options);
  begun.push(own);
  return own;
}

class Guessing extends MultiTurnEnv {
  override envResponse(messages: Parameters<MultiTurnEnv["envResponse"]>[0], state: Parameters<MultiTurnEnv["envResponse"]>[1]) {
    if (textOf(messages) === "4") state.final_env_response = [{ role: "user", content: "right, “4” 😀" }];
    return [{ role: "user" as const, content: `not ${textOf(messages)}` }];
  }
}
const guessing = () =>
  define(
    () =>
      new Guessing({
        dataset,
        maxTurns: 3,
        rubric: new Rubric([
          right,
          groupReward(function first({ completions }) {
            return completions.map((_, at) => at === 0);
          }),
        ]),
      }),
  );
const counting = () => scripted(({ prompt }) => response(String(prompt.length), {}, prompt.length));

const errorOf = (line: string | undefined) => (JSON.parse(line ?? "{}") as { error: { code: string; error_chain_repr: string } | null }).error;
const play = (hosted: HostedEnvironment, client = scripted(() => response("4")), count = 1) => runUnit(hosted, EXAMPLE, unitOptions(client, count));

describe("an environment that is reached by HTTP", () => {
  it("has the same rows as inside", async () => {
    const definition = guessing();
    const { offered, conversations } = await served(definition);
    const [inside, there] = [await offeredDefinition(definition).load({}, context), await offered.load({}, context)];
    expect(there.traits).toEqual(inside.traits);
    expect(await Array.fromAsync(there.examples(-1))).toEqual(await Array.fromAsync(inside.examples(-1)));
    expect(lines(await run(there, counting(), 3, {}))).toEqual(lines(await run(inside, counting(), 3, {})));
    await there.teardown();
    await expect.poll(() => conversations.every(({ isOpen }) => !isOpen)).toBe(true);
  });

  it("is told its batches in their order, one request at a time, however many units are open", async () => {
    const { offered, conversations } = await served(guessing(), { server: { slowMs: 5 } });
    const hosted = await offered.load({}, context);
    const outcomes = await Promise.all(Array.from({ length: 60 }, () => play(hosted, counting(), 2)));
    expect(outcomes.every(({ summaries }) => summaries.length === 2 && summaries.every(({ error }) => error === null))).toBe(true);
    const [only] = conversations;
    expect(only?.most).toBe(1);
    expect(only?.numbers).toEqual(only?.numbers.map((_, at) => at + 1));
    // One message begins a unit, and each of its two rollouts of two turns is told two answers.
    expect(only?.batches.flat().length).toBeGreaterThanOrEqual(60 * 5);
    expect(only?.numbers.length).toBeLessThan(120);
  });

  it("has its facts, checks and arguments asked in a conversation each, which ends", async () => {
    const { offered, conversations } = await served();
    expect(await offered.check({ env_args: {} })).toBeNull();
    expect(await offered.resolveArgs({})).toEqual({});
    expect(conversations.map(({ batches }) => batches.flat().map(({ type }) => type))).toEqual([["check"], ["resolve_args"]]);
    await expect.poll(() => conversations.every(({ isOpen }) => !isOpen)).toBe(true);
  });
});

describe("signs of life", () => {
  it("go up where nothing else is said, and keep a conversation in which nothing happens", async () => {
    const { offered, conversations } = await served(single(), { server: { beatMs: 20 }, http: { beatMs: 20, silenceMs: 400 } });
    const hosted = await offered.load({}, context);
    const [only] = conversations;
    await expect.poll(() => only?.batches.filter((batch) => batch.length === 0).length, { timeout: 5_000 }).toBeGreaterThan(3);
    expect(errorOf((await play(hosted)).lines[0])).toBeNull();
    expect(conversations).toHaveLength(1);
    await hosted.teardown();
  });

  it("that do not come end it: its rollouts are errors around the rollout, and the next example opens another", async () => {
    const { offered, conversations } = await served(single(), { http: { beatMs: 20, silenceMs: 200 } });
    const hosted = await offered.load({}, context);
    const { lines: rows } = await play(
      hosted,
      scripted(() => new Promise(() => undefined)),
      2,
    );
    expect(rows.map(errorOf)).toEqual([1, 2].map(() => expect.objectContaining({ code: "sandbox_error" })));
    expect(rows[0]).toMatch(/is gone: nothing was heard of it for 0\.2 s/);
    expect(errorOf((await play(hosted)).lines[0])).toBeNull();
    expect(conversations).toHaveLength(2);
    await hosted.teardown();
  });
});

describe("a conversation that ends in the middle", () => {
  const middle: [string, RegExp, (server: Awaited<ReturnType<typeof served>>) => void][] = [
    ["as one that is over", /it ended the conversation'/, ({ conversations }) => conversations[0]?.end()],
    [
      "within a line",
      /in the middle of a message/,
      ({ conversations }) => {
        conversations[0]?.write('[{"type":"play');
        conversations[0]?.end();
      },
    ],
    ["by a connection that breaks", /is gone: /, ({ conversations }) => conversations[0]?.cut()],
  ];
  it.each(middle)("%s: rollouts under way are drawn again on resume, others have their rows", async (_, message, breaks) => {
    const own = await served();
    const hosted = await own.offered.load({}, context);
    const before = await play(hosted);
    const under = scripted(() => {
      breaks(own);
      return new Promise(() => undefined);
    });
    const { lines: rows } = await play(hosted, under);
    expect(errorOf(before.lines[0])).toBeNull();
    expect(errorOf(rows[0])?.code).toBe("sandbox_error");
    expect(rows[0]).toMatch(message);
    expect(errorOf((await play(hosted)).lines[0])).toBeNull();
    await hosted.teardown();
  });

  it("while the environment is loaded, or its examples are read, may go well another time; what the environment itself throws does not", async () => {
    const dying = await served(
      define(() => {
        dying.conversations[0]?.cut();
        return new SingleTurnEnv({ dataset, rubric: new Rubric([right]) });
      }),
    );
    const lost = await dying.offered.load({}, context).catch((thrown: unknown) => thrown);
    expect(lost).toMatchObject({ code: "environment_failed", message: expect.stringMatching(/is gone: /) as string });
    expect(isPassing(lost)).toBe(true);

    const reading = await served();
    const hosted = await reading.offered.load({}, context);
    reading.conversations[0]?.cut();
    expect(isPassing(await Array.fromAsync(hosted.examples(-1)).catch((thrown: unknown) => thrown))).toBe(true);

    const broken = await served(
      define(() => {
        throw new Error("no data");
      }),
    );
    const failed = await broken.offered.load({}, context).catch((thrown: unknown) => thrown);
    expect(failed).toMatchObject({ code: "environment_failed", message: expect.stringContaining("no data") as string });
    expect(isPassing(failed)).toBe(false);
  });

  it("with what is no batch, or one that is too large, is the environment's error", async () => {
    const spec = { name: "n", docker_image: "i", start_command: "s", cpu_cores: 1, memory_gb: 1, disk_size_gb: 1, gpu_count: 0, timeout_minutes: 1 };
    const more = { environment_vars: {}, labels: [], team_id: null, advanced_configs: { a: "deep" } };
    const sandbox = { type: "sandbox", call: 1, driver: null, request: { op: "create", spec: { ...spec, ...more } } };
    for (const [text, message] of [
      ["{}\n", /no batch of messages/],
      ["hello\n", /no batch of messages/],
      [`["${"x".repeat(13 * 1024 * 1024)}`, /too much at once/],
      [`[${JSON.stringify(sandbox).replace('"deep"', `${"[".repeat(500_000)}${"]".repeat(500_000)}`)}]\n`, /nested too deeply/],
    ] as const) {
      const own = await served();
      const hosted = await own.offered.load({}, context);
      const under = scripted(() => {
        own.conversations[0]?.write(text);
        return new Promise(() => undefined);
      });
      const { lines: rows } = await play(hosted, under);
      expect(errorOf(rows[0])?.code).toBe("environment_error");
      expect(rows[0]).toMatch(message);
    }
  });
});

describe("a batch on its way up", () => {
  const patience = { waitMs: 5, postMs: 100, repeatMs: 1_000 };

  it.each(["take-and-lose", "lose", "hang", { status: 503, body: "busy" }, { status: 429 }] as const)(
    "of which nobody knows whether it was taken (%s) is sent again under its number, and taken once",
    async (first) => {
      const { offered, conversations } = await served(guessing(), { http: patience, server: { onPost: (_, before) => (before === 0 ? first : "take") } });
      const hosted = await offered.load({}, context);
      const { summaries } = await play(hosted, counting(), 2);
      expect(summaries.map(({ error }) => error)).toEqual([null, null]);
      const [only] = conversations;
      const twice = () => only?.batches.flatMap((_, at) => [at + 1, at + 1]);
      await expect.poll(() => only?.numbers).toEqual(twice());
      await hosted.teardown();
    },
  );

  it.each([
    ["is not heard", "hang", "sandbox_error", /no answer within 0\.1 s/],
    ["meets a server that is broken for good", { status: 500, body: '{"error":{"code":"x","message":"no memory"}}' }, "sandbox_error", /HTTP 500: no memory/],
    ["is refused by its token", { status: 401, body: "who?" }, "sandbox_error", /refuses the token of the link/],
    ["is for a conversation that is over there", { status: 404 }, "sandbox_error", /has ended the conversation/],
    ["is too large there", { status: 413, body: "too large" }, "environment_error", /does not take a batch of \d+ characters: it answered HTTP 413: too large/],
    ["is out of order there", { status: 409 }, "environment_error", /HTTP 409/],
    ["is answered with a page", { status: 200, body: "<html><title>Sign in</title>", type: "text/html" }, "environment_error", /HTTP 200 with a web page/],
  ] as const)("that %s ends the conversation", async (_, does, code, message) => {
    let isBroken = false;
    const { offered, token } = await served(single(), { http: { ...patience, repeatMs: 300 }, server: { onPost: () => (isBroken ? does : "take") } });
    const hosted = await offered.load({}, context);
    isBroken = true;
    const { lines: rows } = await play(hosted);
    expect(errorOf(rows[0])?.code).toBe(code);
    expect(rows[0]).toMatch(message);
    expect(rows[0]).not.toContain(token);
  });

  it("waits with the others for a server that takes nothing, up to a bound", async () => {
    let isBroken = false;
    const { offered } = await served(single(), { http: { mostWaiting: 100_000 }, server: { onPost: () => (isBroken ? "hang" : "take") } });
    const hosted = await offered.load({}, context);
    isBroken = true;
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () => runUnit(hosted, { ...EXAMPLE, prompt: [{ role: "user", content: "x".repeat(10_000) }] }, unitOptions(counting(), 1))),
    );
    expect(outcomes.every(({ lines: [row] }) => errorOf(row)?.code === "environment_error")).toBe(true);
    expect(outcomes[0]?.lines[0]).toMatch(/does not take what it is sent/);
  });
});
