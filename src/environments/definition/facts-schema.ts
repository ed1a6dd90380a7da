import { z } from "zod";
import { declaredHostsProblem } from "../../config/endpoints/environment-hosts.ts";
import { RESULTS_SHAPES } from "../../config/plan/run-config.ts";
import { isKeyVariable } from "../../config/endpoints/secrets.ts";

/** An id stands in addresses, in commands and in the names of folders. */
const ID = /^[A-Za-z0-9][\w.-]{0,99}(?:\/[A-Za-z0-9][\w.-]{0,99})?$/;

/** What foreign code says of its environment (`EnvironmentFacts`) is looked at before it is believed; what else it says is left out. */
export const FACTS_SCHEMA = z.object({
  id: z.string().regex(ID, "is no id: letters, digits and . _ - (my-env), with an owner's name and / before it or none"),
  version: z.string().max(200),
  description: z.string(),
  defaults: z.object({ num_examples: z.number().exactOptional(), rollouts_per_example: z.number().exactOptional() }),
  keys: z.array(z.string().refine(isKeyVariable, "is no name of a key variable")),
  hosts: z
    .array(z.string())
    .superRefine((hosts, context) => {
      const problem = declaredHostsProblem(hosts);
      if (problem !== null) context.addIssue({ code: "custom", message: problem });
    })
    .exactOptional(),
  results_shape: z.enum(RESULTS_SHAPES).exactOptional(),
  args: z.array(
    z.object({
      name: z.string(),
      schema: z.record(z.string(), z.json()),
      required: z.boolean(),
      default: z.json().exactOptional(),
      description: z.string().nullable(),
    }),
  ),
});
