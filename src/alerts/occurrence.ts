import { z } from "zod";
import type { JsonObject } from "../config/plan/run-config.ts";
import { OCCURRENCE_TYPES, type OccurrenceType } from "./occurrence-types.ts";

/** What alerts are about: things that happen to runs, schedules and monitors, told by whoever decides them. */

/** Occurrences that are told at a time. */
export const MOST_TOLD = 20;
/** Characters of an occurrence as JSON: a message of it is one row, and fits into what Slack and Discord take. */
export const MOST_OCCURRENCE_CHARS = 16 * 1024;

export interface Occurrence {
  /** The same for every telling of the same thing, within its team. */
  readonly id: string;
  readonly type: OccurrenceType;
  /** When it happened, in Unix milliseconds. */
  readonly at: number;
  /** What patterns of alerts are matched with: names of the schedule, monitor, run and environment. */
  readonly names: readonly string[];
  /** What it is about: at least one of them. */
  readonly subject: Subject;
  /** It begins or ends something that lasts: that alerts once, and once more when it ends. Absent = each alerts. */
  readonly condition?: Condition;
  /** One line for people. */
  readonly text: string;
  /** Further facts for machines: small, and no secrets. */
  readonly data: JsonObject;
}

export interface Subject {
  readonly run_id?: string;
  readonly schedule?: string;
  readonly monitor?: string;
}

export interface Condition {
  /** Which one, within its team: of a schedule's drift, a monitor's silence. */
  readonly key: string;
  readonly state: "on" | "off";
}

const text = (most: number) => z.string().min(1).max(most);

export const occurrenceSchema: z.ZodType<Occurrence> = z
  .strictObject({
    id: text(200),
    type: z.enum(OCCURRENCE_TYPES),
    at: z.int().min(0),
    names: z.array(text(200)).max(10),
    subject: z
      .strictObject({ run_id: text(200).exactOptional(), schedule: text(200).exactOptional(), monitor: text(200).exactOptional() })
      .refine((subject) => Object.keys(subject).length > 0, "must name a run, a schedule or a monitor"),
    condition: z.strictObject({ key: text(300), state: z.enum(["on", "off"]) }).exactOptional(),
    text: text(1_000),
    data: z.record(z.string(), z.json()).transform((data) => data as JsonObject),
  })
  .refine((occurrence) => JSON.stringify(occurrence).length <= MOST_OCCURRENCE_CHARS, `must be at most ${MOST_OCCURRENCE_CHARS} characters as JSON`);
