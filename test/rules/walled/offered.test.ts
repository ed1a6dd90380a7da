import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment, type EnvironmentRequest, type LoadContext } from "../../../src/environments/definition/definition.ts";
import { MissingKeyError } from "../../../src/environments/definition/keys.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import type { RowSource } from "../../../src/environments/definition/examples.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { scoreTexts } from "../../../src/clients/scoring/score-texts.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { DatasetSpec } from "../../../src/datasets/spec.ts";
import type { RolloutInput, State } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { openSession } from "../../../src/environment-session/session.ts";
import { describeWalled } from "../../../src/walled/walled-environment.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { memoryChannels } from "../../support/walled/memory-channels.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";
import { walled, walledBy } from "../../support/walled/walled.ts";

const rubric = new Rubric([{ name: "right", fn: () => 1 }]);

const sums = defineEnvironment({
  id: "sums",
  version: "2",
  description: "Adds.",
  source: "abc",
  args: z.object({ largest: z.int().min(1).default(3), fails: z.boolean().optional() }),
  keys: ["SUMS_KEY"],
  defaults: { num_examples: 2 },
  load: ({ largest, fails }, { dataset }) => {
    if (fails === true) throw new RangeError("cannot be loaded");
    const own: RowSource = async function* () {
      for (let a = 1; a <= largest; a++) yield { question: `${a}+1`, answer: String(a + 1) };
    };
    const environment = new SingleTurnEnv({ dataset: dataset ?? own, rubric, rubrics: { other: rubric }, systemPrompt: "Add." });
    return Object.assign(environment, { concurrency: 7, passThreshold: 0.25 });
  },
});

const key = (name: string) => (name === "SUMS_KEY" ? "secret-of-sums" : null);
const context: LoadContext = { datasets: memoryDatasets(""), key };
const all = async (examples: AsyncIterable<RolloutInput>) => await Array.fromAsync(examples);
const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (thrown) {
    return thrown;
  }
  return "nothing";
};
/** What of an error whoever asked sees. */
const shown = (thrown: unknown) => (thrown instanceof EdgewiseError ? { code: thrown.code, message: thrown.message, hint: thrown.hint } : thrown);

describe("an environment that is offered behind a wall", () => {
  it("has the arguments, problems and errors that it has inside", async () => {
    const [inside, behind] = [offeredDefinition(sums), walled(sums).offered];
    expect(behind).toMatchObject({ id: "sums", version: "2", description: "Adds.", source: "abc", keys: ["SUMS_KEY"], defaults: { num_examples: 2 } });
    const ARGS: readonly JsonObject[] = [{}, { largest: 9 }, { largest: 0 }, { larges: 1 }, { fails: true }];
    for (const args of ARGS)
      expect(shown(await thrownBy(async () => Promise.reject(await behind.resolveArgs(args))))).toEqual(
        shown(await thrownBy(async () => Promise.reject(await inside.resolveArgs(args)))),
      );
    const requests: EnvironmentRequest[] = [
      { env_args: {} },
      { env_args: { largest: "x" } },
      { env_args: { fails: true } },
      { env_args: {}, extra_env_kwargs: { max_turnz: 3 } },
      { env_args: {}, rubric: "none" },
      { env_args: {}, rubric: "other" },
      { env_args: {}, model_keys: ["SUMS_KEY"] },
      { env_args: {}, batch: true },
      { env_args: {}, batch: true, extra_env_kwargs: { max_turns: 2 } },
    ];
    for (const request of requests) expect(await behind.check(request, key)).toEqual(await inside.check(request, key));
    for (const ask of [inside, behind]) expect(await thrownBy(() => ask.check({ env_args: {} }, () => null))).toBeInstanceOf(MissingKeyError);
    for (const args of ARGS.filter((each) => Object.hasOwn(each, "fails") || each.largest === 0))
      expect(shown(await thrownBy(() => behind.load(args, context)))).toEqual(shown(await thrownBy(() => inside.load(args, context))));
  });

  it("has the traits and the examples that it has inside", async () => {
    const [inside, behind] = await Promise.all(
      [offeredDefinition(sums), walled(sums).offered].map((offered) => offered.load({ largest: 1_200 }, context, { pass_threshold: 0.75 })),
    );
    expect(behind?.traits).toEqual(inside?.traits);
    for (const count of [2, -1, 5_000])
      expect(await all(behind?.examples(count) ?? (async function* () {})())).toEqual(await all(inside?.examples(count) ?? (async function* () {})()));
    // Two readings at once, one of them left in the middle.
    const [first, second] = [behind?.examples(-1)[Symbol.asyncIterator](), behind?.examples(3)];
    await first?.next();
    expect(await all(second as AsyncIterable<RolloutInput>)).toHaveLength(3);
    await first?.return?.();
    await behind?.teardown();
  });

  it("is described by what it says, without a key", async () => {
    const facts = await describeWalled(async ({ keys }) => {
      expect(keys).toEqual({});
      const { engine, environment } = memoryChannels();
      openSession(() => sums, environment);
      return engine;
    });
    expect(facts).toMatchObject({
      id: "sums",
      version: "2",
      source: "abc",
      keys: ["SUMS_KEY"],
      args: [{ name: "largest", required: false, default: 3 }, { name: "fails" }],
    });
    const broken = async () => {
      const { engine, environment } = memoryChannels();
      openSession(() => {
        throw new SyntaxError("no module");
      }, environment);
      return engine;
    };
    expect(shown(await thrownBy(() => describeWalled(broken)))).toMatchObject({
      code: "environment_failed",
      message: expect.stringMatching(/no module/) as string,
    });
  });

  it("of another version of the messages is refused by name", async () => {
    const { offered } = walledBy(sums, (channel) => {
      const session = memoryChannels().environment;
      session.send = (batch) => channel.send(batch);
      openSession(() => sums, session);
      channel.onBatch = (batch) => session.onBatch((batch as object[]).map((message) => ({ ...message, v: 2 })));
    });
    await expect(offered.resolveArgs({})).rejects.toThrow(/messages have version 2; this environment's library knows 1/);
  });

  it("is given the keys that are declared and the secrets that were given, and no others", async () => {
    let seen: Readonly<Record<string, string>> = {};
    const curious = defineEnvironment({
      id: "curious",
      version: "1",
      description: "",
      args: z.object({}),
      keys: ["SUMS_KEY"],
      load: (_, { keys, variables }) => {
        seen = { ...keys, ...variables };
        return new SingleTurnEnv({ dataset: [], rubric });
      },
    });
    const { offered, grants } = walled(curious);
    await offered.load({}, { ...context, secrets: { OWN: "own-secret" }, variables: { MODE: "fast" } });
    expect(seen).toEqual({ SUMS_KEY: "secret-of-sums", OWN: "own-secret", MODE: "fast" });
    await offered.check({ env_args: {}, secrets: { OWN: "own-secret" } }, key);
    expect(seen).toEqual({ SUMS_KEY: "unread", OWN: "unread" });
    expect(grants.map(({ purpose, keys }) => [purpose, keys])).toEqual([
      ["run", { SUMS_KEY: "secret-of-sums", OWN: "own-secret" }],
      ["facts", {}],
    ]);
  });
});

describe("a data set of an environment behind a wall", () => {
  const reading = defineEnvironment({
    id: "reading",
    version: "1",
    description: "",
    args: z.object({ more: z.string().optional() }),
    dataset: { dataset: "owner/known" },
    load: ({ more }, { dataset, rows }) => new SingleTurnEnv({ dataset: more === undefined ? dataset : rows({ dataset: more }), rubric }),
  });
  const UPLOAD = `sha256:${"a".repeat(64)}`;

  it("is read on this side, by pages, with the columns that are asked for", async () => {
    const specs: DatasetSpec[] = [];
    const rows = (spec: DatasetSpec): RowSource => {
      specs.push(spec);
      return async function* () {
        for (let n = 0; n < 1_300; n++) yield { question: `${n}`, text: "x".repeat(n === 600 ? 2_000_000 : 10) };
      };
    };
    const [inside, behind] = await Promise.all(
      [offeredDefinition(reading), walled(reading).offered].map((offered) => offered.load({ dataset_split: "test" }, { ...context, rows })),
    );
    expect(await all(behind?.examples(-1) ?? (async function* () {})())).toEqual(await all(inside?.examples(-1) ?? (async function* () {})()));
    expect(specs.at(-1)).toEqual({ dataset: "owner/known", config: null, split: "test", revision: null, columns: {} });
  });

  it("that cannot be read says why, as inside", async () => {
    const rows = (): RowSource =>
      async function* () {
        yield { question: "1" };
        throw new EdgewiseError("dataset_unreadable", "row 1 is broken", { hint: "mend it" });
      };
    const errors = await Promise.all(
      [offeredDefinition(reading), walled(reading).offered].map(async (offered) =>
        shown(await thrownBy(async () => all((await offered.load({}, { ...context, rows })).examples(-1)))),
      ),
    );
    expect(errors[1]).toEqual(errors[0]);
  });

  it("that is an upload is given where the run names it", async () => {
    const datasets = memoryDatasets('{"question": "1"}\n');
    const { offered } = walled(reading);
    const named = await offered.load({ dataset: UPLOAD }, { ...context, datasets });
    expect(await all(named.examples(-1))).toHaveLength(1);
    const other = walledBy(reading, (channel) => {
      const session = memoryChannels().environment;
      session.send = (batch) =>
        channel.send(
          (batch as Record<string, unknown>[]).map((message) =>
            message.type === "data" ? { ...message, spec: { ...(message.spec as object), dataset: UPLOAD } } : message,
          ),
        );
      openSession(() => reading, session);
      channel.onBatch = (batch) => session.onBatch(batch);
    });
    await expect(all((await other.offered.load({}, { ...context, datasets })).examples(-1))).rejects.toThrow(/an upload is read where the run names it/);
  });

  it("is read with our token where the run names it, and without elsewhere", async () => {
    const tokens: (string | null)[] = [];
    const datasets = { ...memoryDatasets(""), hub: { endpoint: "https://hub.example", viewer: "https://viewer.example", token: "our-token" } };
    const seen = {
      ...datasets,
      fetch: async (_: string, init: RequestInit) => {
        tokens.push(new Headers(init.headers).get("authorization"));
        return new Response("no", { status: 404 });
      },
    };
    for (const args of [{ dataset: "owner/known" }, {}] as readonly JsonObject[]) {
      const hosted = await walled(reading).offered.load(args, { ...context, datasets: seen });
      await thrownBy(async () => all(hosted.examples(-1)));
      tokens.push("next");
    }
    const [named, unnamed] = [tokens.slice(0, tokens.indexOf("next")), tokens.slice(tokens.indexOf("next") + 1, -1)];
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named)).toEqual(new Set(["Bearer our-token"]));
    expect(new Set(unnamed)).toEqual(new Set([null]));
  });
});

describe("calls behind a wall", () => {
  class Likely extends SingleTurnEnv {
    override async setupState(state: State): Promise<void> {
      if (state.client === null) throw new Error("no client");
      const [score] = await scoreTexts(state.client, { texts: ["a text"], top: 2, model: state.model, state, signal: null });
      state.score = score?.tokens[0]?.logprob ?? null;
    }
  }
  const likely = defineEnvironment({ id: "likely", version: "1", description: "", args: z.object({}), load: () => new Likely({ dataset: [], rubric }) });

  it("ask for the log-probabilities of texts, and refuse where the client has no way to", async () => {
    for (const offered of [offeredDefinition(likely), walled(likely).offered]) {
      const hosted = await offered.load({}, context);
      const client = scripted(
        () => response("4"),
        ({ texts }) => texts.map((text) => ({ text, tokens: [{ text, logprob: -0.5, offset: 0, end: text.length }], usage: null, route: "echo" })),
      );
      const scored = await runUnit(hosted, EXAMPLE, unitOptions(client, 1, { stateColumns: ["score"] }));
      expect(JSON.parse(scored.lines[0] ?? "")).toMatchObject({ score: -0.5, error: null });
      expect(client.scored).toMatchObject([{ texts: ["a text"], top: 2, model: "m" }]);
      const none = await runUnit(
        hosted,
        EXAMPLE,
        unitOptions(
          scripted(() => response("4")),
          1,
        ),
      );
      expect(none.fatal?.code ?? JSON.parse(none.lines[0] ?? "{}").error?.code).toBe("prompt_logprobs_unsupported");
    }
  });

  it("carry the values of state keys that headers are made of", async () => {
    class Keyed extends SingleTurnEnv {
      override async setupState(state: State): Promise<void> {
        Object.assign(state, { session: "s-7", depth: { a: 1 }, other: "kept here" });
      }
    }
    const keyed = defineEnvironment({ id: "keyed", version: "1", description: "", args: z.object({}), load: () => new Keyed({ dataset: [], rubric }) });
    const client = scripted(() => response("4"));
    await runUnit(await walled(keyed).offered.load({}, context), EXAMPLE, unitOptions(client, 1, { stateKeys: ["session", "depth", "missing"] }));
    expect(client.requests.map(({ state }) => state)).toEqual([{ session: "s-7", depth: { a: 1 }, example_id: EXAMPLE.example_id, trajectory: [] }]);
  });
});

describe("what an environment behind a wall prints", () => {
  it("reaches the host, which does it as its own work", async () => {
    let print: (text: string) => void = () => undefined;
    const loud = (): number => {
      print("from a reward");
      return 1;
    };
    const printing = defineEnvironment({
      id: "printing",
      version: "1",
      description: "",
      args: z.object({}),
      load: () => new SingleTurnEnv({ dataset: [], rubric: new Rubric([{ name: "loud", fn: loud }]) }),
    });
    const printed: string[] = [];
    const { offered } = walled(
      printing,
      {},
      {
        printsTo: (printer, work) => {
          print = (text) => printer.print("INFO", () => text);
          return work();
        },
      },
    );
    let depth = 0;
    const inside = <T>(work: () => T): T => {
      depth++;
      try {
        return work();
      } finally {
        depth--;
      }
    };
    const hosted = await offered.load({}, { ...context, inside, print: (level, text) => void printed.push(`${level} ${text()} ${depth}`) });
    await runUnit(
      hosted,
      EXAMPLE,
      unitOptions(
        scripted(() => response("4")),
        1,
      ),
    );
    expect(printed).toEqual(["INFO from a reward 1"]);
    for (let n = 0; n < 1_500; n++) print("more");
    await hosted.teardown();
    expect(printed).toHaveLength(1_001);
    expect(printed.at(-1)).toMatch(/left out, after 1000 prints/);
  });
});
