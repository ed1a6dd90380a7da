import { z } from "zod";
import { OPTIONS } from "../../config/options/options.ts";
import { STEERED_FIELDS } from "../../config/plan/steered.ts";

const { max_concurrent, max_concurrent_generation, max_concurrent_scoring, priority, timeout_minutes, stall_minutes } = OPTIONS;

/** What can be set of a run that works: options of a creation, by their names there. */
export const steerBody = z
  .strictObject({
    max_concurrent: max_concurrent.schema.optional().describe(max_concurrent.help),
    max_concurrent_generation: max_concurrent_generation.schema.optional().describe(max_concurrent_generation.help),
    max_concurrent_scoring: max_concurrent_scoring.schema.nullable().optional().describe(`${max_concurrent_scoring.help}; null = as max_concurrent again`),
    priority: priority.schema.optional().describe(priority.help),
    timeout_minutes: timeout_minutes.schema.nullable().optional().describe(`${timeout_minutes.help}; null = no limit`),
    stall_minutes: stall_minutes.schema.optional().describe(stall_minutes.help),
  })
  .refine((body) => Object.keys(body).length > 0, `must set one of ${STEERED_FIELDS.join(", ")}`);

export const steered = z.strictObject({
  evaluation_id: z.string(),
  settings: z
    .strictObject({
      max_concurrent: z.number(),
      max_concurrent_generation: z.number().nullable(),
      max_concurrent_scoring: z.number().nullable(),
      priority: z.number().nullable(),
      timeout_minutes: z.number().nullable(),
      stall_minutes: z.number().nullable(),
    })
    .describe("All that can be set of a run that works, as it is now; null = nobody said."),
  warnings: z.array(z.string()),
});
