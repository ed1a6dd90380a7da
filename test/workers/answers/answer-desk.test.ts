import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import {
  ANSWER_PROTOCOL,
  type AnswerDeskControl,
  type AnswerParty,
  type DeskRequest,
  type DoneAnswer,
  MAX_CLAIMS,
  type Standing,
} from "../../../durable-objects/answers/answer-desk-control.ts";
import { answerDeskStub } from "../../../durable-objects/stubs.ts";
import { answerKey } from "../../../r2-layout/keys.ts";
import { bootOf, runtimeOf } from "../../../src/env.ts";
import { CACHE_ORPHAN_MS } from "../../../src/limits.ts";
import { answerDeskName } from "../../../src/teams/team-name.ts";
import VERSION_1 from "../../fixtures/stored-state/answers/answer-desk-1.json";
import { anewForEach, waysToGo } from "../support/real-object.ts";
import { service, skip } from "../support/service.ts";

/** Desks in real objects, with answers in a real bucket: one of all who want an answer asks, whatever happens to the object and to him. */

const LEASE_MS = 45_000;
const DAY_MS = 24 * 60 * 60_000;
const digestOf = (n: number): string => `a${String(n).padStart(63, "0")}`;
const party = (executor: string, more: Partial<AnswerParty> = {}): AnswerParty => ({ executor, boot: bootOf(service), runtime: runtimeOf(service), ...more });

const raw = (team = "default") => service.ANSWERS.getByName(answerDeskName(team, "a"));
/** A new stub each time: after a crash the old one stays broken. */
const desk = (team = "default"): AnswerDeskControl => answerDeskStub(service, team, "a") as AnswerDeskControl;

const NOTHING = { protocol: ANSWER_PROTOCOL, claims: true, wants: [], missing: [], done: [], dropped: [], holds: [] } as const;
async function ask(executor: string | AnswerParty, says: Partial<DeskRequest>, team?: string): Promise<readonly Standing[]> {
  const answer = await desk(team).ask({ ...NOTHING, party: typeof executor === "string" ? party(executor) : executor, ...says });
  if (answer.kind !== "ok") throw new Error(answer.message);
  expect(answer.lease_ms).toBe(LEASE_MS);
  return answer.standings;
}
const answered = (n: number, days = 1): DoneAnswer => ({
  digest: digestOf(n),
  bytes: 100 + n,
  model: "m",
  stored_at: Date.now(),
  expires_at: Date.now() + days * DAY_MS,
});
const objects = async (prefix = ""): Promise<readonly string[]> => (await service.BUCKET.list({ prefix })).objects.map(({ key }) => key);
const put = (n: number, prefix = ""): Promise<unknown> => service.BUCKET.put(`${prefix}${answerKey(digestOf(n))}`, "{}");

const GONE = waysToGo(raw);
anewForEach();

describe("what version 1 has stored", () => {
  it("is opened: answers are there, are counted and can be cleared, and what an earlier process claimed is anybody's", async () => {
    await runInDurableObject(raw(), (_, { storage }) => {
      for (const statement of [...VERSION_1.tables, ...VERSION_1.rows]) storage.sql.exec(statement);
    });
    await abortAllDurableObjects();
    expect(await desk().stats()).toEqual({
      answers: 2,
      bytes: 400,
      oldest_at: 1_763_900_000_000,
      newest_at: 1_763_900_060_000,
      expires_at: 4_102_444_800_000,
      claims: 0,
    });
    expect(await ask("a", { wants: [1, 2, 3, 4].map(digestOf) })).toEqual(["kept", "kept", "yours", "yours"]);
    await ask("a", { done: [answered(3)] });
    expect(await ask("b", { wants: [digestOf(3)] })).toEqual(["kept"]);
  });
});

describe("a question that several ask at once", () => {
  it("is one's to ask; the others wait, and take the answer once it is there", async () => {
    expect(await ask("a", { wants: [digestOf(1), digestOf(2)] })).toEqual(["yours", "yours"]);
    expect(await ask("b", { wants: [digestOf(2), digestOf(1), digestOf(3)] })).toEqual(["wait", "wait", "yours"]);
    expect(await ask("a", { done: [answered(1)], wants: [digestOf(1), digestOf(2)] })).toEqual(["kept", "wait"]);
    expect(await ask("b", { wants: [digestOf(1), digestOf(2)] })).toEqual(["kept", "wait"]);
  });

  it("is the next one's as soon as whoever asked has no answer", async () => {
    await ask("a", { wants: [digestOf(1)] });
    expect(await ask("b", { dropped: [digestOf(1)], wants: [digestOf(1)] })).toEqual(["wait"]);
    expect(await ask("a", { dropped: [digestOf(1)] })).toEqual([]);
    expect(await ask("b", { wants: [digestOf(1)] })).toEqual(["yours"]);
  });

  it("is the next one's when a lease is over, unless it was begun anew", async () => {
    await ask("a", { wants: [digestOf(1), digestOf(2)] });
    skip(LEASE_MS - 1_000);
    await ask("a", { holds: [digestOf(1)] });
    expect(await ask("b", { wants: [digestOf(1), digestOf(2)] })).toEqual(["wait", "wait"]);
    skip(2_000);
    expect(await ask("b", { wants: [digestOf(1), digestOf(2)] })).toEqual(["wait", "yours"]);
    skip(LEASE_MS);
    expect(await ask("b", { wants: [digestOf(1)] })).toEqual(["yours"]);
  });

  it("is anybody's at once where whoever asked was of an earlier life of the process", async () => {
    await ask(party("a", { runtime: "an earlier one" }), { wants: [digestOf(1)] });
    await ask(party("b", { boot: "an earlier one" }), { wants: [digestOf(2)] });
    expect(await ask("c", { wants: [digestOf(1), digestOf(2)] })).toEqual(["yours", "yours"]);
  });

  it.each(GONE)("stays claimed, and answered, through %s", async (_, gone) => {
    await ask("a", { wants: [digestOf(1), digestOf(2)], done: [answered(3)] });
    await gone();
    expect(await ask("b", { wants: [digestOf(1), digestOf(2), digestOf(3)] })).toEqual(["wait", "wait", "kept"]);
    await ask("a", { done: [answered(1)], dropped: [digestOf(2)] });
    await gone();
    expect(await ask("b", { wants: [digestOf(1), digestOf(2)] })).toEqual(["kept", "yours"]);
  });

  it("is claimed anew where its object is gone from the bucket", async () => {
    await ask("a", { wants: [digestOf(1)] });
    await ask("a", { done: [answered(1)] });
    expect(await ask("b", { wants: [digestOf(1)], missing: [digestOf(1)] })).toEqual(["yours"]);
    expect(await ask("a", { wants: [digestOf(1)], missing: [digestOf(1)] })).toEqual(["wait"]);
  });

  it("is no other team's", async () => {
    await ask("a", { wants: [digestOf(1)] });
    await ask("a", { done: [answered(1)] });
    expect(await ask("b", { wants: [digestOf(1)] }, "acme")).toEqual(["yours"]);
    expect(await ask("b", { wants: [digestOf(1)] })).toEqual(["kept"]);
  });
});

describe("whoever only reads", () => {
  it("takes what is there, claims nothing and writes nothing", async () => {
    expect(await ask("r", { claims: false, wants: [digestOf(1)] })).toEqual(["none"]);
    expect(await runInDurableObject(raw(), (_, { storage }) => storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'answer'").toArray())).toEqual([]);
    await ask("a", { wants: [digestOf(1), digestOf(2)] });
    await ask("a", { done: [answered(1)] });
    expect(await ask("r", { claims: false, wants: [digestOf(1), digestOf(2), digestOf(3)] })).toEqual(["kept", "none", "none"]);
    expect(await desk().stats()).toMatchObject({ answers: 1, claims: 1 });
  });
});

describe("answers that are kept", () => {
  it("are counted with their bytes and times, and are gone once they expire", async () => {
    expect(await desk().stats()).toEqual({ answers: 0, bytes: 0, oldest_at: null, newest_at: null, expires_at: null, claims: 0 });
    const [first, second] = [answered(1, 1), { ...answered(2, 3), stored_at: Date.now() + 5 }];
    await ask("a", { done: [first, second] });
    const whole = { answers: 2, bytes: 203, oldest_at: first.stored_at, newest_at: second.stored_at, expires_at: first.expires_at, claims: 0 };
    expect(await desk().stats()).toEqual(whole);
    skip(DAY_MS);
    expect(await desk().stats()).toMatchObject({ answers: 1, bytes: 102, expires_at: second.expires_at });
    expect(await ask("b", { wants: [digestOf(1), digestOf(2)] })).toEqual(["yours", "kept"]);
  });

  it.each(["default", "acme"])("leave the bucket when they have expired, and nothing else does (team %s)", async (team) => {
    const prefix = team === "default" ? "" : "teams/acme/";
    for (const n of [1, 2, 3]) await put(n, prefix);
    await ask("a", { done: [answered(1, 1), answered(2, 3)], wants: [digestOf(3)] }, team);
    await runDurableObjectAlarm(raw(team));
    expect(await objects(prefix)).toHaveLength(3);
    skip(DAY_MS + 1);
    // Whoever claimed the third is gone: what he may have put goes too.
    expect(CACHE_ORPHAN_MS).toBe(DAY_MS);
    await runDurableObjectAlarm(raw(team));
    expect(await objects(prefix)).toEqual([`${prefix}${answerKey(digestOf(2))}`]);
    expect(await ask("b", { wants: [1, 2, 3].map(digestOf) }, team)).toEqual(["yours", "kept", "yours"]);
  });

  it("are cleared at once, all of them or those of before, and their objects with the next alarm", async () => {
    for (const n of [1, 2]) await put(n);
    const old = { ...answered(1), stored_at: Date.now() - 10_000 };
    await ask("a", { done: [old, answered(2)], wants: [digestOf(9)] });
    expect(await desk().clear(Date.now() - 5_000, null)).toEqual({ answers: 1, bytes: 101 });
    expect(await ask("b", { claims: false, wants: [digestOf(1), digestOf(2)] })).toEqual(["none", "kept"]);
    await runDurableObjectAlarm(raw());
    expect(await objects()).toEqual([answerKey(digestOf(2))]);
    expect(await desk().clear(null, null)).toEqual({ answers: 1, bytes: 102 });
    expect(await desk().clear(null, null)).toEqual({ answers: 0, bytes: 0 });
    await runDurableObjectAlarm(raw());
    expect(await objects()).toEqual([]);
    // Who asks at the moment is left alone.
    expect(await desk().stats()).toMatchObject({ answers: 0, claims: 1 });
  });

  it("stay to be swept where the bucket does not take it", async () => {
    await put(1);
    await ask("a", { done: [answered(1)] });
    await desk().clear(null, null);
    const bucket = service.BUCKET;
    Object.assign(service, { BUCKET: { delete: () => Promise.reject(new Error("the bucket is away")) } });
    try {
      await runDurableObjectAlarm(raw());
    } finally {
      Object.assign(service, { BUCKET: bucket });
    }
    expect(await objects()).toHaveLength(1);
    expect(await runInDurableObject(raw(), (_, { storage }) => storage.getAlarm())).not.toBeNull();
    await runDurableObjectAlarm(raw());
    expect(await objects()).toEqual([]);
  });
});

describe("what a desk does not know", () => {
  it("is refused: another protocol, another version of what is stored, and too much at once", async () => {
    const refusal = (says: Partial<DeskRequest>) => desk().ask({ ...NOTHING, party: party("a"), ...says });
    expect(await refusal({ protocol: 2 as 1 })).toMatchObject({ kind: "refused", message: expect.stringContaining("version 1") });
    const many = Array.from({ length: MAX_CLAIMS + 1 }, (_, n) => digestOf(n));
    expect(await refusal({ wants: many })).toMatchObject({ kind: "refused", message: expect.stringContaining(String(MAX_CLAIMS)) });
    expect(await ask("a", { wants: many.slice(1) })).toHaveLength(MAX_CLAIMS);
    await runInDurableObject(raw(), (_, { storage }) => void storage.sql.exec("UPDATE schema_version SET version = 99"));
    expect(await refusal({ wants: [digestOf(1)] })).toMatchObject({ kind: "refused", message: expect.stringContaining("schema 99") });
    await runInDurableObject(raw(), (object) => expect((object as unknown as AnswerDeskControl).stats()).rejects.toThrow("another version"));
  });

  it("is not there in a deployment whose wrangler.toml is of before", () => expect(answerDeskStub({}, "default", "a")).toBeNull());
});
