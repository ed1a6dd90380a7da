import { execute } from "../counted-sql.ts";
import type { NewSession, SessionOf } from "./directory-control.ts";
import type { TokenStore } from "./token-store.ts";

/** Attempts to sign in from one place within `ATTEMPTS_MS`; those that succeed are given back. */
export const MAX_ATTEMPTS = 10;
export const ATTEMPTS_MS = 15 * 60_000;
/** Open sessions of one token, or of the owner's: the oldest ends when another begins. */
export const MAX_SESSIONS = 100;

interface SessionRow extends Record<string, SqlStorageValue> {
  readonly token: string | null;
  readonly owner_proof: string | null;
  readonly expires_at: number;
}

/** Sessions of browsers, by their digests, and how often somebody tried to begin one. */
export class SessionStore {
  readonly #storage: DurableObjectStorage;
  readonly #tokens: TokenStore;
  constructor(storage: DurableObjectStorage, tokens: TokenStore) {
    this.#storage = storage;
    this.#tokens = tokens;
  }

  find(digest: string, now: number): SessionOf | null {
    const [row] = this.#rows<SessionRow>("SELECT token, owner_proof, expires_at FROM browser_session WHERE digest = ?", digest);
    if (row === undefined || row.expires_at <= now) return null;
    const { token, owner_proof, expires_at } = row;
    if (owner_proof !== null) return { owner_proof, expires_at };
    const principal = token === null ? null : this.#tokens.principalBy(token, now);
    return principal === null ? null : { principal, expires_at: Math.min(expires_at, principal.expires_at ?? expires_at) };
  }

  open({ digest, of, expires_at, place }: NewSession, now: number): void {
    this.#storage.transactionSync(() => {
      const [token, owner] = "token" in of ? [of.token, null] : [null, of.owner_proof];
      this.#rows("DELETE FROM browser_session WHERE expires_at <= ?", now);
      this.#rows("INSERT INTO browser_session VALUES (?, ?, ?, ?)", digest, token, owner, expires_at);
      this.#rows(
        "DELETE FROM browser_session WHERE token IS ?1 AND digest NOT IN (SELECT digest FROM browser_session WHERE token IS ?1 ORDER BY expires_at DESC, digest = ?2 DESC LIMIT ?3)",
        token,
        digest,
        MAX_SESSIONS,
      );
      this.#rows("UPDATE sign_in_attempt SET attempts = attempts - 1 WHERE place = ? AND attempts > 0", place);
    });
  }

  end(digest: string): void {
    this.#rows("DELETE FROM browser_session WHERE digest = ?", digest);
  }

  /** Counts an attempt before it is looked at, so that many at once are counted too. Milliseconds until the next one is allowed; 0 = this one is. */
  attempt(place: string, now: number): number {
    return this.#storage.transactionSync(() => {
      this.#rows("DELETE FROM sign_in_attempt WHERE since <= ?", now - ATTEMPTS_MS);
      const [row] = this.#rows<{ since: number; attempts: number }>("SELECT since, attempts FROM sign_in_attempt WHERE place = ?", place);
      if (row !== undefined && row.attempts >= MAX_ATTEMPTS) return row.since + ATTEMPTS_MS - now;
      this.#rows("INSERT INTO sign_in_attempt VALUES (?, ?, 1) ON CONFLICT (place) DO UPDATE SET attempts = attempts + 1", place, now);
      return 0;
    });
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
