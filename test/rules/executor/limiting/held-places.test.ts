import { describe, expect, it, vi } from "vitest";
import type { ExchangeAnswer, ExchangeRequest } from "../../../../durable-objects/limiter/limiter-control.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { sleep } from "../../../../src/clients/transport/sleep.ts";
import { ok } from "../../../../src/errors/result.ts";
import { Endpoints } from "../../../../src/executor/endpoints/endpoints.ts";
import type { ExecutorPorts } from "../../../../src/executor/ports.ts";
import { Slice } from "../../../../src/executor/slice.ts";
import { ask, completion } from "../../../support/clients/scripted-endpoint.ts";
import { limited, OPEN } from "../../../support/limiting/scripted-limiter.ts";
import { clientPortsOfExecutor, grantFor } from "../../../support/run/executor-ports.ts";

const unlimited = Number.POSITIVE_INFINITY;
const A = "https://a.example/v1";
const B = "https://b.example/v1";

/** An executor whose Limiters answer as `answer` says, and whose models after a turn of the loop. */
function executor(answer: (request: ExchangeRequest) => ExchangeAnswer = () => OPEN, changes: Partial<ExecutorPorts> = {}) {
  const exchanges: { readonly name: string; readonly request: ExchangeRequest }[] = [];
  const sent: string[] = [];
  const ports = clientPortsOfExecutor({
    id: "x",
    boot: "b",
    runtime: "r",
    sleep,
    fetch: async (url) => {
      sent.push(new URL(url).host);
      return Response.json(completion("ok"));
    },
    limiter: (name) => ({
      exchange: async (request) => {
        exchanges.push({ name, request: structuredClone(request) });
        return answer(request);
      },
    }),
    ...changes,
  });
  const budget = {
    ...{ requests: 8, connections: null, margin: 0, poll: 0, slice: unlimited, wanted: unlimited, wall: unlimited, rollouts: unlimited, held: 0 },
    ...{ subrequests: unlimited, outage: 0, firstAnswer: 0, storm: 0, keepTurns: 10_000, unitDeadline: null },
  };
  const endpoints = new Endpoints(ports, new Slice(budget, Date.now), budget);
  const told: string[] = [];
  const notes = { answered: 0, retry: () => undefined, info: () => undefined, warning: (_kind: string, message: string) => void told.push(message) };
  const open = (config: Partial<RunConfig>, requests = 8) => endpoints.open(grantFor(config, requests), notes);
  /** The Limiters that were asked, and for which classes of models. */
  const classes = (): string[] => [...new Map(exchanges.map(({ name, request }) => [name, request.place.model_class])).values()].sort();
  return { endpoints, exchanges, sent, told, notes, open, classes };
}

describe("the Limiters of an executor", () => {
  it("are one for each value of a key, whatever it is called, and never hear of it", async () => {
    const values: Record<string, string> = { ONE: "sk-one", TWIN: "sk-one", OTHER: "sk-other" };
    const { open, exchanges } = executor(undefined, { keyOf: (variable) => ok({ key: values[variable] ?? "", headers: {} }) });
    for (const api_key_var of ["ONE", "TWIN", "OTHER"]) {
      const held = await open({ base_url: `${A}/`, api_key_var, model: "m" });
      await held.clientOf(0).getResponse(ask());
    }
    expect(new Set(exchanges.map(({ name }) => name)).size).toBe(2);
    expect(JSON.stringify(exchanges)).not.toContain("sk-");
    const seqs = exchanges.filter(({ name }) => name === exchanges[0]?.name).map(({ request }) => request.seq);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(exchanges[0]?.request.place).toEqual({ base_url: A, api_key_var: "ONE", model_class: "m" });
  });

  it("tell judges' models apart from the run's and from each other, and hear when the environment calls them no more", async () => {
    const { endpoints, open, notes, classes, exchanges } = executor();
    const grant = grantFor({ base_url: A, model: "m" });
    const held = await open({ base_url: A, model: "m" });
    const judge = endpoints.bound(grant, notes)({ base_url: A, api_key_var: "JUDGE_KEY" });
    await held.clientOf(0).getResponse(ask());
    await judge.getResponse(ask({ model: "judge-1" }));
    await judge.getResponse(ask({ model: "judge-2" }));
    await judge.getResponse(ask({ model: "judge-1" }));
    expect(classes()).toEqual(["judge-1", "judge-2", "m"]);
    const kinds = exchanges.map(({ request }) => `${request.place.model_class} ${request.holders[0]?.kind}`);
    expect(new Set(kinds)).toEqual(new Set(["m model", "judge-1 judges", "judge-2 judges"]));
    held.close();
    endpoints.endJudges(grant);
    await endpoints.leave();
    for (const name of new Set(exchanges.map((each) => each.name))) expect(exchanges.filter((each) => each.name === name).at(-1)?.request.holders).toEqual([]);
  });

  it("hear when judges that are first called after that have been answered", async () => {
    const { endpoints, notes, exchanges } = executor(() => ({ ...OPEN, again_ms: 20 }));
    const grant = grantFor({ base_url: A, model: "m" });
    const judge = endpoints.bound(grant, notes)({ base_url: A, api_key_var: "JUDGE_KEY" });
    endpoints.endJudges(grant);
    await judge.getResponse(ask({ model: "late" }));
    await vi.waitFor(() => expect(exchanges.at(-1)?.request.holders).toEqual([]), 2_000);
  });

  it("are not told apart beyond some models of one judge: an environment names what it likes", async () => {
    const { endpoints, notes, classes } = executor();
    const judge = endpoints.bound(grantFor({}), notes)({ base_url: A, api_key_var: "JUDGE_KEY" });
    for (let n = 0; n < 80; n++) await judge.getResponse(ask({ model: `judge-${n}` }));
    expect(classes()).toHaveLength(65);
    const long = endpoints.bound(grantFor({}), notes)({ base_url: B, api_key_var: "JUDGE_KEY" });
    for (const length of [256, 257, 1_000_000]) await long.getResponse(ask({ model: "x".repeat(length) }));
    expect(classes().filter((name) => name === "" || name.startsWith("x"))).toEqual(["", "", "x".repeat(256)]);
  });

  it("are told what the run keeps to, and its weight", async () => {
    const { open, exchanges } = executor();
    const held = await open({
      base_url: A,
      team: "acme",
      priority: 3,
      common_limit: { id: "c1", concurrent: 5 },
      limits: [{ base_url: A, limits: { requests: 60 } }],
    } as Partial<RunConfig>);
    await held.clientOf(0).getResponse(ask());
    const [holder] = exchanges[0]?.request.holders ?? [];
    expect(holder).toMatchObject({ team: "acme", kind: "model", priority: 3, most: 8 });
    expect(holder?.caps).toContainEqual({ id: "given/acme", limits: { requests: 60 } });
    expect(holder?.caps.some(({ limits }) => limits.concurrent === 5)).toBe(true);
  });
});

describe("requests of a grant", () => {
  it("that wait for a share are told as waiting, and for what; those of its other replicas go on", async () => {
    const bound = { kind: "requests", limit: 500, source: "told" } as const;
    const { open, sent } = executor((request) => (request.place.base_url === A ? limited(request, 0, {}, { bound }) : OPEN));
    const held = await open({
      replicas: [
        { base_url: A, api_key_var: "K" },
        { base_url: B, api_key_var: "K" },
      ],
    });
    const stopped = new AbortController();
    const waiting = [0, 2, 4].map((unit) => held.clientOf(unit).getResponse(ask({ signal: stopped.signal })));
    const gaveUp = Promise.allSettled(waiting);
    for (const unit of [1, 3, 5]) await held.clientOf(unit).getResponse(ask());
    expect(sent).toEqual(["b.example", "b.example", "b.example"]);
    expect(held.vitals()).toMatchObject({ in_flight: 0, waiting: 3, limited: { bound, base_url: A } });
    stopped.abort(new Error("enough"));
    expect((await gaveUp).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(held.vitals()).toMatchObject({ waiting: 0 });
    expect(held.vitals()).not.toHaveProperty("limited");
    held.close();
  });

  it("go as their gate has it where there are no Limiters, and where they refuse to answer, which is said once", async () => {
    const none = executor(undefined, { limiter: () => null });
    await (await none.open({ base_url: A })).clientOf(0).getResponse(ask());
    expect(none.exchanges).toEqual([]);
    const refusing = executor(() => ({ kind: "refused", message: "what is stored is of version 2" }));
    const held = await refusing.open({ base_url: A });
    for (const unit of [0, 1, 2]) await held.clientOf(unit).getResponse(ask());
    expect(refusing.told).toEqual([`requests to ${A} keep to no common limit: what is stored is of version 2`]);
  });

  it("of a grant that became smaller ask for no more than that", async () => {
    const { open, exchanges, endpoints } = executor((request) => limited(request, 8));
    const held = await open({ base_url: A }, 8);
    await held.clientOf(0).getResponse(ask());
    held.narrow({ lanes: 2, requests: 2 }, () => undefined);
    // Another grant is told of at once.
    const other = await open({ base_url: A }, 4);
    await other.clientOf(0).getResponse(ask());
    await endpoints.leave();
    expect(exchanges.map(({ request }) => request.holders.map(({ most }) => most))).toEqual([[8], [2, 4], []]);
  });
});
