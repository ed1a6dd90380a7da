import { z } from "zod";
import { budgetUsd } from "../config/options/option-values.ts";

/** What a team, or whoever uses a key, may spend per day and per month of UTC, in dollars: at least one of the two. */
export const keptLimits = z
  .strictObject({ day: budgetUsd.optional().describe("Dollars per day, UTC."), month: budgetUsd.optional().describe("Dollars per calendar month, UTC.") })
  .refine(({ day, month }) => day !== undefined || month !== undefined, {
    path: ["day"],
    error: "is missing: say what may be spent, by day, by month or by both",
  });
export type KeptLimits = z.infer<typeof keptLimits>;
