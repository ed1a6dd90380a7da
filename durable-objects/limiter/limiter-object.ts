import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../src/env.ts";
import type { ExchangeAnswer, ExchangeRequest, LimiterControl, LimiterView } from "./limiter-control.ts";

/** When executors come again while nothing limits. */
const OPEN_AGAIN_MS = 2_000;

/** What all runs, users and executors that use one key of an endpoint share of its limits. So far nothing limits, and nothing is remembered. */
export class Limiter extends DurableObject<Env> implements LimiterControl {
  async exchange(_request: ExchangeRequest): Promise<ExchangeAnswer> {
    return { kind: "ok", mode: "open", shares: [], over_ms: 0, valid_ms: OPEN_AGAIN_MS, again_ms: OPEN_AGAIN_MS, pause_ms: null, down: null, bound: null };
  }

  async view(): Promise<LimiterView | null> {
    return null;
  }

  async give(): Promise<void> {}

  async forget(): Promise<void> {}
}
