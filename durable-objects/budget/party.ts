/** What one executor has of a Budget. Money is nano-dollars. */
export interface StoredParty {
  readonly executor: string;
  readonly boot: string;
  readonly runtime: string;
  /** Of the last exchange that counted, and what that added: it is told again where its answer was lost. */
  readonly seq: number;
  readonly allots: number;
  /** In its hands; of one that is lost, what counts as unseen. */
  readonly allotted: number;
  /** That it had under way when it was last heard of. */
  readonly calls: number;
  /** Unix milliseconds since when its allotment counts as unseen, or it has left; null = it is there. */
  readonly lost_at: number | null;
}

export interface Party extends StoredParty {
  /** By then it has spoken again, or what it has counts as unseen. */
  readonly expiresAt: number;
  /** As it said last, what is free with what it was told then; after the Budget began anew all of it counts as reserved, until it says more. */
  readonly reserved: number;
  readonly free: number;
  readonly wants: number;
}
