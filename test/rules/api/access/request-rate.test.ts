import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkLinkRate, checkRate, COUNTED_PER_MINUTE, deltaFor, type RateLimit } from "../../../../src/api/access/request-rate.ts";
import { openDoor } from "../../../support/door/fake-ports.ts";
import { type Caller, ownerBy } from "../../../../src/teams/caller.ts";

/** A counter for each key, as the platform's, in a minute that does not end. */
class Counter implements RateLimit {
  readonly counts = new Map<string, number>();
  async limit({ key, delta = 1 }: { key: string; delta?: number }): Promise<{ success: boolean }> {
    const before = this.counts.get(key) ?? 0;
    if (before >= COUNTED_PER_MINUTE) return { success: false };
    this.counts.set(key, before + delta);
    return { success: true };
  }
}

const CALLER: Caller = { user: "ada", teams: ["acme"], scopes: ["runs:read"], token: "0123456789ab", expires_at: null, owner: false, via: "token" };
async function letThrough(rate: RateLimit, caller: Caller, most = 3_000): Promise<number> {
  for (let n = 0; n < most; n++) if (await checkRate(rate, caller).catch(() => "refused")) return n;
  return most;
}

afterEach(() => vi.restoreAllMocks());

describe("requests of a token in a minute", () => {
  it("are as many as the table says, or as the token does; then it is told what counts and when to ask again", async () => {
    const rate = new Counter();
    expect(await letThrough(rate, CALLER)).toBe(1_200);
    await expect(checkRate(rate, CALLER)).rejects.toMatchObject({ code: "limit_reached", retry_after_s: 60, message: expect.stringContaining("is 1200") });
    for (const requests_per_minute of [1, 60, 400, 600]) {
      const caller = { ...CALLER, token: `of ${requests_per_minute}`, limits: { requests_per_minute } };
      expect(await letThrough(rate, caller), String(requests_per_minute)).toBe(requests_per_minute);
    }
    // One that is no part of 1200 is so on the average.
    const draws = Array.from({ length: 1_000 }, (_, n) => deltaFor(1_000, n / 1_000));
    expect(draws.reduce((sum, delta) => sum + delta, 0) / draws.length).toBeCloseTo(1.2);
  });

  it("are counted apart for each token, and for each user that has none; the owner's are not", async () => {
    const rate = new Counter();
    await letThrough(rate, CALLER);
    for (const other of [
      { ...CALLER, token: "ba9876543210" },
      { ...CALLER, token: null, via: "access" as const },
    ])
      expect(await letThrough(rate, other, 5)).toBe(5);
    expect(await letThrough(rate, ownerBy("owner"))).toBe(3_000);
    expect([...rate.counts.keys()]).toEqual(["token 0123456789ab", "token ba9876543210", "user ada"]);
  });

  it("by links are counted for each address, and not for who else asks", async () => {
    const rate = new Counter();
    for (let n = 0; n < 1_200; n++) await checkLinkRate(rate, "203.0.113.7");
    await expect(checkLinkRate(rate, "203.0.113.7")).rejects.toMatchObject({ code: "limit_reached", retry_after_s: 60 });
    await checkLinkRate(rate, "203.0.113.8");
    await checkRate(rate, CALLER);
    await checkLinkRate(null, "203.0.113.7");
    // Before a run is woken, also by a link that leads nowhere.
    const full: RateLimit = { limit: async ({ key }) => ({ success: key !== "links 203.0.113.9" }) };
    const door = openDoor({ local: false, token: "t" }, undefined, undefined, undefined, null, full);
    const look = async (address: string) =>
      (await door.call("GET", `//shared/acme/${"a".repeat(43)}/0000abcd`, undefined, { "cf-connecting-ip": address })).status;
    expect([await look("203.0.113.9"), await look("203.0.113.10")]).toEqual([429, 404]);
    expect([...door.runs.keys()]).toHaveLength(1);
  });

  it("are let through where nothing counts, and where the binding fails; one that knows no weights counts calls", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    await checkRate(null, CALLER);
    await checkRate({ limit: () => Promise.reject(new Error("away")) }, CALLER);
    expect(logged).toHaveBeenCalledTimes(1);
    const counter = new Counter();
    const older: RateLimit = {
      limit: async (options) => ("delta" in options ? Promise.reject(new Error("bad rate limit options: [delta]")) : counter.limit(options)),
    };
    expect(await letThrough(older, { ...CALLER, limits: { requests_per_minute: 60 } })).toBe(1_200);
  });

  it("are the number that wrangler.toml has", () => {
    const text = readFileSync(join(import.meta.dirname, "../../../../wrangler.toml"), "utf8");
    expect(text).toContain(`simple = { limit = ${COUNTED_PER_MINUTE}, period = 60 }`);
  });
});
