/**
 * Permits and health of one endpoint key, shared by all runs that use it. Executors ask for permits in
 * blocks, once per grant, and report what the endpoint says. The interface is what a limiter with an adaptive ceiling and
 * budgets needs; `PASS_THROUGH` is the first version, which grants everything and remembers nothing.
 */
export interface Limiter {
  /** Permits for `holder`, at most `wanted`, to be given back or lost after `ttl_ms`; with fewer than wanted, when to ask again. */
  acquire(request: PermitRequest): Promise<Permits>;
  release(holder: string): Promise<void>;
  /** What an answer of the endpoint says about its capacity. */
  report(signal: EndpointSignal): Promise<void>;
}

export interface PermitRequest {
  /** `{run}/{ticket}-{epoch}`: one grant of one run. Asking again under the same name replaces what it holds. */
  readonly holder: string;
  readonly wanted: number;
  readonly ttl_ms: number;
}

export interface Permits {
  readonly granted: number;
  /** Milliseconds until asking for the rest makes sense; null when all was granted. */
  readonly retry_after_ms: number | null;
}

export interface EndpointSignal {
  readonly kind: "rate_limited" | "overloaded" | "unreachable";
  /** Unix milliseconds until which the endpoint asked to be left alone; null when it did not say. */
  readonly until: number | null;
}

export const PASS_THROUGH: Limiter = {
  acquire: ({ wanted }) => Promise.resolve({ granted: wanted, retry_after_ms: null }),
  release: () => Promise.resolve(),
  report: () => Promise.resolve(),
};
