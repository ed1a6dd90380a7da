import type { DirectoryControl } from "../../../durable-objects/directory/directory-control.ts";
import type { Principal } from "../../teams/caller.ts";
import { readTwice } from "../read-twice.ts";

/**
 * How long an isolate goes by what it was told of a token: a request is no call of the Directory, and one that is revoked is good nowhere after so
 * long. The isolate that revokes it forgets it at once; the local service is one isolate.
 */
export const KNOWN_MS = 10_000;
const MOST_KNOWN = 1_000;

interface Known {
  readonly principal: Principal | null;
  readonly until: number;
}

/** Who tokens stand for, as far as this isolate knows: data only, since no request may wait for what another one asked. */
export class Principals {
  readonly #known = new Map<string, Known>();

  /** Null for a token that is none, or no longer. Throws when the Directory cannot be asked. `now`: Unix milliseconds. */
  async of(directory: () => DirectoryControl | null, digest: string, now: number): Promise<Principal | null> {
    const known = this.#known.get(digest);
    if (known !== undefined && known.until > now) return good(known.principal, now);
    if (directory() === null) return null;
    const principal = await readTwice(directory, async (stub) => (stub === null ? null : stub.principal(digest)));
    // Again at the end, so that the oldest is first.
    this.#known.delete(digest);
    this.#known.set(digest, { principal, until: now + KNOWN_MS });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
    return good(principal, now);
  }

  /** Somebody's rights have changed. */
  forget(): void {
    this.#known.clear();
  }
}

const good = (principal: Principal | null, now: number): Principal | null =>
  principal !== null && (principal.expires_at === null || principal.expires_at > now) ? principal : null;
