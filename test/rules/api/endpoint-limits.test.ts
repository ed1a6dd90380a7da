import { describe, expect, it } from "vitest";
import type { LimiterView } from "../../../durable-objects/limiter/limiter-control.ts";
import * as schemas from "../../../src/api/endpoint-limits/endpoint-limit-schemas.ts";
import { FakeLimiter } from "../../support/door/fake-limiter.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const URL = "https://api.example.com/v1";
const place = { base_url: URL, api_key_var: "MODEL_KEY", model_class: "model-4" };
const NAME = "a".repeat(32);
const VIEW: LimiterView = {
  place,
  mode: "limited",
  bound: { kind: "requests", limit: 500, source: "told" },
  limits: [
    { kind: "requests", limit: 500, source: "told" },
    { kind: "concurrent", limit: 12, source: "found" },
  ],
  paused_until: 1_700_000_001_000,
  down_since: null,
  in_flight: 12,
  waiting: 30,
  minute: { sent: 400, accepted: 396, refused: 4, used: { input_tokens: 1_000, output_tokens: 2_000 } },
  latency_ms: { p50: 512, p95: 2_048, p99: 4_096 },
  users: [
    { run: "0000abcd", team: "default", kind: "model", priority: 1, in_flight: 8, waiting: 30, accepted: 300 },
    { run: "acme/0000abce", team: "acme", kind: "judges", priority: 2, in_flight: 4, waiting: 0, accepted: 96 },
    { run: "", team: "", kind: "model", priority: 1, in_flight: 0, waiting: 0, accepted: 0 },
  ],
};

/** A Limiter that runs of the default team have called. */
async function called(door: Door, name = NAME, more: Partial<typeof place> = {}): Promise<FakeLimiter> {
  const limiter = new FakeLimiter();
  door.limiters.set(name, limiter);
  await door.registry.limiterSeen({ place: { ...place, ...more }, name });
  return limiter;
}
const told = async (response: Response) => ({ status: response.status, text: await response.text() });
const give = (door: Door, name: string, body: { [key: string]: string | number }) => door.call("PUT", `/limits/given/${name}`, body);

describe("the list of limiters", () => {
  it("has of each endpoint, key and model the limits as known, where they are from, what is in flight and waits, and who uses it", async () => {
    const door = openDoor();
    (await called(door)).shows = VIEW;
    await give(door, "ours", { url: `${URL}/`, requests_per_minute: 500 });
    await give(door, "elsewhere", { url: "https://other.example", requests_per_minute: 5 });
    const { data, total } = schemas.limiterList.parse(await (await door.call("GET", "/limits")).json());
    expect([total, data]).toEqual([
      1,
      [
        {
          ...{
            limiter_id: "00000000",
            api_base_url: URL,
            api_key_var: "MODEL_KEY",
            model_class: "model-4",
            seen_at: "2023-11-14T22:13:20.000Z",
            given: ["ours"],
          },
          state: {
            ...{ mode: "limited", bound: { kind: "requests_per_minute", limit: 500, source: "told" } },
            limits: [
              { kind: "requests_per_minute", limit: 500, source: "told" },
              { kind: "concurrent", limit: 12, source: "found" },
            ],
            ...{ paused_until: "2023-11-14T22:13:21.000Z", down_since: null, in_flight: 12, waiting: 30 },
            minute: { sent: 400, accepted: 396, refused: 4, refused_share: 0.01, input_tokens: 1_000, output_tokens: 2_000 },
            latency_ms: { p50: 512, p95: 2_048, p99: 4_096 },
            users: [
              { run_id: "0000abcd", team: "default", kind: "model", priority: 1, in_flight: 8, waiting: 30, accepted: 300 },
              { run_id: "0000abce", team: "acme", kind: "judges", priority: 2, in_flight: 4, waiting: 0, accepted: 96 },
              { run_id: null, team: null, kind: "model", priority: 1, in_flight: 0, waiting: 0, accepted: 0 },
            ],
          },
        },
      ],
    ]);
    // The name of the object is made of a key.
    expect(JSON.stringify(data)).not.toContain(NAME);
    expect(schemas.limiterAnswer.parse(await (await door.call("GET", "/limits/00000000")).json()).data).toEqual(data[0]);
  });

  it("shows a limiter that knows nothing or does not answer beside the others", async () => {
    const door = openDoor();
    await called(door);
    (await called(door, "b".repeat(32), { model_class: "other" })).shows = new Error("restarted");
    (await called(door, "c".repeat(32), { model_class: "third" })).shows = VIEW;
    const { data } = schemas.limiterList.parse(await (await door.call("GET", "/limits")).json());
    expect(data.map(({ model_class, state }) => [model_class, state?.mode ?? null])).toEqual([
      ["model-4", null],
      ["other", null],
      ["third", "limited"],
    ]);
  });

  it("is told page by page", async () => {
    const door = openDoor();
    for (const [index, letter] of ["a", "b", "c"].entries()) await called(door, letter.repeat(32), { model_class: `model-${index}` });
    const { data, ...page } = schemas.limiterList.parse(await (await door.call("GET", "/limits?skip=1&limit=1")).json());
    expect([data.map(({ model_class }) => model_class), page]).toEqual([["model-1"], { total: 3, skip: 1, limit: 1 }]);
    for (const query of ["limit=0", "limit=101", "skip=-1", "skip=x", "unknown=1", "team_id=A"])
      expect((await door.call("GET", `/limits?${query}`)).status).toBe(422);
  });

  it("names to the owner whose runs there are", async () => {
    const door = openDoor();
    const limiter = await called(door);
    await door.call("GET", "/limits");
    expect(limiter.asked).toEqual([null]);
  });

  it("knows no limiter by another id", async () => {
    const door = openDoor();
    await called(door);
    for (const [method, path] of [
      ["GET", "/limits/0000000f"],
      ["POST", "/limits/0000000f/forget"],
    ] as const)
      expect(await told(await door.call(method, path, method === "POST" ? {} : undefined))).toMatchObject({ status: 404 });
    expect((await door.call("GET", "/limits/nothing")).status).toBe(422);
  });
});

describe("what was found", () => {
  it("is forgotten when that is asked for, and nothing else is", async () => {
    const door = openDoor();
    const limiter = await called(door);
    expect(await told(await door.call("POST", "/limits/00000000/forget", {}))).toMatchObject({ status: 200, text: expect.stringContaining("found anew") });
    expect([limiter.forgotten, limiter.given]).toEqual([1, []]);
    expect(door.registry.audited).toMatchObject([{ action: "limit.forget", target: "00000000" }]);
  });
});

describe("a limit that is given", () => {
  it("is kept under its name, and told at once to the limiters of its place", async () => {
    const door = openDoor();
    const limiter = await called(door);
    const other = await called(door, "b".repeat(32), { base_url: "https://other.example" });
    const answer = await give(door, "ours", { url: URL, key: "MODEL_KEY", model: "model-*", requests_per_minute: 500, concurrent: 8 });
    const limits = [{ api_base_url: URL, api_key_var: "MODEL_KEY", model: "model-*", concurrent: 8, requests_per_minute: 500 }];
    const { data } = schemas.givenAnswer.parse(await answer.json());
    expect(data).toMatchObject({ name: "ours", limits, updated_by: "edgewise" });
    expect(schemas.givenList.parse(await (await door.call("GET", "/limits/given")).json()).data).toEqual([data]);
    expect(schemas.givenAnswer.parse(await (await door.call("GET", "/limits/given/ours")).json()).data).toEqual(data);
    // The key is the service's: it holds for all who use it.
    expect(limiter.given).toEqual([
      { team: "default", limits: null },
      { team: null, limits: { concurrent: 8, requests: 500 } },
    ]);
    expect(other.given).toEqual([]);
    expect(door.registry.audited).toMatchObject([{ action: "limit.give", target: "ours" }]);
  });

  it("is for the runs of the team where the key is its own", async () => {
    const door = openDoor();
    door.registry.ownKeys.add("MODEL_KEY");
    const limiter = await called(door);
    await give(door, "ours", { url: URL, concurrent: 8 });
    expect(limiter.given).toEqual([
      { team: "default", limits: { concurrent: 8 } },
      { team: null, limits: null },
    ]);
  });

  it("that is given anew frees the places that it is of no more, and those of one that is cleared", async () => {
    const door = openDoor();
    const limiter = await called(door);
    await give(door, "ours", { url: URL, concurrent: 8 });
    await give(door, "ours", { url: "https://other.example", concurrent: 8 });
    expect(limiter.given.at(-1)).toEqual({ team: null, limits: null });
    await give(door, "ours", { url: URL, concurrent: 4 });
    await give(door, "also", { url: URL, concurrent: 6, tokens_per_minute: 100 });
    expect(limiter.given.at(-1)).toEqual({ team: null, limits: { concurrent: 4, tokens: 100 } });
    expect(await told(await door.call("DELETE", "/limits/given/ours"))).toMatchObject({ status: 200 });
    expect(limiter.given.at(-1)).toEqual({ team: null, limits: { concurrent: 6, tokens: 100 } });
    for (const method of ["GET", "DELETE"]) expect((await door.call(method, "/limits/given/ours")).status).toBe(404);
  });

  it("may name an endpoint that the service keeps, and is then of each of its places", async () => {
    const door = openDoor();
    const entry = (base_url: string) => ({ model: "m", base_url, api_key_var: "MODEL_KEY", api_client_type: null, headers: {} });
    const entries = [entry("https://one.example"), entry("https://two.example")];
    door.registry.endpoints.set("fast", { endpoint_id: "fast", entries, created_at: 0, updated_at: 0, updated_by: "ada" });
    const { data } = schemas.givenAnswer.parse(await (await give(door, "ours", { endpoint_id: "fast", concurrent: 8 })).json());
    expect(data.limits).toEqual(entries.map(({ base_url }) => ({ api_base_url: base_url, api_key_var: "MODEL_KEY", model: "m", concurrent: 8 })));
    expect(await told(await give(door, "ours", { endpoint_id: "none", concurrent: 8 }))).toMatchObject({
      status: 422,
      text: expect.stringContaining("no endpoint of this team"),
    });
  });

  it("is kept where a limiter could not be told, which is said", async () => {
    const door = openDoor();
    const limiter = await called(door);
    limiter.shows = new Error("restarted");
    expect(await told(await give(door, "ours", { url: URL, concurrent: 8 }))).toMatchObject({
      status: 503,
      text: expect.stringContaining("It is kept, and 1 of the 1 limiters that it is for could not be told yet."),
    });
    limiter.shows = null;
    expect(await told(await give(door, "ours", { url: URL, concurrent: 8 }))).toMatchObject({ status: 200 });
    expect(limiter.given.at(-1)).toEqual({ team: null, limits: { concurrent: 8 } });
  });

  it.each([
    ["no place", { concurrent: 1 }, '"endpoint_id"'],
    ["no limit", { url: URL }, "give at least one of concurrent, requests_per_minute"],
    ["what is no number", { url: URL, concurrent: "many" }, '"concurrent"'],
    ["none", { url: URL, requests_per_minute: 0 }, '"requests_per_minute"'],
    ["an address with a password", { url: "https://user:pw@api.example.com/v1", concurrent: 1 }, "without user and password"],
    ["a key in the place of its name", { url: URL, key: "sk-123", concurrent: 1 }, "must be the name of a variable that holds a key"],
    ["an unknown field", { url: URL, concurrent: 1, per_hour: 5 }, "per_hour"],
  ])("is refused with %s", async (_, body, problem) => {
    const door = openDoor();
    expect(await told(await give(door, "ours", body as { [key: string]: string | number }))).toMatchObject({
      status: 422,
      text: expect.stringContaining(problem),
    });
    expect([door.registry.keptLimits.size, door.registry.audited]).toEqual([0, []]);
  });

  it("has a name as other things that a team makes", async () => {
    for (const name of ["a%20b", ".a", "a".repeat(65)]) expect((await give(openDoor(), name, { url: URL, concurrent: 1 })).status).toBe(422);
  });
});
