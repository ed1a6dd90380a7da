/** Parts that several messages have. */
import { z } from "zod";
import { RESULTS_SHAPES } from "../config/plan/run-config.ts";

/** The version of the messages. Both sides name it in their first one, and refuse another by name. */
export const PROTOCOL_VERSION = 1;

const text = z.string();
/** JSON of any kind that the other side passes on. */
export const json = z.unknown();
export const jsonObject = z.record(text, json);
/** Numbers that one side gives to what it begins, from 1; unique within a channel. */
export const number = z.int().min(1);
export const rollout = z.int().min(0);
/** Unix milliseconds. */
export const time = z.number();

export const crossedError = z
  .object({
    name: text.describe("the class that it had"),
    message: text,
    code: text.nullable().describe("of the catalogue of error codes; null for what is not in it"),
    hint: text.optional(),
    retry_after_s: z.number().optional(),
    passing: z.boolean().optional().describe("the same may go well in a while"),
    overlong: z.boolean().optional().describe("the prompt does not fit the model: an outcome rather than an error"),
    place: text.optional().describe("where in the environment's sources it was thrown: file:line:column"),
    causes: z.array(z.object({ name: text, message: text })).describe("the chain of causes, the outermost first"),
  })
  .meta({ id: "error", description: "what was thrown, as far as the other side can use it" });

export const failure = z.object({ code: text, message: text, hint: text.optional() }).meta({ id: "failure" });

export const tool = z.object({ name: text, description: text, parameters: jsonObject, strict: z.boolean().nullish() }).meta({ id: "tool" });

export const message = z.looseObject({ role: z.enum(["system", "user", "text", "assistant", "tool"]) }).meta({ id: "message" });

export const example = z.looseObject({ example_id: z.int(), prompt: z.array(message), task: text }).meta({ id: "example", description: "as a run pins it" });

export const datasetSpec = z
  .object({
    dataset: text.max(2048).describe("a Hugging Face id, sha256:<digest> of an upload, or an https URL"),
    config: text.max(200).nullable(),
    split: text.max(200).nullable(),
    revision: text.max(200).nullable(),
    columns: z.record(text, text),
  })
  .meta({ id: "dataset" });

export const endpoint = z.object({ base_url: text.max(2048), api_key_var: text.max(200), client_type: text.max(100).optional() }).meta({ id: "endpoint" });

export const problem = z.object({ option: text, message: text });

export const argument = z.object({ name: text, schema: jsonObject, required: z.boolean(), default: json.optional(), description: text.nullable() });

export const facts = z
  .object({
    id: text,
    version: text,
    description: text,
    defaults: z.object({ num_examples: z.int().optional(), rollouts_per_example: z.int().optional() }),
    keys: z.array(text).describe("variables whose values it needs"),
    hosts: z.array(text).optional().describe("hosts that its code sends requests to itself; absent = none"),
    args: z.array(argument),
    source: text.describe("what its code was made from"),
    results_shape: z.enum(RESULTS_SHAPES).optional().describe("of the rows that it gives itself: that of its runs where nothing else is said"),
  })
  .meta({ id: "facts" });

/** An end that is not known is null. */
export const traits = z
  .object({
    id: text.max(200),
    version: text.max(200),
    args: jsonObject,
    dataset_name: text.max(4096).nullable(),
    pass_threshold: z.number(),
    reward_range: z.tuple([z.number().nullable(), z.number().nullable()]).describe("lowest and highest reward; null = not known"),
    reward_weights: z.record(text, z.number()),
    sampling_args: jsonObject,
    tool_defs: z.array(tool),
    shared_tools: z.array(jsonObject).nullable(),
    concurrency: z.int().min(1).nullable(),
    metric_names: z.array(text.max(1_000)),
    score_rollouts: z.boolean(),
    has_group_rewards: z.boolean(),
    scores_alone: z.boolean(),
    resumable: z.boolean(),
    access: z.array(z.enum(["sandbox", "instances"])),
    whole: z.boolean().optional().describe("units are played in one piece: nothing of one is kept or scored by itself before it is over, and none is divided"),
    results_shape: z.enum(RESULTS_SHAPES).optional().describe("of the rows that it gives itself"),
    independent_problem: failure.nullable().describe("why rollouts cannot be scored by themselves"),
    batch_problem: failure
      .nullable()
      .optional()
      .describe(
        "why requests of rollouts cannot go out in batches; null = each rollout asks the model under evaluation once; absent = not said, so they cannot",
      ),
  })
  .meta({ id: "traits" });

export type CrossedTraits = z.infer<typeof traits>;
