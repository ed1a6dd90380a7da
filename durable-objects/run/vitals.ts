import type { Limited } from "../../src/endpoint-limits/bound.ts";
import type { ResponseModels } from "../../src/metrics/response-models.ts";

/** What an executor sees of the model server, for the progress display; never part of a decision on units. */
export interface Vitals {
  readonly in_flight: number;
  readonly retries: number;
  /** Requests that wait for the endpoint: until a pause is over, or for what its limit leaves them. */
  readonly waiting: number;
  /** Unix milliseconds until which the endpoint asked to be left alone; null when it did not. */
  readonly paused_until: number | null;
  /** Requests answered under this grant so far: that the number grows is progress. */
  readonly progress?: number;
  /** Rollouts that have finished in units which are not committed; absent from executors of before. */
  readonly finished?: number;
  /** Age of the oldest request in flight, in milliseconds, since clocks differ; absent from executors of before. */
  readonly oldest_ms?: number;
  /** What the answers under this grant so far said of the model; absent = nothing, and from executors of before. */
  readonly response_models?: ResponseModels;
  /** What those that wait do wait for, where it is a limit that several runs share; absent = none of them does, and from executors of before. */
  readonly limited?: Limited;
}
