import { z } from "zod";
import { shortText } from "../../config/options/option-values.ts";
import { teamQuery } from "../people/people-schemas.ts";
import { wholeNumber } from "../schemas.ts";

/** Queries and answers of `/cache`: what a team keeps of its models' answers. */

/** As long as any answer may be kept (`cache_days`). */
const MOST_DAYS = 365;

export const cacheQuery = teamQuery;
export const clearQuery = z.strictObject({
  ...teamQuery.shape,
  model: shortText(256).optional().describe("Only answers of this model, by its name; without it of all."),
  older_than_days: wholeNumber(0, MOST_DAYS).optional().describe("Only answers that have been kept for so many days or more."),
});

const whole = z.int().min(0);
const moment = z.iso.datetime().nullable();

export const cacheAnswer = z.strictObject({
  data: z.strictObject({
    answers: whole.describe("That are there to be taken."),
    bytes: whole,
    oldest_at: moment.describe("Null: none is there."),
    newest_at: moment,
    expires_at: moment.describe("When the next of them expires."),
    asking: whole.describe("Questions that a run asks now, and whose answers it will keep."),
  }),
});
export const clearAnswer = z.strictObject({ data: z.strictObject({ answers: whole, bytes: whole }).describe("That nobody gets any more.") });
