/** Who does what in a team, as the door tells its Registry. Times are Unix milliseconds. */
export interface NewAuditEntry {
  readonly time: number;
  readonly user: string;
  /** How the user was known: `local`, `owner`, `token`, `session`, `access`; `service`: it is the service itself; `nobody`: not at all. */
  readonly via: string;
  /** The token's id. */
  readonly token: string | null;
  /** Address that the request came from, or `this machine`. */
  readonly origin: string;
  /** As the table of routes calls it, such as `run.delete`. */
  readonly action: string;
  /** The id that the request names; null where there is none yet. */
  readonly target: string | null;
}

/** What came of it. */
export interface AuditEnd {
  readonly seq: number;
  readonly time: number;
  /** Of the answer. */
  readonly status: number;
  /** What was made; null = as it was named. */
  readonly target: string | null;
}

/** `status` null: the service ended in the middle of it, and it may be done or not. */
export interface AuditEntry extends NewAuditEntry {
  readonly seq: number;
  readonly status: number | null;
  readonly ended_at: number | null;
}
