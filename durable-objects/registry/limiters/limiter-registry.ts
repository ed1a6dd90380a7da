import type { GivenLimit } from "../../../src/config/endpoints/given-limit.ts";
import { isOf } from "../../../src/endpoint-limits/given-limit.ts";
import type { Env } from "../../../src/env.ts";
import type { Result } from "../../../src/errors/result.ts";
import { steadyNow } from "../../../src/steady-clock.ts";
import { DEFAULT_TEAM } from "../../../src/teams/team-name.ts";
import { registryStub } from "../../stubs.ts";
import { LinkRegistry } from "../links/link-registry.ts";
import type { HeldLimits, KeptLimit, LimiterIndexControl, SeenLimiter } from "./limiter-index-control.ts";
import { LimiterStore } from "./limiter-store.ts";

/** The part of a team's Registry that knows the Limiters its runs call, and the limits it was given. */
export abstract class LimiterRegistry extends LinkRegistry implements LimiterIndexControl {
  readonly #limiters: LimiterStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#limiters = new LimiterStore(ctx.storage);
  }

  /** Throws where the object's tables are of another version. */
  protected abstract opened(): void;

  async limiterSeen({ team = DEFAULT_TEAM, place, name, own = true }: Parameters<LimiterIndexControl["limiterSeen"]>[0]): Promise<HeldLimits> {
    this.#known().note(name, place, own, steadyNow());
    return this.#held(team, place, () => registryStub(this.env).limiterSeen({ place, name, own: false }));
  }
  async heldLimits({ team = DEFAULT_TEAM, place }: Parameters<LimiterIndexControl["heldLimits"]>[0]): Promise<HeldLimits> {
    return this.#held(team, place, () => registryStub(this.env).heldLimits({ place }));
  }
  async listLimiters(): Promise<readonly SeenLimiter[]> {
    return this.#known().seen();
  }
  async seenLimiter(id: string): Promise<SeenLimiter | null> {
    return this.#known().find(id);
  }
  async listKeptLimits(): Promise<readonly KeptLimit[]> {
    return this.#known().all();
  }
  async keptLimit(name: string): Promise<KeptLimit | null> {
    return this.#known().given(name);
  }
  async putLimit(put: Parameters<LimiterIndexControl["putLimit"]>[0]): Promise<Result<KeptLimit>> {
    return this.#known().put(put, steadyNow());
  }
  async deleteLimit(name: string): Promise<KeptLimit | null> {
    return this.#known().remove(name);
  }
  async hasOwnKey(name: string): Promise<boolean> {
    return this.secrets.hasKey(name);
  }

  /** `service`: what holds for the default team, whose keys are the service's. */
  async #held(team: string, place: Parameters<typeof isOf>[1], service: () => Promise<HeldLimits>): Promise<HeldLimits> {
    const own: readonly GivenLimit[] = this.#known()
      .all()
      .flatMap(({ limits }) => limits.filter((limit) => isOf(limit, place)));
    if (this.secrets.hasKey(place.api_key_var)) return { team: own, everybody: [] };
    return team === DEFAULT_TEAM ? { team: [], everybody: own } : { team: own, everybody: (await service()).everybody };
  }

  #known(): LimiterStore {
    this.opened();
    return this.#limiters;
  }
}
