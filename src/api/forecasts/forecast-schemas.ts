import { z } from "zod";
import { isRunId } from "../../../r2-layout/keys.ts";
import { COUNTED, type Counted } from "../../forecast/run-forecast.ts";
import { createBody } from "../schemas.ts";

/** A creation, of which nothing is created. */
export const forecastBody = createBody;
export const forecastQuery = z.strictObject({
  pilot: z
    .string()
    .refine(isRunId, "is no run id")
    .optional()
    .describe(
      "A run that has played the first examples of the evaluation and is to go on with the others: the forecast is from them, and counts them as spent.",
    ),
});

const count = z.int().min(0);
const predicted = {
  expected: z.number(),
  low: z.number().describe("In at least 90 % of runs it is between low and high."),
  high: z.number(),
};
const spent = z.strictObject({ spent: z.number().describe("Of it, what the pilot took; 0 without one."), ...predicted });

const forecast = z.strictObject({
  ...(Object.fromEntries(COUNTED.map((name) => [name, spent])) as Record<Counted, typeof spent>),
  cost_usd: spent.nullable().describe("The model's and judges'. Null: the price of one is not known."),
  seconds: z
    .strictObject(predicted)
    .nullable()
    .describe("From now to the end, with nothing else at the endpoint. Null: requests go out in batches, or those of the runs that it is from did."),
});

export const forecastAnswer = z.strictObject({
  evaluations: z
    .array(
      z.strictObject({
        environment: z.string(),
        model: z.string(),
        num_examples: z.int().describe("Of the whole run; below 1 = all, and how many those are is not known."),
        rollouts_per_example: z.int().min(1),
        max_concurrent: z.int().describe("0 or less = no limit."),
        from: z.strictObject({
          runs: z.array(z.string()).describe("The pilot, or finished runs of the same settings, the newest first."),
          examples: count,
          rollouts: count,
        }),
        forecast_examples: count.nullable().describe("Examples that the forecast is of: num_examples, or 100 where nobody knows how many there are."),
        forecast: forecast.nullable().describe("Null: the examples that were played are too few."),
      }),
    )
    .describe("One per entry of environment_ids."),
});
