import type { Sleep } from "../../clients/client.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { CommandTimedOut } from "./sandbox.ts";

const ATTEMPTS = 5;

/** Repeats a call to a provider of sandboxes that failed there, up to 5 times in all, after 0.5 s, doubling up to 30 s. */
export async function withSandboxRetries<T>(call: () => Promise<T>, sleep: Sleep, signal: AbortSignal | null): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (thrown) {
      if (!(thrown instanceof SandboxError) || thrown instanceof CommandTimedOut || attempt + 1 >= ATTEMPTS) throw thrown;
      await sleep(Math.min(30_000, 500 * 2 ** attempt + Math.random()), signal);
    }
  }
}
