import { describe, expect, it } from "vitest";
import type { RetryNotice } from "../../../../src/clients/client.ts";
import { createClient } from "../../../../src/clients/create-client.ts";
import { EndpointPause } from "../../../../src/clients/endpoint-pause.ts";
import { Storm } from "../../../../src/clients/storm.ts";
import { EdgewiseError } from "../../../../src/errors/result.ts";
import { STORM_MS } from "../../../../src/limits.ts";
import { ask, completion } from "../../../support/clients/scripted-endpoint.ts";
import { SteppedClock } from "../../../support/run/stepped-clock.ts";

const MINUTE = 60_000;
const refusal = (status: number, message = "slow down", headers: Record<string, string> = {}, more: object = {}): Response =>
  Response.json({ error: { message, ...more } }, { status, headers });

/** Callers of one place on a clock of their own; `answer` says what its server does, by the milliseconds since the beginning and who asks. */
function place(answer: (ms: number, example: number) => Response, { patienceMs }: { readonly patienceMs?: number } = { patienceMs: STORM_MS }) {
  const clock = new SteppedClock();
  const begun = clock.now();
  const elapsed = (): number => clock.now() - begun;
  const retries: (RetryNotice & { readonly at: number })[] = [];
  let asked = 0;
  const common = { now: clock.now, sleep: clock.sleep, random: () => 0 };
  const client = createClient(
    "openai_chat_completions",
    { base_url: "http://10.0.0.1/v1", api_key: "EMPTY" },
    {
      ...common,
      pause: new EndpointPause(common),
      ...(patienceMs === undefined ? {} : { storm: new Storm(clock.now, patienceMs) }),
      fetch: async (_url, init) => {
        asked++;
        const reply = answer(elapsed(), Number(new Headers(init?.headers).get("x-session-id")));
        await clock.sleep(200);
        return reply;
      },
      onRetry: (notice) => void retries.push({ ...notice, at: elapsed() }),
    },
  );
  const request = async (example = 0): Promise<string> => {
    try {
      return String((await client.getResponse(ask({ state: { example_id: example } }))).message.content);
    } catch (thrown) {
      return thrown instanceof EdgewiseError ? thrown.code : String(thrown);
    }
  };
  return { clock, elapsed, retries, request, asked: () => asked };
}

const ok = (): Response => Response.json(completion("ok"));

describe("a storm of refusals", () => {
  it.each([
    ["429", () => refusal(429)],
    ["529", () => refusal(529)],
    ["503 with a wish to be left alone", () => refusal(503, "busy", { "retry-after": "2" })],
  ])("of %s costs nobody a retry, however many there are", async (_what, refuse) => {
    const { clock, request, retries, elapsed } = place((ms) => (ms < 10 * MINUTE ? refuse() : ok()));
    expect(await clock.through(Promise.all(Array.from({ length: 8 }, (_, example) => request(example))))).toEqual(Array(8).fill("ok"));
    expect(retries.length).toBeGreaterThan(8 * 11);
    // A request looks again within eight seconds.
    expect(elapsed()).toBeLessThan(10 * MINUTE + 9_000);
  });

  it("that does not end is counted after its time: the request ends as its last refusal", async () => {
    const { clock, request, elapsed, asked } = place(() => refusal(429));
    expect(await clock.through(request())).toBe("rate_limited");
    expect(elapsed()).toBeGreaterThan(STORM_MS);
    expect(elapsed()).toBeLessThan(STORM_MS + 11 * 9_000);
    const before = asked();
    // Who comes later into the same storm has its ten retries and no more.
    expect(await clock.through(request())).toBe("rate_limited");
    expect(asked() - before).toBe(11);
  });

  it("is over for all with the first that is accepted", async () => {
    const { clock, request, asked } = place((ms, example) => (example === 1 && ms >= STORM_MS + 5 * MINUTE ? ok() : refusal(429)));
    expect(await clock.through(request(0))).toBe("rate_limited");
    const before = asked();
    await clock.through(clock.sleep(5 * MINUTE));
    expect(await clock.through(request(1))).toBe("ok");
    expect(await clock.through(request(0))).toBe("rate_limited");
    expect(asked() - before).toBeGreaterThan(100);
  });

  it("does not keep one request alone that is refused while others are accepted", async () => {
    const { clock, request, elapsed } = place((_ms, example) => (example === 1 ? ok() : refusal(429)));
    let over = false;
    const others = async (): Promise<void> => {
      while (!over) {
        expect(await request(1)).toBe("ok");
        await clock.sleep(20_000);
      }
    };
    const refused = request(0).finally(() => {
      over = true;
    });
    void others();
    expect(await clock.through(refused)).toBe("rate_limited");
    expect(elapsed()).toBeGreaterThan(STORM_MS);
  });

  it("with other failures in it: those count", async () => {
    let turn = 0;
    const { clock, request, asked } = place(() => refusal(++turn % 2 === 0 ? 500 : 429));
    expect(await clock.through(request())).toBe("provider_error");
    expect(asked()).toBe(22);
  });

  it("is asked less and less, up to every eight seconds by each request", async () => {
    const { clock, request, retries } = place((ms) => (ms < MINUTE ? refusal(429) : ok()));
    await clock.through(request());
    expect(retries.map(({ at, until }) => until - 1_000_000 - at).slice(0, 7)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  it.each([
    ["in a script's own client, which knows of none", {}],
    ["where it is waited for no time at all", { patienceMs: 0 }],
  ])("costs retries %s", async (_where, storm) => {
    const { clock, request, asked } = place(() => refusal(429), storm);
    expect(await clock.through(request())).toBe("rate_limited");
    expect(asked()).toBe(11);
  });
});

describe("a refusal that no time helps", () => {
  it("ends the request at once where it alone is more than the limit", async () => {
    const words =
      "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 46000. The input or output tokens must be reduced.";
    const { clock, request, asked } = place(() => refusal(429, words, {}, { code: "rate_limit_exceeded", type: "tokens" }));
    expect(await clock.through(request())).toBe("rate_limited");
    expect(asked()).toBe(1);
  });

  it("ends it where the account has no quota left", async () => {
    const { clock, request, asked } = place(() => refusal(429, "You exceeded your current quota", {}, { code: "insufficient_quota" }));
    expect(await clock.through(request())).toBe("insufficient_quota");
    expect(asked()).toBe(1);
  });
});

describe("a wish to be left alone", () => {
  it("is read from the words of a refusal where no header says it", async () => {
    const { clock, request, retries } = place((ms) => (ms < 30_000 ? refusal(429, "Please retry in 31.5s.") : ok()));
    expect(await clock.through(request())).toBe("ok");
    expect(retries.map(({ at, until }) => until - 1_000_000 - at)).toEqual([31_500]);
  });
});
