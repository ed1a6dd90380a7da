import type { LimitKind } from "./limit-kinds.ts";

/** Why not everything is granted, for people: the strictest bound now. */
export interface Bound {
  readonly kind: LimitKind | "pause" | "down" | "start" | "budget";
  /** Per minute, or in flight; null for a pause, for an endpoint that is down, and for a budget. */
  readonly limit: number | null;
  /** `given`: by a person; `told`: by the endpoint; `found`: by its refusals; `common`: a cap of several runs. */
  readonly source: "given" | "told" | "found" | "common" | null;
}

/** What requests of a run wait for, and where. */
export interface Limited {
  readonly bound: Bound;
  /** Without credentials and query. */
  readonly base_url: string;
  /** They are its judges'; absent = the model's. */
  readonly judges?: true;
}
