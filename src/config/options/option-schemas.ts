import type { z } from "zod";
import { OPTIONS, type OptionName } from "./options.ts";

type Table = typeof OPTIONS;

/** Field name → optional schema, for the options that a creation carries in `eval_config`. */
type EvalConfigShape = {
  [Name in OptionName as Table[Name]["http"] extends readonly ["eval_config", infer Field extends string] ? Field : never]: z.ZodOptional<
    Table[Name]["schema"]
  >;
};

const RESUMABLE = [
  "num_examples",
  "stop_when",
  "keep_errors",
  "accept_code_change",
  "api_base_url",
  "api_key_var",
  "max_concurrent",
  "max_concurrent_generation",
  "max_concurrent_scoring",
  "priority",
  "limits",
  "cache",
  "cache_days",
  "batch",
  "max_cost",
  "num_workers",
  "no_interleave_scoring",
  "sandbox",
  "heartbeat_url",
  "monitor",
  "stall_minutes",
  "headers",
  "headers_from_state",
  "verbose",
  "max_retries",
  "timeout_minutes",
  "custom_secrets",
] as const satisfies OptionName[];
type ResumeShape = { [Name in (typeof RESUMABLE)[number]]: z.ZodOptional<Table[Name]["schema"]> };

/** Options of `eval_config`, all optional, under their HTTP names. */
export function evalConfigShape(): EvalConfigShape {
  const fields = Object.values(OPTIONS).flatMap(({ http, schema, help }) =>
    http?.[0] === "eval_config" ? [[http[1], schema.optional().describe(help)] as const] : [],
  );
  return Object.fromEntries(fields) as EvalConfigShape;
}

/** Options that a resume may carry. */
export function resumeShape(): ResumeShape {
  return Object.fromEntries(RESUMABLE.map((name) => [name, OPTIONS[name].schema.optional()])) as ResumeShape;
}
