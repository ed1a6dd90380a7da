import type { HeldLimits, KeptLimit, LimiterIndexControl, SeenLimiter } from "../../../durable-objects/registry/limiters/limiter-index-control.ts";
import { isOf } from "../../../src/endpoint-limits/given-limit.ts";
import { ok, type Result } from "../../../src/errors/result.ts";
import { FakeLinks } from "./fake-links.ts";

/** The Limiters that a team's runs call, and the limits that it keeps, in memory. */
export class FakeLimiters extends FakeLinks implements LimiterIndexControl {
  readonly limiters = new Map<string, SeenLimiter>();
  readonly keptLimits = new Map<string, KeptLimit>();
  /** Names of keys that are the team's own. */
  readonly ownKeys = new Set<string>();

  async limiterSeen({ place, name, own = true, ...team }: Parameters<LimiterIndexControl["limiterSeen"]>[0]): Promise<HeldLimits> {
    const id = this.limiters.get(name)?.id ?? `0000000${this.limiters.size}`;
    this.limiters.set(name, { id, name, place, seen_at: 1_700_000_000_000, own });
    return this.heldLimits({ place, ...team });
  }
  async heldLimits({ place, team }: Parameters<LimiterIndexControl["heldLimits"]>[0]): Promise<HeldLimits> {
    const own = [...this.keptLimits.values()].flatMap(({ limits }) => limits.filter((limit) => isOf(limit, place)));
    return team === undefined && !this.ownKeys.has(place.api_key_var) ? { team: [], everybody: own } : { team: own, everybody: [] };
  }
  async listLimiters(): Promise<readonly SeenLimiter[]> {
    return [...this.limiters.values()];
  }
  async seenLimiter(id: string): Promise<SeenLimiter | null> {
    return [...this.limiters.values()].find((each) => each.id === id) ?? null;
  }
  async listKeptLimits(): Promise<readonly KeptLimit[]> {
    return [...this.keptLimits.values()];
  }
  async keptLimit(name: string): Promise<KeptLimit | null> {
    return this.keptLimits.get(name) ?? null;
  }
  async putLimit({ name, limits, user }: Parameters<LimiterIndexControl["putLimit"]>[0]): Promise<Result<KeptLimit>> {
    const now = 1_700_000_000_000;
    const kept = { name, limits, created_at: now, updated_at: now, updated_by: user };
    this.keptLimits.set(name, kept);
    return ok(kept);
  }
  async deleteLimit(name: string): Promise<KeptLimit | null> {
    const kept = this.keptLimits.get(name) ?? null;
    this.keptLimits.delete(name);
    return kept;
  }
  async hasOwnKey(name: string): Promise<boolean> {
    return this.ownKeys.has(name);
  }
}
