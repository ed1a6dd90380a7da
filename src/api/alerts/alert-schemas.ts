import { z } from "zod";
import { DELIVERY_STATES } from "../../../durable-objects/alert-book/alert-book-control.ts";
import { ALERT_NAME_RULE, isAlertName } from "../../alerts/alert-definition.ts";
import { DESTINATIONS } from "../../alerts/destinations.ts";
import { OCCURRENCE_TYPES } from "../../alerts/occurrence-types.ts";
import { plainText } from "../../config/plain-text.ts";
import { teamQuery } from "../people/people-schemas.ts";
import { plannedFields } from "../planned-change.ts";

/** Bodies, paths and answers of `/alerts`; what an alert is, `src/alerts/alert-definition.ts` says. */

export const alertQuery = teamQuery;
const MOST_SHOWN = 1_000;
export const logQuery = z.strictObject({
  ...teamQuery.shape,
  limit: z.coerce.number().int().min(1).max(MOST_SHOWN).default(100).describe("The newest so many."),
});
export const alertPath = z.strictObject({ alert: z.string().refine(isAlertName, ALERT_NAME_RULE) });
export const deliveryPath = z.strictObject({ ...alertPath.shape, delivery: z.string().regex(/^msg_[0-9a-f]{32}$/, "must be the id of a message: msg_…") });
/** A gate that a run did not pass, as whoever judged it says. */
export const gateBody = z.strictObject({
  text: plainText(500).min(1).describe("One line for people: the bound, and what was measured."),
  facts: z
    .record(z.string().max(100), z.union([z.string().max(500), z.number(), z.boolean(), z.null()]))
    .default({})
    .describe("Further facts for machines."),
});

const text = z.string();
const moment = z.iso.datetime();
const attempt = z.strictObject({
  at: moment,
  ms: z.int().describe("How long the answer took."),
  status: z.int().nullable().describe("Of HTTP; null: there was none."),
  problem: text.nullable().describe("Why it counts as not taken; null: it was taken."),
  body: text.describe("Beginning of the answer's body."),
});
const delivery = z.strictObject({
  id: text.describe("`webhook-id`: the same in each attempt."),
  alert: text,
  type: z.enum([...OCCURRENCE_TYPES, "test"]),
  text,
  at: moment,
  state: z.enum(DELIVERY_STATES),
  tries: z.int(),
  next_at: moment.nullable(),
  attempts: z.array(attempt),
});
const definition = {
  to: z.enum(DESTINATIONS),
  email: text.optional(),
  on: z.array(z.enum(OCCURRENCE_TYPES)),
  for: z.array(text),
};
const alert = z.strictObject({
  name: text,
  definition: z.strictObject(definition),
  created_at: moment,
  created_by: text,
  updated_at: moment,
  disabled: z.strictObject({ at: moment, reason: text }).nullable().describe("It is sent nothing more until it is put again."),
  waiting: z.int().describe("Messages that are still to be taken."),
  last: delivery.nullable(),
});
export const alertList = z.strictObject({ data: z.array(alert) });
export const alertAnswer = z.strictObject({ data: alert });
export const alertPutAnswer = z.strictObject({
  ...plannedFields,
  data: z.union([alert, z.strictObject({ name: text })]),
  secret: text.optional().describe("What a webhook's messages are signed with. Shown here and never again; `rotate` makes another."),
});
export const rotateAnswer = z.strictObject({
  data: alert,
  secret: text,
  before_until: moment.describe("Until then messages are signed with the one before, too."),
});
export const deliveryAnswer = z.strictObject({ data: delivery });
export const deliveryList = z.strictObject({ data: z.array(delivery) });
