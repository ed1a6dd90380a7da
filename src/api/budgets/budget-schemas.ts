import { z } from "zod";
import { keptLimits } from "../../budgets/kept-limits.ts";
import { keyVariable } from "../../config/options/option-values.ts";
import { teamQuery } from "../people/people-schemas.ts";

/** Paths, queries, bodies and answers of `/budgets`: what a team, and whoever uses a key, may spend. */

export const budgetQuery = teamQuery;
export const keyPath = z.strictObject({ key: keyVariable });
export const budgetBody = keptLimits;

const text = z.string();
const moment = z.iso.datetime();
const dollars = z.number().min(0);
export const spent = z.strictObject({
  settled_usd: dollars.describe("By the usage of answers."),
  unseen_usd: dollars.describe("Of calls whose end nobody saw: the most that they can have cost."),
  unseen_calls: z.int().min(0),
  batches_usd: dollars.optional().describe("Held for batches that are not over, at the most that they can cost; only where there are any."),
  batches: z.int().min(1).optional().describe("How many those are."),
});

const budget = z.strictObject({
  of: z.enum(["team", "key", "everybody"]).describe("everybody: a key's, for all teams that use it; the owner of the service has it."),
  team: text.nullable().describe("Null: all teams."),
  api_key_var: text.nullable().describe("The name of the key, never the key; null: of whichever."),
  limits: z.strictObject({ day: dollars.optional(), month: dollars.optional() }).describe("Dollars per day and per month, UTC."),
  spent: z
    .strictObject({ day: spent, month: spent, allotted_usd: dollars.describe("In the hands of executors, for calls under way and the next ones.") })
    .nullable()
    .describe("Null: nobody has spent from it yet, or it does not answer."),
  updated_at: moment,
  updated_by: text,
});
export const budgetList = z.strictObject({ data: z.array(budget) });
export const budgetAnswer = z.strictObject({ data: budget });
