import type { ClientPorts } from "./client.ts";
import { EndpointPause } from "./endpoint-pause.ts";
import { Gate } from "./gate.ts";
import { scriptNow } from "../steady-clock.ts";
import { sleep } from "./transport/sleep.ts";

/** The world of a client that no engine carries. Its gate limits nothing; a program that wants a limit passes one of its own. */
export function standalonePorts(): ClientPorts {
  const clock = { now: scriptNow, sleep, random: Math.random };
  return {
    ...clock,
    gate: new Gate(0),
    pause: new EndpointPause(clock),
    fetch: (url, init) => fetch(url, init),
    onRetry: () => undefined,
    timeouts: {},
  };
}
