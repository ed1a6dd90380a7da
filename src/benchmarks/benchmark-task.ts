/** A line of a benchmark's `tasks.jsonl`: what is asked, and what verifies the answer. */
import { z } from "zod";
import type { JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";

/** Verifiers that are played here; their meaning is in `verify.ts`. */
export const VERIFIER_FUNCTIONS = ["exact_match", "contains", "regex_match", "tool_calls_match"] as const;
export type VerifierFunction = (typeof VERIFIER_FUNCTIONS)[number];

const params = z
  .record(z.string(), z.json())
  .nullish()
  .transform((given) => given ?? {});
const expected = z.json().default(null);

/** Fields by their names here, where they are written by names of the SDK that the format comes from (`also`: its names, and ours). */
const alsoCalled = (also: Readonly<Record<string, string>>) => (value: unknown) =>
  typeof value !== "object" || value === null
    ? value
    : Object.fromEntries(Object.entries(value).map(([name, each]) => [Object.hasOwn(value, also[name] ?? name) ? name : (also[name] ?? name), each]));

const verifier = z.preprocess(
  alsoCalled({ fn_name: "function", judge_model: "model" }),
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("in_process"), function: z.enum(VERIFIER_FUNCTIONS), expected, params }),
    z.object({ kind: z.literal("llm_judge"), model: z.string().optional(), rubric: z.string().default(""), expected, params }),
    // Their tests run in a container; what that is made of is kept as it stands.
    z.looseObject({ kind: z.enum(["e2b", "harbor"]), expected, params }),
  ]),
);

const task = z.object({
  task_id: z.union([z.string(), z.int()]).transform(String),
  instruction: z.string(),
  /** What stands before this task alone. */
  system_prompt: z
    .string()
    .nullish()
    .transform((text) => text ?? ""),
  verifier,
  metadata: z
    .record(z.string(), z.json())
    .nullish()
    .transform((metadata) => metadata ?? {}),
});

export type Verifier = z.infer<typeof verifier>;
export type BenchmarkTask = z.infer<typeof task>;

/** Throws `dataset_unreadable` with the row's number (from 0) and the field for what is no task, and for one with images, which no message here carries. */
export function readTask(row: JsonObject, index: number): BenchmarkTask {
  const parsed = task.safeParse(row);
  const name = `benchmark task ${index}${typeof row.task_id === "string" ? ` (${row.task_id})` : ""}`;
  if (!parsed.success) {
    const reasons = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`);
    throw new EdgewiseError("dataset_unreadable", `${name}: ${reasons.join("; ")}`, {
      hint: "A line of tasks.jsonl has task_id, instruction, verifier {kind, function, expected, params} and metadata.",
    });
  }
  const images = ["images", "image"].find((field) => field in row && row[field] !== null && !(Array.isArray(row[field]) && row[field].length === 0));
  if (images !== undefined) throw new EdgewiseError("dataset_unreadable", `${name} has ${images}: tasks with images are not played here`);
  return parsed.data;
}

/** Why nothing here can verify the task; null where something can. `judged`: the run names a judge. */
export function whyNotRun({ verifier: { kind } }: BenchmarkTask, judged: boolean): string | null {
  if (kind === "e2b" || kind === "harbor") return `its verifier (${kind}) needs a container, and none is started here`;
  return kind === "llm_judge" && !judged ? "its verifier (llm_judge) needs a judge: the arguments judge_base_url and judge_api_key_var" : null;
}
