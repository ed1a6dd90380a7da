import { describe, expect, it } from "vitest";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { Endpoints } from "../../../src/executor/endpoints/endpoints.ts";
import { Slice } from "../../../src/executor/slice.ts";
import { FIRST_ANSWER_MS, OUTAGE_MS, STORM_MS } from "../../../src/limits.ts";
import { clientPortsOfExecutor, grantFor } from "../../support/run/executor-ports.ts";
import { ask, completion } from "../../support/clients/scripted-endpoint.ts";
import { SteppedClock } from "../../support/run/stepped-clock.ts";

const unlimited = Number.POSITIVE_INFINITY;
const A = "http://10.0.0.1/v1";
const B = "http://10.0.0.2/v1";

type Word = "answers" | "refuses" | "no server";

/** An executor's lanes on a clock of their own, against places that do at each moment what `plan` says. */
async function bench(
  plan: (seconds: number, url: string, example: number) => Word,
  { answered = false, config = { base_url: A }, outage = OUTAGE_MS }: { answered?: boolean; config?: Partial<RunConfig>; outage?: number } = {},
) {
  const clock = new SteppedClock();
  const begun = clock.now();
  const seconds = (): number => (clock.now() - begun) / 1_000;
  const asked: { readonly at: number; readonly word: Word }[] = [];
  const ports = clientPortsOfExecutor({
    now: clock.now,
    sleep: clock.sleep,
    fetch: async (url, init) => {
      const word = plan(seconds(), String(url), Number(new Headers(init?.headers).get("x-session-id")));
      asked.push({ at: seconds(), word });
      if (word === "refuses") throw new TypeError("Network connection lost.");
      if (word === "no server") return Response.json({ error: { message: "no healthy upstream" } }, { status: 503 });
      await clock.sleep(1_000, init?.signal ?? null);
      return Response.json(completion("ok"));
    },
  });
  const budget = { requests: 64, connections: null, margin: 0, poll: 0, slice: unlimited, wanted: unlimited, wall: unlimited, rollouts: unlimited };
  const whole = {
    ...budget,
    held: 0,
    subrequests: unlimited,
    outage,
    firstAnswer: Math.min(outage, FIRST_ANSWER_MS),
    storm: STORM_MS,
    keepTurns: 10_000,
    unitDeadline: null,
  };
  const endpoints = new Endpoints(ports, new Slice(whole, clock.now), whole);
  const told: string[] = [];
  const grant = { ...grantFor(config, 64), ...(answered ? { answered: true } : {}) };
  const open = await endpoints.open(grant, {
    answered: 0,
    retry: () => undefined,
    info: () => undefined,
    warning: (_kind, message) => void told.push(message),
  });
  const request = async (example: number, signal: AbortSignal | null = null): Promise<string> => {
    try {
      const { message } = await open.clientOf(example).getResponse(ask({ state: { example_id: example }, signal }));
      return String(message.content);
    } catch (thrown) {
      return thrown instanceof EdgewiseError ? thrown.code : `aborted: ${String(thrown)}`;
    }
  };
  const lanes = (count: number): Promise<string[]> => clock.through(Promise.all(Array.from({ length: count }, (_, example) => request(example))));
  return { clock, seconds, asked, told, request, lanes };
}

const between =
  (from: number, to: number, word: Word = "refuses") =>
  (seconds: number): Word =>
    seconds >= from && seconds < to ? word : "answers";

describe("an endpoint that is gone for a while", () => {
  it.each(["refuses", "no server"] as const)(
    "and had answered (%s) costs no request of 64 lanes, which ask one at a time, and is told with its return",
    async (word) => {
      const { lanes, asked, told, seconds } = await bench(between(0, 90, word), { answered: true });
      expect(new Set(await lanes(64))).toEqual(new Set(["ok"]));
      // Each once as it meets the outage; then every few seconds one of them.
      expect(asked.filter(({ word }) => word !== "answers").length).toBeLessThan(64 + 30);
      expect(seconds()).toBeGreaterThan(90);
      expect(seconds()).toBeLessThan(90 + 8);
      expect(told).toEqual([
        expect.stringMatching(
          /^http:\/\/10\.0\.0\.1\/v1 answers nobody \((connection_failed|provider_error)\); one request at a time asks again, for up to 120 s$/,
        ),
        expect.stringMatching(/^http:\/\/10\.0\.0\.1\/v1 answers again, after 9\d s$/),
      ]);
    },
  );

  it("is told anew when it goes again", async () => {
    const { clock, request, told, seconds } = await bench((at) => ((at >= 10 && at < 30) || (at >= 60 && at < 80) ? "refuses" : "answers"), { answered: true });
    await clock.through(
      (async () => {
        while (seconds() < 100) expect(await request(0)).toBe("ok");
      })(),
    );
    expect(told.map((line) => (line.includes("nobody") ? "gone" : "back"))).toEqual(["gone", "back", "gone", "back"]);
  });

  it("and stays away ends its requests after two minutes, and later ones soon, but not as fast as they are refused", async () => {
    const { lanes, request, clock, seconds, asked } = await bench(() => "refuses", { answered: true });
    expect(new Set(await lanes(64))).toEqual(new Set(["connection_failed"]));
    expect(seconds()).toBeGreaterThanOrEqual(120);
    expect(seconds()).toBeLessThan(130);
    const [then, before] = [seconds(), asked.length];
    expect(await clock.through(request(7))).toBe("connection_failed");
    expect(seconds() - then).toBeGreaterThan(3);
    expect(seconds() - then).toBeLessThan(12);
    expect(asked.length - before).toBeLessThanOrEqual(3);
  });

  it("behind its gateway ends a request by its ten retries once the two minutes are over", async () => {
    const { lanes, seconds } = await bench(() => "no server", { answered: true });
    expect(await lanes(2)).toEqual(["provider_error", "provider_error"]);
    expect(seconds()).toBeGreaterThan(120);
    expect(seconds()).toBeLessThan(200);
  });

  it("and never answered anything in the run is given up within half a minute", async () => {
    const { lanes, seconds } = await bench(() => "refuses");
    expect(new Set(await lanes(8))).toEqual(new Set(["connection_failed"]));
    expect(seconds()).toBeGreaterThanOrEqual(20);
    expect(seconds()).toBeLessThan(30);
  });

  it("counts as one that answered as soon as it has", async () => {
    const { clock, request, lanes } = await bench(between(5, 95));
    expect(await clock.through(request(0))).toBe("ok");
    await clock.through(clock.sleep(4_500));
    expect(new Set(await lanes(8))).toEqual(new Set(["ok"]));
  });

  it("is outlasted by the retries alone where that is asked for", async () => {
    const { lanes, asked, seconds } = await bench(() => "refuses", { answered: true, outage: 0 });
    expect(await lanes(1)).toEqual(["connection_failed"]);
    expect(asked).toHaveLength(11);
    expect(seconds()).toBeLessThan(60);
  });

  it("lets go of who is aborted meanwhile", async () => {
    const { clock, request } = await bench(() => "refuses", { answered: true });
    const controller = new AbortController();
    const waiting = request(0, controller.signal);
    void clock.sleep(30_000).then(() => controller.abort("enough"));
    expect(await clock.through(waiting)).toBe("aborted: enough");
  });
});

describe("a request that fails where others are answered", () => {
  it("is given up after its ten retries: it is not the endpoint that is gone", async () => {
    const { clock, request, asked, seconds, told } = await bench((_at, _url, example) => (example === 1 ? "refuses" : "answers"), { answered: true });
    const others = async (): Promise<void> => {
      while (seconds() < 100) await request(0);
    };
    const [code] = await clock.through(Promise.all([request(1), others()]));
    expect(code).toBe("connection_failed");
    const sent = asked.filter(({ word }) => word === "refuses").length;
    // Its first retry may come before anybody else has been answered.
    expect([11, 12]).toContain(sent);
    expect(told.length).toBeLessThanOrEqual(2);
  });
});

describe("replicas that are gone", () => {
  const replicas = [A, B].map((base_url, at) => ({ base_url, api_key_var: `KEY_${at}` }));

  it("all of them for a minute cost no request", async () => {
    const { lanes } = await bench(between(0, 60), { answered: true, config: { replicas } });
    expect(new Set(await lanes(16))).toEqual(new Set(["ok"]));
  });

  it("one after the other cost none either, whichever is back first", async () => {
    const plan = (seconds: number, url: string): Word =>
      url.startsWith(A) ? (seconds < 500 ? "refuses" : "answers") : seconds >= 0 && seconds < 70 ? "refuses" : "answers";
    const { lanes, seconds } = await bench(plan, { answered: true, config: { replicas } });
    expect(new Set(await lanes(16))).toEqual(new Set(["ok"]));
    expect(seconds()).toBeLessThan(120);
  });

  it("for good end a request as one would", async () => {
    const { lanes, seconds } = await bench(() => "refuses", { answered: true, config: { replicas } });
    expect(new Set(await lanes(4))).toEqual(new Set(["connection_failed"]));
    expect(seconds()).toBeLessThan(180);
  });
});
