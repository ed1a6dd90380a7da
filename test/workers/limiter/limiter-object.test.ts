import { describe, expect, it } from "vitest";
import type { ExchangeRequest, Sightings } from "../../../durable-objects/limiter/limiter-control.ts";
import { LIMITER_PROTOCOL } from "../../../durable-objects/limiter/limiter-control.ts";
import { limiterStub } from "../../../durable-objects/stubs.ts";
import { service } from "../support/service.ts";

const NOTHING_SEEN: Sightings = {
  over_ms: 0,
  sent: 0,
  accepted: 0,
  used: { input_tokens: 0, output_tokens: 0 },
  rate_limited: 0,
  overloaded: 0,
  missed: 0,
  failed: 0,
  refusals: [],
  told: null,
  latencies: [],
};
const REQUEST: ExchangeRequest = {
  protocol: LIMITER_PROTOCOL,
  executor: "e",
  boot: "b",
  runtime: "r",
  seq: 1,
  place: { base_url: "http://127.0.0.1/v1", api_key_var: "K", model_class: "m" },
  holders: [],
  seen: NOTHING_SEEN,
};

describe("a Limiter of an endpoint that nothing is known of", () => {
  it("limits nobody", async () => {
    expect(await limiterStub(service, "0".repeat(32))?.exchange(REQUEST)).toMatchObject({ kind: "ok", mode: "open", shares: [] });
  });

  it("is not there in a deployment whose wrangler.toml is of before", () => expect(limiterStub({}, "0".repeat(32))).toBeNull());
});
