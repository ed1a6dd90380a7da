import { expect, it } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { bootOf, type Env } from "../../../src/env.ts";
import { portsOf } from "../../../src/executor/hosting/worker-executor.ts";
import { service } from "../support/service.ts";

const command = (answer: (signal: AbortSignal) => Promise<Response>): Env => ({
  ...service,
  PARENT: { fetch: (_: unknown, init?: RequestInit) => answer(init?.signal as AbortSignal) } as unknown as Fetcher,
});

it("the command of a local service is alive when it answers late, since the machine may be busy, and gone when nothing is there, or another", async () => {
  const late = command(async (signal) => {
    await sleep(1_500, signal);
    return new Response(bootOf(service));
  });
  expect(await portsOf(late).parentLives()).toBe(true);
  expect(await portsOf(command(() => Promise.reject(new Error("refused")))).parentLives()).toBe(false);
  expect(await portsOf(command(async () => new Response("another"))).parentLives()).toBe(false);
});
