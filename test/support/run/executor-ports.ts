import { type Grant, PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { ok } from "../../../src/errors/result.ts";
import type { ExecutorPorts } from "../../../src/executor/ports.ts";
import { CONFIG } from "../door/fake-ports.ts";

/** What a client needs of an executor's world; whatever else is asked for is missing. */
export const clientPortsOfExecutor = (changes: Partial<ExecutorPorts> = {}): ExecutorPorts =>
  ({
    limiter: () => null,
    answers: () => null,
    budget: () => null,
    keyOf: (variable: string) => ok({ key: `value-of-${variable}`, headers: {} }),
    placeProblem: () => null,
    ai: null,
    fetch: (url: string, init?: RequestInit) => fetch(url, init),
    now: Date.now,
    sleep: async () => undefined,
    random: () => 0,
    log: () => undefined,
    ...changes,
  }) as Partial<ExecutorPorts> as ExecutorPorts;

export const grantFor = (config: Partial<RunConfig>, requests = 8): Grant => ({
  protocol: PROTOCOL,
  ticket: 1,
  epoch: 1,
  kind: "grant",
  task: { kind: "units" },
  config: { ...CONFIG, ...config },
  lanes: requests,
  requests,
  lease_ms: 10_000,
  beat_ms: 1_000,
});
