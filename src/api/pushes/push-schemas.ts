import { z } from "zod";
import { plainText } from "../../config/plain-text.ts";
import { ENVIRONMENT_ID } from "../environment-ids.ts";

/** Bodies of an evaluation that was made elsewhere, as `prime eval push`, its SDK and `prime-runs` send them (docs/prime-client.md). */

const environmentId = z.string().max(200).regex(ENVIRONMENT_ID, "must be an environment id: name, owner/name or owner/name@version");
const MAX_ENVIRONMENTS = 32;
const MAX_TAGS = 100;
/** As `prime-runs` cuts it. */
const MAX_ERROR_MESSAGE = 4096;
const object = z.record(z.string(), z.json());

const described = {
  name: plainText(200).optional(),
  model_name: plainText(256).optional(),
  dataset: plainText(256).optional(),
  description: z.string().max(10_000).optional(),
  framework: plainText(100).optional(),
  task_type: plainText(100).optional(),
  tags: z.array(plainText(100)).max(MAX_TAGS).optional().describe("An empty list changes nothing."),
  metadata: object.optional().describe("Of any form; env_id, model, num_examples, sampling_args and the like are understood as in a metadata.json."),
  metrics: object
    .optional()
    .describe("Averages as they were computed elsewhere: those of the evaluation are computed from its samples, and differences are told."),
};

export const pushBody = z
  .strictObject({
    ...described,
    name: plainText(200),
    environments: z
      .array(z.strictObject({ id: environmentId, version_id: plainText(200).optional() }))
      .max(MAX_ENVIRONMENTS)
      .optional()
      .describe("Need not be environments of this service."),
    run_id: plainText(200).optional().describe("Of the training run that it belongs to."),
    suite_id: plainText(200).optional(),
    team_id: plainText(200).nullable().optional(),
    is_public: z.boolean().optional().describe("Whoever has its link reads it: finalize answers with the link."),
  })
  .refine(({ environments = [], run_id }) => environments.length > 0 || run_id !== undefined, {
    path: ["environments"],
    error: "must name an environment, or give run_id",
  });
export type PushBody = z.infer<typeof pushBody>;

export const updateBody = z.strictObject({
  ...described,
  status: z.enum(["COMPLETED", "CANCELLED", "FAILED"]).optional().describe("How it has ended."),
  error_message: z.string().max(MAX_ERROR_MESSAGE).optional(),
});

export const finalizeBody = z.strictObject({ metrics: object.optional() });

/** As the door describes the body of samples; it is read as it comes, and never parsed whole. */
export const samplesBody = z.strictObject({
  samples: z.array(z.looseObject({ example_id: z.json().optional(), sample_id: z.string().optional(), reward: z.json().optional() })),
});

export const pushed = z.strictObject({ evaluation_id: z.string(), name: z.string(), viewer_url: z.string() });
export const finalized = z.strictObject({ evaluation_id: z.string(), viewer_url: z.string() });
export const received = z.strictObject({ samples: z.int().min(0), added: z.boolean().describe("False where all of them were there already.") });
/** The receipt of an upload of traces: all of its lines are stored. */
export const committed = z.strictObject({
  upload_id: z.string().describe("The digest of the lines, in hex."),
  status: z.literal("committed"),
  samples: z.int().min(1),
  added: z.boolean().describe("False where all of them were there already."),
});

export const resolveBody = z.strictObject({ name: environmentId, team_id: plainText(200).nullable().optional() });
export const lookupBody = z.strictObject({ id: environmentId });
export const resolved = z.strictObject({ data: z.strictObject({ id: z.string() }) });
