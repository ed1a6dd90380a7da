import { describe, expect, it } from "vitest";
import { Api, wholeOf } from "../../../src/dashboard/api/ask.ts";
import { isPassing } from "../../../src/dashboard/api/problem.ts";
import { viewerIn } from "../../../src/dashboard/viewer.ts";

const viewer = viewerIn({ version: "1", team: "acme", teams: "acme,other", csrf: "c5rf", via: "session" });

function api(answer: () => Response | Promise<Response>) {
  const sent: { url: string; init: RequestInit }[] = [];
  const asks = new Api(viewer, async (url, init) => {
    sent.push({ url, init });
    return answer();
  });
  return { asks, sent };
}

describe("a question to the API", () => {
  it("names the team, and shows with a change what no other page can read", async () => {
    const { asks, sent } = api(() => Response.json({ fine: 1 }));
    expect(await asks.ask("/evaluations/", { query: { limit: 2, search: "a&b", model: undefined } })).toEqual({ ok: true, value: { fine: 1 } });
    await asks.ask("/evaluations/0000abcd", { method: "DELETE" });
    expect(sent[0]).toMatchObject({ url: "/api/v1/evaluations/?limit=2&search=a%26b", init: { method: "GET", headers: { "x-edgewise-team": "acme" } } });
    expect(sent[0]?.init.headers).not.toHaveProperty("x-edgewise-csrf");
    expect(sent[1]).toMatchObject({ init: { method: "DELETE", body: "{}", headers: { "x-edgewise-csrf": "c5rf", "content-type": "application/json" } } });
  });

  it.each([
    [
      401,
      { detail: "Signed in no more.", code: "unauthorized", hint: "Sign in." },
      { kind: "signed-out", text: "Signed in no more.", hint: "Sign in." },
      false,
    ],
    [
      422,
      { detail: [{ loc: ["query", "sort"], msg: "must be one of" }], code: "invalid_request" },
      { kind: "refused", text: "query.sort: must be one of" },
      false,
    ],
    [503, { detail: "Held.", code: "internal" }, { kind: "refused", text: "Held." }, true],
    [502, "<html>", { kind: "broken", status: 502 }, true],
  ])("that is refused with %i says why", async (status, body, problem, passing) => {
    const { asks } = api(() => new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));
    const answer = await asks.ask("/user/whoami");
    expect(answer).toMatchObject({ ok: false, problem });
    expect(!answer.ok && isPassing(answer.problem)).toBe(passing);
  });

  it("that nobody answers, or answers half, is a problem and not a fault of the page", async () => {
    expect(await api(() => Promise.reject(new TypeError("fetch failed"))).asks.ask("/x")).toMatchObject({ ok: false, problem: { kind: "unreachable" } });
    expect(await api(() => new Response('{"half":')).asks.ask("/x")).toMatchObject({ ok: false, problem: { kind: "unreachable" } });
  });

  it("whose bytes break off says so, and gives no half of them", async () => {
    const half = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(4));
        controller.error(new TypeError("terminated"));
      },
    });
    expect(await wholeOf(new Response(half))).toMatchObject({ ok: false, problem: { text: "The service broke its answer off." } });
    const whole = await wholeOf(new Response("1234"));
    expect(whole.ok && whole.value.byteLength).toBe(4);
  });

  it("that is given up rejects", async () => {
    const controller = new AbortController();
    controller.abort();
    const { asks } = api(() => Promise.reject(new DOMException("aborted", "AbortError")));
    await expect(asks.ask("/x", { signal: controller.signal })).rejects.toThrow("aborted");
  });
});
