import { z } from "zod";
import { OPTION_GROUPS } from "../../config/options/option-groups.ts";
import type { Operation } from "../operation.ts";
import { argumentFacts } from "../published/published-schemas.ts";

const text = z.string();

const option = z.strictObject({
  name: text.describe("As a TOML file calls it, where it has it."),
  flag: text.nullable().describe("Of `eval run`, with its dashes; null where it is none."),
  short: text.nullable().describe("One letter, with its dash."),
  kind: z
    .enum(["text", "integer", "number", "json", "list", "table", "path", "optional_path", "optional_text", "switch"])
    .describe("How the text after the flag is read."),
  http: z
    .strictObject({ in: z.enum(["body", "eval_config"]), field: text })
    .nullable()
    .describe("Its place in the body of createEvaluations; null: it belongs to a command."),
  toml: z.boolean().describe("Whether it is a key of a config file."),
  schema: z.record(text, z.json()).describe("JSON Schema of its values over HTTP."),
  default: z.json().optional().describe("Absent: it is not set unless it is given."),
  value: text.nullable().describe("What its value is called."),
  help: text,
  group: z.enum(OPTION_GROUPS),
});
export const optionList = z.strictObject({
  options: z.array(option),
  dataset_arguments: z.array(argumentFacts).describe("Arguments that environments of this library take beside their own: which data set they read."),
});

export const OPTION_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/options",
    id: "getOptions",
    summary: "Every setting of an evaluation: its names at each door, its values as a JSON Schema, default and help (docs/options.md)",
    answers: { 200: optionList },
    errors: [],
  },
];
