import type { Amounts } from "../../src/endpoint-limits/limit-kinds.ts";
import type { Knowledge } from "./ceilings/knowledge.ts";
import type { LimitedPlace } from "./limiter-control.ts";

/** What persons gave: to all who use the key, and to teams. */
export interface GivenToAll {
  readonly everybody: Amounts | null;
  readonly teams: Readonly<Record<string, Amounts>>;
}

/** What a Limiter keeps between its lives: what it knows, and until when what it handed out may be used. */
export interface StoredLimiter {
  readonly version: 1;
  readonly place: LimitedPlace;
  readonly knowledge: Knowledge | null;
  readonly given: GivenToAll;
  /** Of the process that executors worked in: those of an earlier one are gone, with what they had. */
  readonly life: string;
  /** By then all shares have expired, unless this is written anew. Unix milliseconds. */
  readonly shares_until: number;
}
