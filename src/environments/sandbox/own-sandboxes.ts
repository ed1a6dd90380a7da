import type { Sleep } from "../../clients/client.ts";
import type { Sandbox, SandboxSpec } from "./sandbox.ts";
import { SandboxKeeper } from "./sandbox-keeper.ts";
import { withSandboxRetries } from "./sandbox-retry.ts";

/** Gives pieces of work a sandbox each, which is ended with the work. */
export class OwnSandboxes {
  readonly #sandbox: Sandbox;
  readonly #spec: SandboxSpec;
  readonly #sleep: Sleep;
  readonly #keeper: SandboxKeeper;

  constructor(sandbox: Sandbox, spec: SandboxSpec, sleep: Sleep) {
    this.#sandbox = sandbox;
    this.#spec = spec;
    this.#sleep = sleep;
    this.#keeper = new SandboxKeeper(sandbox, sleep);
  }

  /** Does `work` in a new sandbox; in another one, up to 5 in all, where a sandbox fails at it. Throws the last one's `SandboxError`, and what else `work` throws. */
  async within<T>(work: (sandbox: Sandbox, id: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    return await withSandboxRetries(
      async () => {
        const id = await this.#sandbox.create(this.#spec, signal);
        this.#keeper.adopt(id);
        try {
          await this.#sandbox.ready(id, signal);
          return await work(this.#sandbox, id);
        } finally {
          await this.#keeper.close(id);
        }
      },
      this.#sleep,
      signal,
    );
  }

  /** Ends those that could not be ended with their work. */
  async closeAll(): Promise<void> {
    await this.#keeper.closeAll();
  }
}
