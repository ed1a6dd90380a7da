import { EdgewiseError, fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_LINKS } from "../../../src/limits.ts";
import type { Link, LinkedFacts, SealedLink } from "../../../src/links/link.ts";
import { LateTables } from "../../late-tables.ts";
import { isSealing, notSealing } from "../secrets/sealing.ts";
import type { SecretTables } from "../secrets/secret-tables.ts";
import type { LinkControl, NewLink } from "./link-control.ts";

/** Version of a row: one of another is refused by name. */
export const LINK_VERSION = 1;

/**
 * `command`: '' = it lasts; `id`: what the token's encryption is bound to; `sealed`: the token, encrypted with the master key `key`; `facts`: JSON of what the server said;
 * `lease_until`: null = it lasts. No change of the Registry's version: code that does not know them has no links, and finds nothing of their name.
 */
const LINKS = `
  CREATE TABLE IF NOT EXISTS environment_link (
    name TEXT NOT NULL,
    command TEXT NOT NULL,
    stored INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    urls TEXT NOT NULL,
    sealed TEXT NOT NULL,
    key TEXT NOT NULL,
    facts TEXT NOT NULL,
    linked_at INTEGER NOT NULL,
    linked_by TEXT NOT NULL,
    lease_until INTEGER,
    PRIMARY KEY (name, command)
  ) WITHOUT ROWID;
`;

interface LinkRow extends Record<string, SqlStorageValue> {
  readonly name: string;
  readonly command: string;
  readonly stored: number;
  readonly id: string;
  readonly urls: string;
  readonly sealed: string;
  readonly facts: string;
  readonly linked_at: number;
  readonly linked_by: string;
  readonly lease_until: number | null;
}

const LIVE = "(lease_until IS NULL OR lease_until > ?)";

/** The links of a team. */
export class LinkStore {
  readonly #tables: LateTables;
  readonly #secrets: SecretTables;
  constructor(storage: DurableObjectStorage, secrets: SecretTables) {
    this.#tables = new LateTables(storage, LINKS);
    this.#secrets = secrets;
  }

  find(name: string, now: number): SealedLink[] {
    return this.#tables.rows<LinkRow>(`SELECT * FROM environment_link WHERE name = ? AND ${LIVE}`, name, now).map(sealedOf);
  }

  all(now: number): Link[] {
    return this.#tables.rows<LinkRow>(`SELECT * FROM environment_link WHERE ${LIVE} ORDER BY name, command`, now).map((row) => linkOf(sealedOf(row)));
  }

  put({ name, command, id, urls, sealed, key, facts, linked_by, lease_ms }: NewLink, now: number): Result<Link> {
    // Before the transaction: the table is made in none.
    this.#tables.rows("DELETE FROM environment_link WHERE lease_until <= ?", now);
    return this.#secrets.change(() => {
      if (!isSealing(this.#secrets, key)) return notSealing();
      const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>(
        "SELECT count(*) AS there FROM environment_link WHERE NOT (name = ? AND command = ?)",
        name,
        command ?? "",
      );
      if (there >= MAX_LINKS) return fail("invalid_request", `a team has at most ${MAX_LINKS} links`, "Unlink those that nothing is evaluated with any more.");
      const lease_until = lease_ms === null ? null : now + lease_ms;
      this.#tables.rows(
        "INSERT OR REPLACE INTO environment_link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...[name, command ?? "", LINK_VERSION, id, JSON.stringify(urls), sealed, key, JSON.stringify(facts), now, linked_by, lease_until],
      );
      return ok({ name, command, urls, facts, linked_at: now, linked_by, lease_until });
    });
  }

  renew({ name, command, lease_ms }: Parameters<LinkControl["renewEnvironmentLink"]>[0], now: number): Link | null {
    const [row] = this.#tables.rows<LinkRow>(
      "UPDATE environment_link SET lease_until = ? WHERE name = ? AND command = ? AND lease_until > ? RETURNING *",
      ...[now + lease_ms, name, command, now],
    );
    return row === undefined ? null : linkOf(sealedOf(row));
  }

  /** Whether there was one, whichever version stored it. */
  remove(name: string, command: string | null, now: number): boolean {
    return this.#tables.rows(`DELETE FROM environment_link WHERE name = ? AND command = ? AND ${LIVE} RETURNING name`, name, command ?? "", now).length > 0;
  }
}

const linkOf = ({ id: _, sealed: __, ...link }: SealedLink): Link => link;

function sealedOf({ name, command, stored, id, urls, sealed, facts, linked_at, linked_by, lease_until }: LinkRow): SealedLink {
  if (stored !== LINK_VERSION)
    throw new EdgewiseError("stored_version_unknown", `The link ${name} was stored by another version of edgewise (${stored}).`, {
      hint: `Deploy that version again, or a newer one; or link it again: npx edgewise env link ${name} URL.`,
    });
  return {
    ...{ name, command: command === "" ? null : command, id, urls: JSON.parse(urls) as string[], sealed },
    ...{ facts: JSON.parse(facts) as LinkedFacts, linked_at, linked_by, lease_until },
  };
}
