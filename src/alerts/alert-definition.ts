import { z } from "zod";
import { parseUrl } from "../config/endpoints/addresses.ts";
import { plainText } from "../config/plain-text.ts";
import { type Destination, DESTINATIONS } from "./destinations.ts";
import { OCCURRENCE_TYPES, type OccurrenceType } from "./occurrence-types.ts";

/** An alert as a file or a request says it: where to, on what, for what. One definition for both. */

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** What a team may call an alert. */
export const isAlertName = (text: string): boolean => NAME.test(text);
export const ALERT_NAME_RULE = "must have 1 to 64 letters, digits, _, - and ., a letter or digit first";

const isCalled = (text: string): boolean => ["http:", "https:"].includes(parseUrl(text)?.protocol ?? "") && parseUrl(text)?.username === "";

export const alertSchema = z
  .strictObject({
    to: z.enum(DESTINATIONS).describe("webhook (Standard Webhooks, signed), slack or discord (their incoming webhooks), or email."),
    url: z
      .string()
      .max(2_000)
      .refine(isCalled, "must be an http(s) URL without a user")
      .optional()
      .describe("Where it is posted to. Kept encrypted and never shown again; may be left out of a change."),
    email: z
      .string()
      .max(254)
      .regex(/^[^\s@<>,;"]+@[^\s@<>,;"]+\.[^\s@<>,;"]+$/, "must be one address, such as team@example.com")
      .optional()
      .describe("With to = email: who gets it."),
    on: z
      .array(z.enum(OCCURRENCE_TYPES))
      .min(1)
      .optional()
      .describe(`What it tells of: ${OCCURRENCE_TYPES.join(", ")}. Without it all of them.`),
    for: z
      .array(plainText(200).min(1))
      .min(1)
      .max(20)
      .optional()
      .describe("Names of schedules, monitors, runs and environments, * for any characters. Without it all of them."),
  })
  .superRefine(({ to, url, email }, context) => {
    const refuse = (path: "url" | "email", message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (to === "email" && email === undefined) refuse("email", "must be given where it goes by email");
    if (to === "email" && url !== undefined) refuse("url", "is not of an email");
    if (to !== "email" && email !== undefined) refuse("email", `is not of a ${to}`);
  });

export type GivenAlert = z.input<typeof alertSchema>;

/** What is kept of it and shown: all but the address that it is posted to. */
export interface AlertDefinition {
  readonly to: Destination;
  readonly email?: string;
  /** In the order of the types. */
  readonly on: readonly OccurrenceType[];
  readonly for: readonly string[];
}

/** With defaults filled in; equal definitions are equal texts. */
export function alertOf({ to, email, on, for: patterns }: z.output<typeof alertSchema>): AlertDefinition {
  return {
    to,
    ...(email === undefined ? {} : { email }),
    on: OCCURRENCE_TYPES.filter((type) => on === undefined || on.includes(type)),
    for: [...new Set(patterns ?? ["*"])].sort(),
  };
}
