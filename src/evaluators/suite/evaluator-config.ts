/** Which evaluations an `Evaluator` runs, as a file or code says it: one schema for TOML and JSON. */
import { z } from "zod";
import { PROVIDER_NAMES } from "../../config/endpoints/providers.ts";
import { CLIENT_TYPES } from "../../config/plan/run-config.ts";
import { evaluationFields } from "../../config/plan/evaluation-run.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { issueText } from "../../config/issue-text.ts";
import { EdgewiseError } from "../../errors/result.ts";

/** Part of a folder's name: never a way out of the folder. */
const name = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/, "must have 1 to 100 letters, digits, _, - and ., a letter or digit first");

const evaluation = z.strictObject({
  name: z.string().min(1).max(300).describe("Id of an evaluation or of any other environment: what `eval run` takes."),
  ...evaluationFields.shape,
});

export const evaluatorConfigSchema = z.strictObject({
  job: name.optional().describe("Names the results' folder; without it the model, and of a trainer its step."),
  project: name.default("general"),
  group: name.default("default"),
  results: z.string().min(1).default("results").describe("The folder that has those of all projects."),
  model: z.string().min(1).optional().describe("A name or path that the server serves; `fromCheckpoint` and `fromTrainer` say it."),
  api_base_url: z.string().min(1).optional(),
  api_key_var: z.string().min(1).optional().describe("Name of the variable that holds the key; never the key."),
  api_client_type: z.enum(CLIENT_TYPES).optional(),
  provider: z.enum(PROVIDER_NAMES).optional(),
  max_concurrent: z.int().optional(),
  evaluation: z
    .array(evaluation)
    .min(1)
    .superRefine((all, context) => {
      const twice = all.find(({ name: one }, index) => all.findIndex((other) => other.name === one) < index);
      if (twice !== undefined) context.addIssue({ code: "custom", message: `two evaluations are called ${twice.name}: results are by name` });
    }),
});

export type GivenEvaluatorConfig = z.input<typeof evaluatorConfigSchema>;
export type EvaluatorConfig = z.output<typeof evaluatorConfigSchema>;
export type ConfiguredEvaluation = EvaluatorConfig["evaluation"][number];

/** `given` with `overlay` over it, field by field, and defaults filled in. Throws `invalid_request` that names the field. */
export function evaluatorConfig(given: unknown, overlay: Partial<GivenEvaluatorConfig> = {}): EvaluatorConfig {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new EdgewiseError("invalid_request", "the configuration of an evaluator is no table");
  const parsed = evaluatorConfigSchema.safeParse({ ...given, ...overlay });
  if (parsed.success) return parsed.data;
  throw new EdgewiseError("invalid_request", `the configuration of an evaluator: ${parsed.error.issues.map(told).join("; ")}`);
}

const told = (issue: z.core.$ZodIssue): string => (issue.path.length === 0 ? issueText(issue) : `${issue.path.join(".")}: ${issueText(issue)}`);

/** A configuration as its file has it: TOML with `[[evaluation]]`, or JSON where its name ends so. Throws `invalid_request` for text that is neither. */
export function parseEvaluatorConfig(text: string, file: string): unknown {
  if (!file.endsWith(".json")) return parseTomlText(text, file);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new EdgewiseError("invalid_request", `${file} is not valid JSON`, { cause });
  }
}
