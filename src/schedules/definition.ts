import type { JsonObject } from "../config/plan/run-config.ts";
import { type DriftSettings, USUAL_DRIFT } from "../drift/settings.ts";

/** What a schedule is, as it is stored and shown: everything said, defaults filled in. Absent = there is none of it. */
export interface ScheduleDefinition {
  /** When it is due: either of the two. */
  readonly cron?: string;
  readonly every?: string;
  /** Of the IANA database: the zone of `cron` and of dates in names. */
  readonly time_zone: string;
  /** Each due time begins up to so much later, always the same for the same due time. */
  readonly jitter?: string;
  /** What becomes of a due time while a run of the schedule is at work. */
  readonly overlap: (typeof OVERLAPS)[number];
  /** What becomes of due times that passed while nobody could begin them. */
  readonly catch_up: (typeof CATCH_UPS)[number];
  /** Nothing is due after it, in ISO form. */
  readonly until?: string;
  /** Settled runs that stay; older ones are deleted. */
  readonly keep?: number;
  /** `pinned`: the data of the first run; `latest`: whatever is there then. */
  readonly data: (typeof DATA)[number];
  /** What its runs are called; absent = after the schedule and the day. */
  readonly run_name?: string;
  /** What its runs are held against; absent = as usual. */
  readonly drift?: DriftSettings;
  /** A table of a config file as `eval run FILE.toml` reads it, for one evaluation. */
  readonly eval: JsonObject;
}

export const OVERLAPS = ["skip", "queue", "cancel"] as const;
export const CATCH_UPS = ["none", "last", "all"] as const;
export const DATA = ["pinned", "latest"] as const;

/** The part of it that says when. */
export type Timing = Pick<ScheduleDefinition, "cron" | "every" | "time_zone" | "jitter" | "until">;

export const driftOf = ({ drift = USUAL_DRIFT }: Pick<ScheduleDefinition, "drift">): DriftSettings => drift;
