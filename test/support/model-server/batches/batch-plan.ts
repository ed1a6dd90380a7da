import { z } from "zod";

/** Calls of the routes of files and batches, by what they do. */
export const BATCH_ROUTES = ["upload", "create", "look", "list", "cancel", "results"] as const;
export type BatchRouteName = (typeof BATCH_ROUTES)[number];

const callFaultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("status"),
    status: z.int().min(400).max(599),
    code: z.string().nullable().default(null),
    message: z.string().optional(),
    retry_after_s: z.number().nonnegative().optional(),
  }),
  /** The call has its effect, and the connection is cut before its answer. */
  z.strictObject({ kind: z.literal("answer_lost") }),
  /** The connection is cut, and nothing has happened. */
  z.strictObject({ kind: z.literal("cut") }),
  /** Waits for `POST /batches/release`; before the call has its effect, or after. */
  z.strictObject({ kind: z.literal("hold"), effect: z.boolean() }),
  /** What is created is in no list for so long. */
  z.strictObject({ kind: z.literal("unlisted"), ms: z.number().nonnegative() }),
  /** The connection is cut in the middle of the results. */
  z.strictObject({ kind: z.literal("half_body") }),
]);

const callRuleSchema = z.strictObject({
  route: z.enum(BATCH_ROUTES),
  /** Calls of the route, from 1 since the script was set; absent: each. */
  nth: z.union([z.int(), z.array(z.int())]).optional(),
  fault: callFaultSchema,
});

const lineFaultSchema = z.discriminatedUnion("kind", [
  /** Answered with an error; `type` is Anthropic's. */
  z.strictObject({ kind: z.literal("status"), status: z.int().min(400).max(599), type: z.string().optional(), message: z.string().optional() }),
  /** The results say nothing of it. */
  z.strictObject({ kind: z.literal("lost") }),
  z.strictObject({ kind: z.literal("expired") }),
  z.strictObject({ kind: z.literal("cancelled") }),
  /** No answer, and OpenAI's error that is of no HTTP status; at Anthropic, an `api_error`. */
  z.strictObject({ kind: z.literal("error"), message: z.string().default("The request could not be processed.") }),
  /** Half of its line. */
  z.strictObject({ kind: z.literal("broken") }),
  z.strictObject({ kind: z.literal("twice") }),
  /** Its answer, and one of a request that nobody sent. */
  z.strictObject({ kind: z.literal("stranger") }),
  z.strictObject({ kind: z.literal("large"), bytes: z.int() }),
  z.strictObject({ kind: z.literal("text"), text: z.string() }),
]);

const lineRuleSchema = z.strictObject({
  when: z
    .strictObject({
      /** Of the lines of a batch, from 1. */
      nth: z.union([z.int(), z.array(z.int())]).optional(),
      every: z.int().positive().optional(),
      /** How often the same prompt was in a batch, this time counted. */
      attempt: z.union([z.int(), z.array(z.int())]).optional(),
      contains: z.string().optional(),
      custom_id: z.string().optional(),
      /** Batches in the order of their creation, from 1 since the script was set. */
      batch: z.union([z.int(), z.array(z.int())]).optional(),
    })
    .default({}),
  fault: lineFaultSchema,
  /** Applies at most so many times. */
  limit: z.int().positive().optional(),
});

/** How the scripted server carries batches. */
export const batchPlanSchema = z.strictObject({
  /** From the end of validation to the end; null = until it is told (`POST /batches`). */
  takes_ms: z.number().nonnegative().nullable().default(0),
  validating_ms: z.number().nonnegative().default(0),
  cancelling_ms: z.number().nonnegative().default(0),
  /** Age at which a batch that has not ended expires. */
  expires_ms: z
    .number()
    .positive()
    .default(24 * 60 * 60_000),
  order: z.enum(["reversed", "as_sent"]).default("reversed"),
  /** Requests that batches which have not ended may have in all: OpenAI's batch fails beyond it, Anthropic's is refused with 429. */
  enqueued: z.int().positive().nullable().default(null),
  /** Of one batch. */
  max_requests: z.int().positive().default(50_000),
  /** The most that a page of a list has. */
  page: z.int().positive().default(100),
  /** The first rule that matches decides, of calls and of lines. */
  calls: z.array(callRuleSchema).default([]),
  lines: z.array(lineRuleSchema).default([]),
});

export type BatchPlan = z.output<typeof batchPlanSchema>;
export type CallFault = z.output<typeof callFaultSchema>;
export type LineFault = z.output<typeof lineFaultSchema>;

const among = (wanted: number | readonly number[] | undefined, value: number): boolean => wanted === undefined || [wanted].flat().includes(value);

export interface LineFacts {
  readonly nth: number;
  readonly attempt: number;
  readonly prompt: string;
  readonly custom_id: string;
  readonly batch: number;
}

/** Decides the faults of calls and lines; remembers how often each was met. */
export class BatchFaults {
  readonly #plan: BatchPlan;
  readonly #calls = new Map<BatchRouteName, number>();
  readonly #used = new Map<object, number>();

  constructor(plan: BatchPlan) {
    this.#plan = plan;
  }

  ofCall(route: BatchRouteName): CallFault | null {
    const nth = (this.#calls.get(route) ?? 0) + 1;
    this.#calls.set(route, nth);
    return this.#plan.calls.find((rule) => rule.route === route && among(rule.nth, nth))?.fault ?? null;
  }

  ofLine({ nth, attempt, prompt, custom_id, batch }: LineFacts): LineFault | null {
    const found = this.#plan.lines.find((rule) => {
      const { when, limit } = rule;
      return (
        (this.#used.get(rule) ?? 0) < (limit ?? Number.POSITIVE_INFINITY) &&
        among(when.nth, nth) &&
        among(when.attempt, attempt) &&
        among(when.batch, batch) &&
        (when.every === undefined || nth % when.every === 0) &&
        (when.contains === undefined || prompt.includes(when.contains)) &&
        (when.custom_id === undefined || when.custom_id === custom_id)
      );
    });
    if (found === undefined) return null;
    this.#used.set(found, (this.#used.get(found) ?? 0) + 1);
    return found.fault;
  }
}
