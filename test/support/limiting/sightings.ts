import type { Sightings } from "../../../durable-objects/limiter/limiter-control.ts";

const NOTHING: Sightings = {
  ...{ over_ms: 1_000, sent: 0, accepted: 0, used: { input_tokens: 0, output_tokens: 0 }, rate_limited: 0, overloaded: 0, missed: 0, failed: 0 },
  ...{ refusals: [], told: null, latencies: [] },
};

/** What an executor saw since its last exchange: nothing but this. */
export const sightings = (seen: Partial<Sightings> = {}): Sightings => ({ ...NOTHING, ...seen });
