import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../src/env.ts";
import { EdgewiseError, type Result } from "../../src/errors/result.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import type { RegistryControl, Reservation, ReserveRequest, RunProjection } from "./registry-control.ts";
import { RegistryStore } from "./registry-store.ts";

/** The one object that knows which runs there are; nothing that happens inside a run passes through it. */
export class Registry extends DurableObject<Env> implements RegistryControl {
  readonly #opened: Result<RegistryStore>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#opened = RegistryStore.open(ctx.storage);
  }

  async reserve(request: ReserveRequest): Promise<Result<Reservation>> {
    return this.#opened.ok ? this.#opened.value.reserve(request) : this.#opened;
  }

  async release(runId: string): Promise<void> {
    this.#store().release(runId);
  }

  async project(projection: RunProjection): Promise<void> {
    this.#store().project(projection);
  }

  async list(query: { readonly skip: number; readonly limit: number; readonly environment_name: string | null }): Promise<{
    readonly runs: readonly RunProjection[];
    readonly total: number;
  }> {
    return this.#store().list(query.skip, query.limit, query.environment_name);
  }

  async turn(limit: number): Promise<readonly string[]> {
    return this.#store().turn(limit, steadyNow());
  }

  async forget(runId: string): Promise<void> {
    this.#store().remove(runId);
  }

  #store(): RegistryStore {
    if (this.#opened.ok) return this.#opened.value;
    const { code, message, hint } = this.#opened.error;
    throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
  }
}
