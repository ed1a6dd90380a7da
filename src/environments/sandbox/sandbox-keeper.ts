import type { Sleep } from "../../clients/client.ts";
import { SandboxCreationError, SandboxError } from "../../errors/rollout-errors.ts";
import { loggerOf } from "../../logging/logger.ts";
import type { Sandbox, SandboxSpec } from "./sandbox.ts";
import { withSandboxRetries } from "./sandbox-retry.ts";

const DELETED_AT_ONCE = 100;
const log = loggerOf("sandbox");

/** The sandboxes that an environment has open: each is asked for and ended with retries, and none is forgotten. */
export class SandboxKeeper {
  readonly #sandbox: Sandbox;
  readonly #sleep: Sleep;
  readonly #open = new Set<string>();

  constructor(sandbox: Sandbox, sleep: Sleep) {
    this.#sandbox = sandbox;
    this.#sleep = sleep;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Takes over one that was opened elsewhere: from now on it is ended here. */
  adopt(id: string): void {
    this.#open.add(id);
  }

  /** Leaves one as it is: it is ended elsewhere. */
  forget(id: string): void {
    this.#open.delete(id);
  }

  /** A new sandbox, perhaps not ready yet. Throws a `SandboxCreationError`. */
  async open(spec: SandboxSpec, signal: AbortSignal | null): Promise<string> {
    try {
      const id = await withSandboxRetries(() => this.#sandbox.create(spec, signal), this.#sleep, signal);
      this.#open.add(id);
      return id;
    } catch (thrown) {
      if (!(thrown instanceof SandboxError) || thrown instanceof SandboxCreationError) throw thrown;
      throw new SandboxCreationError(thrown.message, { cause: thrown });
    }
  }

  /** Ends one. That a provider fails at it is no rollout's fault: it is noted, and tried again at the end. */
  async close(id: string): Promise<void> {
    if (!this.#open.delete(id)) return;
    try {
      await withSandboxRetries(() => this.#sandbox.delete([id]), this.#sleep, null);
    } catch (thrown) {
      this.#open.add(id);
      log.warning("a sandbox could not be ended", { id, reason: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  /** Ends what is left. */
  async closeAll(): Promise<void> {
    const ids = [...this.#open];
    this.#open.clear();
    for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
      const batch = ids.slice(at, at + DELETED_AT_ONCE);
      await withSandboxRetries(() => this.#sandbox.delete(batch), this.#sleep, null);
    }
  }
}
