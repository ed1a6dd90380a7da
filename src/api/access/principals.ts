import type { DirectoryControl, SessionOf } from "../../../durable-objects/directory/directory-control.ts";
import type { Principal } from "../../teams/caller.ts";
import { readTwice } from "../read-twice.ts";

/**
 * How long an isolate goes by what it was told of a token or session: a request is no call of the Directory, and one that is revoked is good nowhere after so
 * long. The isolate that revokes it forgets it at once; the local service is one isolate.
 */
export const KNOWN_MS = 10_000;
const MOST_KNOWN = 1_000;

type Standing = { readonly expires_at: number | null };

interface Known<Found> {
  readonly found: Found | null;
  readonly until: number;
}

/** What the Directory said of credentials of one kind: data only, since no request may wait for what another one asked. */
class Remembered<Found extends Standing> {
  readonly #known = new Map<string, Known<Found>>();
  readonly #ask: (directory: DirectoryControl, key: string) => Promise<Found | null>;
  constructor(ask: (directory: DirectoryControl, key: string) => Promise<Found | null>) {
    this.#ask = ask;
  }

  async of(directory: () => DirectoryControl | null, key: string, now: number): Promise<Found | null> {
    const known = this.#known.get(key);
    if (known !== undefined && known.until > now) return good(known.found, now);
    if (directory() === null) return null;
    const found = await readTwice(directory, async (stub) => (stub === null ? null : this.#ask(stub, key)));
    // Again at the end, so that the oldest is first.
    this.#known.delete(key);
    this.#known.set(key, { found, until: now + KNOWN_MS });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
    return good(found, now);
  }

  forget(): void {
    this.#known.clear();
  }
}

const good = <Found extends Standing>(found: Found | null, now: number): Found | null =>
  found !== null && (found.expires_at === null || found.expires_at > now) ? found : null;

/** Who credentials stand for, as far as this isolate knows. */
export class Principals {
  readonly #tokens = new Remembered<Principal>((directory, digest) => directory.principal(digest));
  readonly #sessions = new Remembered<SessionOf>((directory, digest) => directory.session(digest));
  readonly #people = new Remembered<Principal>((directory, email) => directory.person(email));

  /** Null for a token that is none, or no longer. Throws when the Directory cannot be asked. `now`: Unix milliseconds. */
  of(directory: () => DirectoryControl | null, digest: string, now: number): Promise<Principal | null> {
    return this.#tokens.of(directory, digest, now);
  }

  /** The same for the session of a browser. */
  session(directory: () => DirectoryControl | null, digest: string, now: number): Promise<SessionOf | null> {
    return this.#sessions.of(directory, digest, now);
  }

  /** The same for the address of a person. */
  person(directory: () => DirectoryControl | null, email: string, now: number): Promise<Principal | null> {
    return this.#people.of(directory, email, now);
  }

  /** Somebody's rights have changed. */
  forget(): void {
    this.#tokens.forget();
    this.#sessions.forget();
    this.#people.forget();
  }
}
