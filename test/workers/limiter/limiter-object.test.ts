import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { ExchangeAnswer, LimiterControl } from "../../../durable-objects/limiter/limiter-control.ts";
import { limiterStub, registryStub } from "../../../durable-objects/stubs.ts";
import type { Amounts } from "../../../src/endpoint-limits/limit-kinds.ts";
import { Caller } from "../../support/limiting/caller.ts";
import { anewForEach, tablesOf, waysToGo } from "../support/real-object.ts";
import { service, skip } from "../support/service.ts";

/** Limiters in real objects: what they hold is in memory, what they know is not, and neither an eviction nor a crash lets anybody have more than the limit. */

const NAME = "0123456789abcdef".repeat(2);
const PLACE = { base_url: "https://api.example.com/v1", api_key_var: "K", model_class: "m" };
const LEASE_MS = 10_500;

type Ok = Extract<ExchangeAnswer, { kind: "ok" }>;

const raw = () => service.LIMITER.getByName(NAME);
const limiter = (): LimiterControl => limiterStub(service, NAME) as LimiterControl;
/** A new stub each time: after a crash the old one stays broken. */
async function ask(request: Parameters<LimiterControl["exchange"]>[0]): Promise<Ok> {
  const answer = await limiter().exchange(request);
  if (answer.kind !== "ok") throw new Error(answer.message);
  return answer;
}
const concurrent = async (request: Parameters<LimiterControl["exchange"]>[0]): Promise<number | null | undefined> => (await ask(request)).shares[0]?.concurrent;
const tables = () => tablesOf(raw());
const kept = (limits: Amounts, team?: string) =>
  registryStub(service, team).putLimit({ name: "ours", limits: [{ base_url: PLACE.base_url, limits }], user: "ada" });

const GONE = waysToGo(raw);
anewForEach();

describe("a Limiter of an endpoint that nothing is known of", () => {
  it("limits nobody, writes no row, and makes itself known to the teams that call it", async () => {
    const here = { ...PLACE, base_url: "http://127.0.0.1:9/v1" };
    const [a, b] = [new Caller("a", here), new Caller("b", here)];
    for (let n = 0; n < 20; n++) {
      expect(await ask(a.says([{ in_flight: 10 }], { sent: 10, accepted: 10 }))).toMatchObject({ mode: "open", shares: [] });
      await ask(b.says([{ team: "acme", run: "acme/0000abcd" }], { sent: 1, accepted: 1 }));
      skip(2_000);
    }
    expect(await tables()).toEqual([]);
    expect(await limiter().view(null)).toMatchObject({ place: here, mode: "open", in_flight: 10, waiting: 20, minute: { sent: 220, accepted: 220 } });
    for (const team of [undefined, "acme"]) expect(await registryStub(service, team).listLimiters()).toMatchObject([{ name: NAME, place: here }]);
  });

  it("is not there in a deployment whose wrangler.toml is of before", () => expect(limiterStub({}, NAME)).toBeNull());

  it("has nothing to show where nobody called it", async () => {
    expect(await limiter().view(null)).toBeNull();
    await limiter().forget();
    expect(await tables()).toEqual([]);
  });
});

describe("what a person gave", () => {
  it("holds from the first exchange on: of the default team for all, of a team for its own", async () => {
    await kept({ concurrent: 6 });
    await kept({ concurrent: 2 }, "acme");
    const [a, b] = [new Caller("a", PLACE), new Caller("b", PLACE)];
    expect(await concurrent(a.says([{ team: "acme", run: "acme/0000abcd" }]))).toBe(2);
    expect(await concurrent(b.says([{ run: "0000ffff" }]))).toBe(4);
    expect((await limiter().view("acme"))?.limits).toEqual([
      { kind: "concurrent", limit: 6, source: "given" },
      { kind: "concurrent", limit: 2, source: "given" },
    ]);
  });

  it("holds at once when it is given while runs work, and no more when it is taken back; it outlasts a crash", async () => {
    const here = { ...PLACE, base_url: "http://127.0.0.1:9/v1" };
    const a = new Caller("a", here);
    expect((await ask(a.says())).mode).toBe("open");
    await limiter().give(null, { concurrent: 3 });
    expect(await concurrent(a.says())).toBe(3);
    await limiter().give("default", { concurrent: 1 });
    expect(await concurrent(a.says())).toBe(1);
    await limiter().give("default", null);
    await limiter().give(null, {});
    expect((await ask(a.says())).mode).toBe("open");
    expect((await limiter().view(null))?.limits).toEqual([]);
  });

  it("is asked for again where the Registry did not answer, and holds as it was last known meanwhile", async () => {
    await kept({ concurrent: 2 });
    const a = new Caller("a", PLACE);
    expect(await concurrent(a.says())).toBe(2);
    await evictDurableObject(raw());
    const registries = service.REGISTRY;
    Object.assign(service, { REGISTRY: { ...registries, getByName: () => ({ limiterSeen: () => Promise.reject(new Error("away")) }) } });
    try {
      expect(await concurrent(a.says([{ in_flight: 2, allowed: 2 }]))).toBe(2);
    } finally {
      Object.assign(service, { REGISTRY: registries });
    }
    await kept({ concurrent: 1 });
    expect(await concurrent(a.says([{ in_flight: 2, allowed: 2 }]))).toBe(2);
    skip(LEASE_MS);
    expect(await concurrent(a.says([{ in_flight: 2, allowed: 2 }]))).toBe(1);
  });
});

describe.each(GONE)("a Limiter after %s", (_, gone) => {
  it("knows what it knew, and leaves everybody what they have until what it had handed out is over", async () => {
    await kept({ concurrent: 5 });
    const [a, b, c] = ["a", "b", "c"].map((name) => new Caller(name, PLACE)) as [Caller, Caller, Caller];
    expect(await concurrent(a.says([{ most: 3 }]))).toBe(3);
    expect(await concurrent(b.says([{ run: "0000ffff", most: 2, waiting: 2 }]))).toBe(2);
    await gone();
    // One that comes new must wait for who may be there unheard.
    expect(await concurrent(c.says([{ run: "0000cccc" }]))).toBe(0);
    expect(await concurrent(a.says([{ most: 3, in_flight: 1, allowed: 3 }]))).toBe(3);
    await gone();
    expect(await concurrent(b.says([{ run: "0000ffff", most: 2, in_flight: 2, allowed: 2 }]))).toBe(2);
    expect(await concurrent(c.says([{ run: "0000cccc" }]))).toBe(0);
    // The first of them has died meanwhile.
    skip(LEASE_MS - 1_000);
    expect(await concurrent(b.says([{ run: "0000ffff", most: 2, in_flight: 2, allowed: 2 }]))).toBe(2);
    expect(await concurrent(c.says([{ run: "0000cccc" }]))).toBe(0);
    skip(1_001);
    expect(await concurrent(c.says([{ run: "0000cccc" }]))).toBe(3);
  });

  it("at every step of two executors never lets them have more than the limit together", async () => {
    await kept({ concurrent: 4 });
    for (let step = 0; step < 12; step++) {
      const [a, b] = [new Caller(`a${step}`, PLACE), new Caller(`b${step}`, PLACE)];
      const has = { a: 0, b: 0 };
      for (let n = 0; n < 12; n++) {
        // There is none before the first exchange.
        if (n === step && n > 0) await gone();
        const who = n % 3 === 1 ? "b" : "a";
        const told = has[who];
        const report = { run: `0000${who}000`, in_flight: told, allowed: told, waiting: 9 };
        has[who] = (await concurrent((who === "a" ? a : b).says([report]))) ?? Number.NaN;
        expect(has.a + has.b).toBeLessThanOrEqual(4);
        skip(100);
      }
      for (const caller of [a, b]) await ask(caller.says([]));
      skip(2 * LEASE_MS);
    }
  });

  it("begins rates with nothing saved up", async () => {
    await kept({ requests: 600 });
    const a = new Caller("a", PLACE);
    const adds = async (balance: number): Promise<number> =>
      (await ask(a.says([{ most: 100, waiting: 100, sent: 100, balance: { requests: balance } }]))).shares[0]?.adds.requests ?? Number.NaN;
    let sum = await adds(0);
    for (let n = 0; n < 40; n++) {
      if (n % 4 === 0) await gone();
      skip(250);
      sum += await adds(0);
    }
    // Ten seconds of it, and what may be saved up.
    expect(sum).toBeLessThanOrEqual(100 + 16);
  });
});

describe("what is found", () => {
  const told = { requests: { limit: 500, remaining: 499, reset_ms: 120 } };

  it("is kept for the next run, and forgotten when it is asked to", async () => {
    const a = new Caller("a", PLACE);
    await ask(a.says());
    expect(await tables()).toEqual([]);
    expect((await ask(a.says([{}], { sent: 5, accepted: 5, told }))).mode).toBe("limited");
    await abortAllDurableObjects();
    expect(await limiter().view(null)).toMatchObject({ limits: [{ kind: "requests", limit: 500, source: "told" }] });
    await limiter().forget();
    await abortAllDurableObjects();
    expect(await limiter().view(null)).toMatchObject({ limits: [] });
  });

  it("is written at most every few seconds, however many come", async () => {
    const callers = Array.from({ length: 10 }, (_, at) => new Caller(`x${at}`, PLACE));
    const written = (): Promise<number> =>
      runInDurableObject(raw(), (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n);
    await ask((callers[0] as Caller).says([{}], { sent: 5, accepted: 5, told }));
    const before = await written();
    for (let n = 0; n < 100; n++) {
      skip(100);
      const limit = 500 + 50 * n;
      await ask((callers[n % 10] as Caller).says([{}], { sent: 1, accepted: 1, told: { requests: { limit, remaining: limit, reset_ms: 1 } } }));
    }
    // Two rows each: one goes, one comes.
    expect(((await written()) - before) / 2).toBeLessThanOrEqual(4);
  });
});

describe("what another version has stored, or says", () => {
  it("is refused by name, and left alone", async () => {
    await runInDurableObject(raw(), (_, { storage }) => {
      storage.sql.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
      storage.sql.exec("INSERT INTO schema_version VALUES (99)");
    });
    await abortAllDurableObjects();
    expect(await limiter().exchange(new Caller("a", PLACE).says())).toEqual({ kind: "refused", message: expect.stringContaining("schema 99") });
    const refusal = await limiter()
      .view(null)
      .then(
        () => "answered",
        (error: unknown) => error,
      );
    expect(refusal).toMatchObject({ code: "stored_version_unknown", hint: expect.stringContaining("newer") });
    expect(await tables()).toEqual(["schema_version"]);
  });

  it("of the protocol is refused by its number", async () => {
    expect(await limiter().exchange({ ...new Caller("a", PLACE).says(), protocol: 2 as never })).toEqual({
      kind: "refused",
      message: expect.stringContaining("version 1"),
    });
  });
});
